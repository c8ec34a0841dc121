"""What every learner of the catalog picks in a small game.

`python -m tests.learners.golden` records it.

A change that is meant to leave picks alone leaves the file alone. One that is meant to change them
records it anew, in the same commit.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import learner_entry, learner_names, make_learner
from pickbest.core import keep_best, replicate_keys, rng_for, visible

FILE = Path(__file__).with_name("golden.json")
N_ARMS, ROUNDS = 7, 40


def played(name: str) -> dict[str, Any]:
    """The arms of every round, the sum of their weights, and the costs paid."""
    budget = 1 if learner_entry(name).single_arm else 3
    learner = make_learner(name, N_ARMS, budget, ROUNDS)
    table = np.random.default_rng(0).random((ROUNDS, N_ARMS)).round(2)
    table[:, 2] /= 4.0
    state, keys = learner.start(1), replicate_keys(1, 1)
    picks, weights, paid = [], 0.0, 0.0
    for t in range(ROUNDS):
        costs = table[t][None]
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, visible(learner, choice, costs))
        picks.append("".join(map(str, choice.arms[0])))
        weights += 0.0 if choice.weights is None else float(choice.weights.sum())
        paid += float(keep_best(choice.arms, costs)[0])
    return {"picks": " ".join(picks), "weights": round(weights, 6), "paid": round(paid, 6)}


def record() -> None:
    """Write the file."""
    found = {name: played(name) for name in learner_names()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
