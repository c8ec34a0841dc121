"""The round: costs → pick → keep the best → hide what the feedback hides → learn."""

import numpy as np

from pickbest.core.arrays import FloatArray, IntArray, KeyArray
from pickbest.core.randomness import Draws, rng_for
from pickbest.core.types import (
    Choice,
    ContextLearner,
    FeatureLearner,
    Feedback,
    Learner,
    State,
    TableLearner,
)


def keep_best(arms: IntArray, costs: FloatArray) -> FloatArray:
    """What the game charges: the smallest cost among the picked arms, for each replicate.

    >>> keep_best(np.array([[0, 2]]), np.array([[0.4, 0.1, 0.3]]))
    array([0.3])
    """
    best: FloatArray = np.take_along_axis(costs, arms, axis=1).min(axis=1)
    return best


def play_table(
    learner: Learner, state: State, table: FloatArray, lasting: KeyArray, first_round: int
) -> tuple[State, FloatArray]:
    """(state, paid): play a table in one compiled loop where the learner has one."""
    if isinstance(learner, TableLearner):
        return learner.play_table(state, table, lasting, first_round)
    return play_rounds(learner, state, table, lasting, first_round)


def play_rounds(
    learner: Learner, state: State, table: FloatArray, lasting: KeyArray, first_round: int
) -> tuple[State, FloatArray]:
    """(state, paid): play a table round by round. See TableLearner for the arguments."""
    replicates, rounds = len(lasting), table.shape[1]
    shape = (replicates, table.shape[2])
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs = np.ascontiguousarray(np.broadcast_to(table[:, t], shape))
        choice = learner.pick(state, rng_for(lasting, first_round + t))
        paid[:, t] = keep_best(choice.arms, costs)
        state = learner.learn(state, choice, visible(learner, choice, costs))
    return state, paid


def informed(
    learner: Learner, names: tuple[str, ...], state: State
) -> tuple[ContextLearner, State] | None:
    """Who plays rounds with features of these names, and from which state; None: nobody can."""
    if isinstance(learner, FeatureLearner):
        return learner.with_features(names, state)
    return (learner, state) if isinstance(learner, ContextLearner) else None


def pick_round(
    learner: Learner, state: State, rng: Draws, features: FloatArray | None = None
) -> Choice:
    """Arms for a round; features: encoded, where it has some and the learner can use them."""
    if features is not None and isinstance(learner, ContextLearner):
        return learner.pick_in(state, rng, features)
    return learner.pick(state, rng)


def learn_round(
    learner: Learner,
    state: State,
    choice: Choice,
    seen: FloatArray,
    features: FloatArray | None = None,
) -> State:
    """Fold one round in; the features are those of its pick."""
    if features is not None and isinstance(learner, ContextLearner):
        return learner.learn_in(state, choice, seen, features)
    return learner.learn(state, choice, seen)


def visible(learner: Learner, choice: Choice, costs: FloatArray) -> FloatArray:
    """What the learner may see of the costs (replicates, n_arms) of a round."""
    if learner.feedback is Feedback.FULL:
        return costs
    return np.take_along_axis(costs, choice.arms, axis=1)
