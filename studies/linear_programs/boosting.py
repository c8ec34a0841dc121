"""Boosting as a linear program: votes of decision stumps that are right on every example.

The constraints are the examples, x is a mixture of stumps, and A x is the margin of each example.
AdaBoost (Freund and Schapire 1997) and the solver at B = 1 ask a weak learner for one stump that is
best under weights on examples. With B draws the oracle answers a law over B examples at once by a
mixture of stumps, so a round is worth more and costs more: it is several stumps.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.core.errors import load_extra
from pickbest.core.progress import Progress
from pickbest.feasibility import Simplex, solve_feasibility
from studies.linear_programs.exact import exact_value

THRESHOLDS = 10
BUDGETS = (1, 2, 3)
MOST_ROUNDS = 5_000


@dataclass(frozen=True)
class Boosted:
    """Rounds until a target; None where MOST_ROUNDS did not reach it.

    to_no_error: until the vote is right on every training example. to_margin: until every margin is
    at least the target. stumps: how many different ones vote then.
    """

    method: str
    to_no_error: int | None
    to_margin: int | None
    stumps: int
    seconds: float


def boosting(accuracy: float = 0.01, progress: Progress | None = None) -> dict[str, Any]:
    """AdaBoost and B = 1, 2, 3 on the breast cancer data: the best margin, less `accuracy`."""
    margins = stump_margins(*breast_cancer())
    best = exact_value(margins)
    target = best - accuracy
    rows = [adaboost(margins, target)]
    for budget in BUDGETS:
        if progress:
            progress(len(rows), 1 + len(BUDGETS))
        rows.append(by_draws(margins, best, accuracy, budget))
    return {
        "examples": margins.shape[1],
        "stumps": margins.shape[0],
        "best_margin": best,
        "target": target,
        "rows": [asdict(row) for row in rows],
    }


def breast_cancer() -> tuple[FloatArray, FloatArray]:
    """(features, labels ±1): Wisconsin breast cancer, 569 examples, from scikit-learn."""
    purpose = "the data of the boosting example"
    sets = load_extra("sklearn.datasets", "dev", purpose, package="scikit-learn")
    data = sets.load_breast_cancer()
    return np.asarray(data.data, np.float64), 2.0 * data.target - 1.0


def stump_margins(features: FloatArray, labels: FloatArray) -> FloatArray:
    """(stumps, examples): 1 where the stump is right, else -1; both signs of each threshold."""
    shares = (np.arange(THRESHOLDS) + 0.5) / THRESHOLDS
    above = [column > cut for column in features.T for cut in np.quantile(column, shares)]
    votes = np.unique(np.where(np.array(above), 1.0, -1.0) * labels, axis=0)
    return np.vstack([votes, -votes])


def adaboost_margins(margins: FloatArray) -> Iterator[tuple[FloatArray, int]]:
    """(margins of the normalised vote, stumps in it), round by round."""
    total, weight, chosen = np.zeros(margins.shape[1]), 0.0, set[int]()
    while True:
        shares = np.exp(total.min() - total)
        edges = margins @ (shares / shares.sum())
        best = int(np.argmax(edges))
        step = 0.5 * math.log((1.0 + edges[best]) / (1.0 - edges[best]))
        total, weight = total + step * margins[best], weight + step
        chosen.add(best)
        yield total / weight, len(chosen)


def adaboost(margins: FloatArray, target: float) -> Boosted:
    """Until the target, or MOST_ROUNDS."""
    start = time.perf_counter()
    smallest, stumps = [], 0
    for reached, used in islice(adaboost_margins(margins), MOST_ROUNDS):
        smallest.append(float(reached.min()))
        stumps = used
        if smallest[-1] >= target:
            break
    to_no_error = next((k for k, margin in enumerate(smallest, 1) if margin > 0.0), None)
    to_margin = len(smallest) if smallest[-1] >= target else None
    return Boosted("AdaBoost", to_no_error, to_margin, stumps, time.perf_counter() - start)


def by_draws(margins: FloatArray, best: float, accuracy: float, budget: int) -> Boosted:
    """The problem margins ≥ best, once to `best`, which makes all positive, once to `accuracy`."""
    n_stumps, n_examples = margins.shape
    start = time.perf_counter()
    ends = [
        solve_feasibility(
            margins.T,
            np.full(n_examples, best),
            Simplex(n_stumps),
            epsilon,
            budget,
            max_calls=MOST_ROUNDS,
        )
        for epsilon in (best * (1.0 - 1e-9), accuracy)
    ]
    to_no_error, to_margin = (end.calls if end.status.value == "feasible" else None for end in ends)
    used = 0 if ends[1].x is None else int(np.count_nonzero(ends[1].x))
    return Boosted(f"B = {budget}", to_no_error, to_margin, used, time.perf_counter() - start)
