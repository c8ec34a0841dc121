"""OPT(B') as a mixed-integer linear program, solved by HiGHS through SciPy (extra: lp).

For every family whose arms combine by their maximum. Coverage needs one variable per item, the
others one for each item and arm that serves it.
"""

from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.core.errors import load_extra
from pickbest.submodular.jobs.tables import TableJobs


def best_by_program(
    jobs: TableJobs, budget: int, replicate: int = 0, time_limit: float | None = None
) -> tuple[tuple[int, ...], float, float] | None:
    """(arms, value, proved upper bound): the best set of arms whose durations fit into the budget.

    None if none is found in time.
    """
    purpose = "the best schedule of this size"
    optimize = load_extra("scipy.optimize", "lp", purpose)
    sparse = load_extra("scipy.sparse", "lp", purpose)
    entries, weights = _items(jobs, replicate)
    binary = bool(np.all((entries == 0.0) | (entries == 1.0)))
    item, arm = np.nonzero(entries)
    n_arms, n_items = jobs.n_arms, len(entries)
    served = sparse.csr_array((np.ones(len(item)), (item, arm)), shape=(n_items, n_arms))
    if binary:
        # z_i ≤ Σ_a x_a over the arms that cover item i: a variable per item.
        worth = weights
        rules = sparse.hstack([-served, sparse.eye_array(n_items)]).tocsc()
        limits: list[Any] = [optimize.LinearConstraint(rules, -np.inf, 0.0)]
    else:
        # y_ia ≤ x_a and Σ_a y_ia ≤ 1: item i is served by one open arm.
        worth = weights[item] * entries[item, arm]
        shares = np.arange(len(item))
        size = (len(item), n_arms)
        opened = sparse.csr_array((np.ones(len(item)), (shares, arm)), shape=size)
        only_open = sparse.hstack([-opened, sparse.eye_array(len(item))]).tocsc()
        size = (n_items, len(item))
        once = sparse.csr_array((np.ones(len(item)), (item, shares)), shape=size)
        no_arms = sparse.csr_array((n_items, n_arms))
        limits = [
            optimize.LinearConstraint(only_open, -np.inf, 0.0),
            optimize.LinearConstraint(sparse.hstack([no_arms, once]).tocsc(), -np.inf, 1.0),
        ]
    spent = np.concatenate([jobs.durations, np.zeros(len(worth))])[None]
    limits.append(optimize.LinearConstraint(spent, -np.inf, budget))
    result = optimize.milp(
        np.concatenate([np.zeros(n_arms), -worth]),
        constraints=limits,
        integrality=np.concatenate([np.ones(n_arms), np.zeros(len(worth))]),
        bounds=optimize.Bounds(0, 1),
        options={"mip_rel_gap": 1e-9, **({} if time_limit is None else {"time_limit": time_limit})},
    )
    if result.x is None:
        return None
    arms = np.flatnonzero(result.x[:n_arms] > 0.5)
    value = float((weights * entries[:, arms].max(axis=1, initial=0.0)).sum())
    return tuple(arms.tolist()), value, -float(result.mip_dual_bound)


def _items(jobs: TableJobs, replicate: int) -> tuple[FloatArray, FloatArray]:
    """(items, n_arms) entries and their total weights: equal items of all rounds are merged."""
    every = jobs.as_replicates(replicate)
    if len(every.entries) == 1:
        # The mean over rounds is scaled back: weights may have one row for all rounds.
        weights = every.weights.mean(axis=0) * jobs.rounds
        entries = every.entries[0]
    else:
        rows = (jobs.rounds, every.weights.shape[1])
        weights = np.broadcast_to(every.weights, rows).ravel()
        entries = every.entries.reshape(-1, jobs.n_arms)
    merged, place = np.unique(entries, axis=0, return_inverse=True)
    total = np.zeros(len(merged))
    np.add.at(total, place.ravel(), weights)
    return merged, total
