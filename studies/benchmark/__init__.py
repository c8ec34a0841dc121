"""All learners in all environments at hand: how much of what can be gained each of them gains."""
