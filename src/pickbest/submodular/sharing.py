"""Semi-bandit feedback that slots share: what one slot pulled teaches the others.

f may be asked for any schedule of pulled actions, so in slot i the gain of every action that
was pulled anywhere in the round is known. Slots pick independently here, so given what slots
before i picked (all that the gains of slot i depend on), action a is pulled by slot i or a later
one with probability p = 1 - Π_{j≥i} (1 - P(slot j picks a) / τ). Hence the estimates

    gain, for an action that a slot before i pulled;
    gain / p, for one that slot i or a later one pulled; 0 for the others

are unbiased, and vary less than those from slot i's own pick alone.
"""

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray, PickbestError, State
from pickbest.kernels.rules import AnyCompiled
from pickbest.learners import Exp3, FPMLPartial, Weights
from pickbest.submodular.jobs.kernels import fill_inclusions


def check_sharing(inner: AnyCompiled, tied: bool) -> None:
    """Sharing needs slots that do not know of each other, and exact probabilities.

    tied: whether a slot's actions depend on those of the slots before it.
    """
    if tied:
        raise PickbestError(
            "shared needs slots that pick independently: without distinct and hard_budget "
            "(distinct slots learn from the slots before them anyway)"
        )
    exact = isinstance(inner, FPMLPartial) and inner.weights is Weights.EXACT
    if not exact and not isinstance(inner, Exp3):
        raise PickbestError(
            "shared needs slots whose probabilities are known, and feedback of pulled actions: "
            f"Exp3, or FPMLPartial with exact weights; got {type(inner).__name__}"
        )


def shared_weights(
    inner: AnyCompiled,
    states: list[State],
    arms: IntArray,
    kept: BoolArray,
    durations: IntArray,
) -> FloatArray:
    """(replicates, slots, budget): in slot i, the weight of the k-th pulled action.

    An action that is pulled more than once has its weight at its first place.
    """
    slots, size = len(states), inner.budget
    same = arms[:, :, None] == arms[:, None, :]
    before = np.tri(arms.shape[1], k=-1, dtype=np.bool_)
    repeated = (same & before & kept[:, None, :]).any(axis=2)
    first = (kept & ~repeated).astype(np.float64)
    weights = np.empty((len(arms), slots, arms.shape[1]))
    missed = np.ones(arms.shape)
    for slot in reversed(range(slots)):
        chance = pick_chances(inner, states[slot], arms) / durations[arms]
        missed *= 1.0 - np.minimum(chance, 1.0)
        weights[:, slot] = first / (1.0 - missed)
        weights[:, slot, : slot * size] = first[:, : slot * size]
    return weights


def pick_chances(inner: AnyCompiled, state: State, arms: IntArray) -> FloatArray:
    """P(the learner picks arm arms[r, k]), in the given state."""
    chances = np.empty(arms.shape)
    if isinstance(inner, FPMLPartial):
        epsilon = inner.epsilon * (state.round + 1.0) ** -inner.decay
        fill_inclusions(state.costs, epsilon, inner.budget, arms, chances)
    elif isinstance(inner, Exp3):
        gains = state.gains * (inner.gamma / inner.n_arms)
        law = np.exp(gains - gains.max(axis=1, keepdims=True))
        law /= law.sum(axis=1, keepdims=True)
        law = (1.0 - inner.gamma) * law + inner.gamma / inner.n_arms
        chances = np.take_along_axis(law, arms, axis=1)
    else:
        check_sharing(inner, tied=False)
    return chances
