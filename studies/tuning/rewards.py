"""From losses to rewards: between random search (0) and the best loss known (1)."""

from collections.abc import Sequence
from math import comb, fsum

import numpy as np

from pickbest.core import FloatArray, PickbestError

DEGENERATE = 1e-9
REWARD_RULES = {
    "reward": "1 - (loss - opt) / (rand - opt), clipped to [0, 1]; loss: the best of the run",
    "rand": "expected best of `calls` random evaluations, unbiased from the pool; a failure "
    "counts as the pool's worst loss",
    "opt": "best loss seen on the task by any optimizer or the pool",
    "degenerate": f"left out: rand - opt <= {DEGENERATE} max(1, |rand|), or nothing but failures",
}

Losses = Sequence[float | None]


def best_loss(losses: Losses) -> float | None:
    """The smallest loss that did not fail.

    >>> best_loss([0.5, None, 0.3])
    0.3
    """
    return min((loss for loss in losses if loss is not None), default=None)


def expected_best(pool: Losses, calls: int) -> float | None:
    """E[min of `calls` losses drawn from the pool without replacement], in closed form.

    The k-th smallest of n is the minimum in C(n - k, calls - 1) of the C(n, calls) subsets.

    >>> expected_best([1.0, 2.0, 3.0], 2)
    1.3333333333333333
    """
    if not 1 <= calls <= len(pool):
        raise PickbestError(f"the pool must hold at least calls={calls} losses, got {len(pool)}")
    known = [loss for loss in pool if loss is not None]
    if not known:
        return None
    ordered = sorted(known) + [max(known)] * (len(pool) - len(known))
    n, total = len(pool), comb(len(pool), calls)
    return fsum(loss * (comb(n - k, calls - 1) / total) for k, loss in enumerate(ordered, start=1))


def is_degenerate(rand: float | None, opt: float | None) -> bool:
    """Whether random search leaves nothing to gain, so that no reward can be computed."""
    if rand is None or opt is None:
        return True
    return rand - opt <= DEGENERATE * max(1.0, abs(rand))


def rewards_of(losses: Sequence[float | None], rand: float, opt: float) -> FloatArray:
    """Rewards in [0, 1] of the best losses of runs; a run of failures gets 0."""
    worst = [rand if loss is None else loss for loss in losses]
    return np.clip(1.0 - (np.array(worst) - opt) / (rand - opt), 0.0, 1.0)
