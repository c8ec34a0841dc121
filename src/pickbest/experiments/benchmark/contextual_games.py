"""Games of learners that use features of the rounds."""

from __future__ import annotations

import numpy as np

from pickbest.core import ContextLearner, FloatArray, replicate_keys, rng_for


def play_contextual(
    learner: ContextLearner,
    table: FloatArray,
    features: FloatArray,
    replicates: int,
    seed: int,
    shuffled: bool = False,
) -> FloatArray:
    """(replicates, rounds) costs paid over a table (rounds, n_arms) with features (rounds, n).

    shuffled: each replicate plays the rounds in an order of its own.
    """
    keys, rounds = replicate_keys(seed, replicates), len(table)
    order = np.tile(np.arange(rounds), (replicates, 1))
    if shuffled:
        order = np.random.default_rng(seed).permuted(order, axis=1)
    state = learner.start(replicates)
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs, known = table[order[:, t]], features[order[:, t]]
        choice = learner.pick_in(state, rng_for(keys, t), known)
        seen = np.take_along_axis(costs, choice.arms, axis=1)
        paid[:, t] = seen.min(axis=1)
        state = learner.learn_in(state, choice, seen, known)
    return paid
