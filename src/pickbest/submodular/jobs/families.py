"""The built-in families of jobs. All are monotone, submodular, and blind to order.

Arrays may have an axis of rounds in front, and one of replicates before that; whatever lacks
them is the same in every round or replicate. `actions` names the arms and gives them durations;
left out, arms are activities 0, 1, … of duration 1.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import PickbestError, check_positive
from pickbest.submodular.jobs.actions import Action, action_grid
from pickbest.submodular.jobs.tables import Combine, TableJobs, table_jobs

Actions = Iterable[Action | Hashable]


def best_of(rewards: ArrayLike, actions: Actions | None = None) -> TableJobs:
    """The largest reward among the pulled arms: the game of the learners, as a job.

    rewards: (rounds, n_arms), or (replicates, rounds, n_arms).

    >>> from pickbest.submodular.jobs import Action
    >>> jobs = best_of([[0.25, 0.75, 0.5]])
    >>> jobs.job(0)((Action(0), Action(2)))
    0.5
    """
    table = np.asarray(rewards)
    if table.ndim < 2:
        raise PickbestError(f"rewards must be (rounds, n_arms), got shape {table.shape}")
    return table_jobs(Combine.MAX, table[..., None], [1.0], actions, "rewards")


def coverage(covers: ArrayLike, weights: ArrayLike, actions: Actions | None = None) -> TableJobs:
    """The total weight of the items that at least one pulled arm covers.

    covers: (n_arms, n_items), true where the arm covers the item. weights: (n_items,).

    >>> from pickbest.submodular.jobs import Action
    >>> jobs = coverage([[1, 1, 0], [0, 1, 1]], weights=[0.5, 0.25, 0.25])
    >>> jobs.job(0)((Action(1), Action(0)))
    1.0
    """
    table = np.asarray(covers)
    if not np.all((table == 0) | (table == 1)):
        raise PickbestError("covers must be 0 or 1 (use probabilistic_coverage for chances)")
    return table_jobs(Combine.MAX, table, weights, actions, "covers")


def facility_location(
    benefits: ArrayLike, weights: ArrayLike, actions: Actions | None = None
) -> TableJobs:
    """Every item (a customer, say) is served by the pulled arm that benefits it most.

    benefits: (n_arms, n_items). weights: (n_items,).
    """
    return table_jobs(Combine.MAX, benefits, weights, actions, "benefits")


def probabilistic_coverage(
    chances: ArrayLike, weights: ArrayLike, actions: Actions | None = None
) -> TableJobs:
    """The expected weight of the items on which at least one pull succeeds.

    chances: (n_arms, n_items), independent of each other; an arm that is pulled twice tries
    twice. weights: (n_items,).

    >>> from pickbest.submodular.jobs import Action
    >>> jobs = probabilistic_coverage([[0.5], [0.25]], weights=[1.0])
    >>> jobs.job(0)((Action(0), Action(1)))
    0.625
    """
    return table_jobs(Combine.MISS, chances, weights, actions, "chances")


def time_to_solve(
    times: ArrayLike,
    durations: Sequence[int],
    horizon: float,
    weights: ArrayLike | None = None,
    activities: Sequence[Hashable] | None = None,
) -> TableJobs:
    """A problem is solved by a run that lasts long enough; a quicker solution is worth more.

    Action (v, τ) runs activity v from scratch for τ units and solves the problem if that takes
    at most τ. The reward is 1 - (time that the quickest such run took) / horizon.

    times: (rounds, n_activities), infinite where an activity never solves the problem; with
        `weights` (…, n_items), (rounds, n_activities, n_items): several problems per round.
    durations: those that every activity can be run for; arms are activity by activity.

    Time counts within the run, and runs do not resume one another: a reward that falls with
    the time since the schedule began is not monotone, and one for resumed runs is not
    submodular (`check_job` shows both).

    >>> jobs = time_to_solve([[2.0, 6.0]], durations=[1, 2, 8], horizon=8)
    >>> [jobs.job(0)((action,)) for action in jobs.actions]
    [0.0, 0.75, 0.75, 0.0, 0.0, 0.25]
    """
    check_positive("horizon", horizon)
    needed = np.asarray(times, np.float64)
    if weights is None:
        needed, weights = needed[..., None], [1.0]
    if needed.ndim < 3 or not np.all(needed >= 0.0):
        raise PickbestError(
            "times must be (rounds, n_activities), of numbers that are at least 0 (or infinite)"
        )
    actions = action_grid(activities or needed.shape[-2], durations)
    if len(actions) != needed.shape[-2] * len(durations):
        raise PickbestError(f"{len(activities or ())} activities for times of {needed.shape[-2]}")
    spans = np.asarray(durations, np.float64)[:, None]
    worth = np.clip(1.0 - needed / horizon, 0.0, 1.0)
    solved = needed[..., :, None, :] <= spans
    rewards = np.where(solved, worth[..., :, None, :], 0.0)
    arms = (*needed.shape[:-2], len(actions), needed.shape[-1])
    return table_jobs(Combine.MAX, rewards.reshape(arms), weights, actions, "rewards")
