"""Greedy slots in plain Python, for one replicate that keeps every result with its round."""

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for

TABLE = np.random.default_rng(0).random((80, 5)).round(2)
each_discount = pytest.mark.parametrize("discount", [1.0, 0.9])


class Twin:
    def __init__(self, n_arms, budget, discount):
        self.n_arms, self.budget, self.discount = n_arms, budget, discount
        self.results = {(i, a): [] for i in range(budget) for a in range(n_arms)}
        self.round = 0

    def sums(self, slot, arm):
        """(gains, plays), each result discounted by its age."""
        results = self.results[slot, arm]
        weights = [self.discount ** (self.round - t) for t, _ in results]
        return sum(w * gain for w, (_, gain) in zip(weights, results, strict=True)), sum(weights)

    def pick(self, scores_of):
        """The best unused arm of every slot; scores_of(slot, free arms), ties: the first."""
        arms = []
        for slot in range(self.budget):
            free = [a for a in range(self.n_arms) if a not in arms]
            arms.append(free[int(np.argmax(scores_of(slot, free)))])
        return arms

    def learn(self, arms, costs):
        self.round += 1
        for slot in range(self.budget):
            before = min([1.0, *(costs[a] for a in arms[:slot])])
            for arm in arms[slot:]:
                gain = max(before - costs[arm], 0.0)
                self.results[slot, arm].append((self.round, gain))


def check_twin(learner, scores_for):
    """Play TABLE with both; scores_for(twin, rng) gives the twin's scores_of."""
    twin = Twin(5, learner.budget, learner.discount)
    state, keys = learner.start(1), replicate_keys(3, 1)
    for t, costs in enumerate(TABLE):
        rng = rng_for(keys, t)
        choice = learner.pick(state, rng)
        arms = choice.arms[0].tolist()
        assert arms == twin.pick(scores_for(twin, rng)), f"round {t}"
        state = learner.learn(state, choice, costs[choice.arms])
        twin.learn(arms, costs)
    for (slot, arm), _ in twin.results.items():
        sums = state.gains[0, slot, arm], state.plays[0, slot, arm]
        assert sums == pytest.approx(twin.sums(slot, arm))
