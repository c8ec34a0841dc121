"""Costs of runs on one job, from nothing but its own losses: no scale is shared between jobs.

A learner needs costs in [0, 1] as soon as a job ends, without hindsight. The scale is the job
itself: 0 is the best loss that was seen, 1 what its best tenth reached. So the winner pays
nothing, a close second little, and whatever is no better than the best tenth pays all.
"""

from collections.abc import Sequence

from pickbest.core import check_share
from studies.tuning.measurement.rewards import Losses, best_loss

BEST_SHARE = 0.1


def job_costs(runs: Sequence[Losses], share: float = BEST_SHARE) -> list[float]:
    """A cost in [0, 1] for each run; runs: the losses of its evaluations, None where one failed.

    share: of all losses, how many are good enough to cost less than 1.

    >>> job_costs([[5.0, 3.0, 9.0], [4.0, 3.25, 8.0]], share=0.4)
    [0.0, 0.25]
    >>> job_costs([[7.0], [6.0], [None]])
    [1.0, 0.0, 1.0]
    """
    seen = [loss for losses in runs for loss in losses if loss is not None]
    return [loss_cost(best_loss(losses), seen, share) for losses in runs]


def loss_cost(loss: float | None, seen: Sequence[float], share: float = BEST_SHARE) -> float:
    """The cost of a loss beside those that were seen on the same job; None: a failure.

    >>> loss_cost(2.0, [1.0, 3.0, 5.0, 5.0], share=0.25)
    0.5
    """
    check_share("share", share)
    if loss is None:
        return 1.0
    ordered = sorted(seen)
    if not ordered or loss <= ordered[0]:
        return 0.0
    best, enough = ordered[0], ordered[min(int(len(ordered) * share), len(ordered) - 1)]
    return min(1.0, (loss - best) / (enough - best)) if enough > best else 1.0
