"""What a simulation found: costs, regret against hindsight, bands and paired differences."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pickbest import hindsight
from pickbest._version import __version__
from pickbest.catalog import describe
from pickbest.core import (
    Environment,
    FloatArray,
    Learner,
    MissingExtraError,
    PickbestError,
    check_budget,
    unknown_name,
)
from pickbest.simulation.statistics import standard_error

if TYPE_CHECKING:
    import pandas as pd

AGAINST = ("best_arm", "best_subset", "greedy", "top")


@dataclass(frozen=True, eq=False)
class Run:
    """One learner's games.

    paid: (replicates, rounds), the cost of the best picked arm.
    best_arm: (replicates, rounds), cumulative cost of the arm that is best up to then.
    totals: (replicates, n_arms), each arm's cost over all rounds.
    table: (replicates or 1, rounds, n_arms) costs dealt, or None where they were not kept.
    """

    paid: FloatArray
    best_arm: FloatArray
    totals: FloatArray
    table: FloatArray | None

    @staticmethod
    def joined(parts: list[Run]) -> Run:
        """The runs of different replicates as one."""
        tables = [part.table for part in parts if part.table is not None]
        varies = all(
            len(table) == len(part.paid) for table, part in zip(tables, parts, strict=False)
        )
        table = None
        if tables:
            table = np.concatenate(tables) if varies else tables[0]
        return Run(
            np.concatenate([part.paid for part in parts]),
            np.concatenate([part.best_arm for part in parts]),
            np.concatenate([part.totals for part in parts]),
            table,
        )


@dataclass(frozen=True)
class Band:
    """Means over replicates with a normal confidence band."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Difference:
    """A paired comparison of mean cost: `mean` below 0 says that the first learner is better."""

    mean: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """The result of `simulate`; it knows its settings and seed."""

    runs: Mapping[str, Run]
    learners: Mapping[str, Learner]
    environment: Environment
    replicates: int
    seed: int
    version: str = __version__
    _subsets: dict[tuple[str, int, str], FloatArray] = field(default_factory=dict, repr=False)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that is needed to run the same simulation again."""
        return {
            "environment": describe(self.environment),
            "learners": {name: describe(learner) for name, learner in self.learners.items()},
            "replicates": self.replicates,
            "rounds": self.environment.rounds,
            "seed": self.seed,
            "version": self.version,
        }

    def run(self, name: str) -> Run:
        """One learner's games."""
        if name not in self.runs:
            raise unknown_name("learner", name, self.runs)
        return self.runs[name]

    def costs(self, name: str) -> FloatArray:
        """(replicates, rounds) costs paid."""
        return self.run(name).paid

    def mean_cost(self, name: str) -> float:
        return float(self.costs(name).mean())

    def mean_reward(self, name: str) -> float:
        return 1.0 - self.mean_cost(name)

    def std_reward(self, name: str) -> float:
        """Standard deviation, over replicates, of a replicate's mean reward."""
        per_replicate = self.costs(name).mean(axis=1)
        return float(per_replicate.std(ddof=1)) if self.replicates > 1 else 0.0

    def regret(self, name: str, against: str = "best_arm", budget: int | None = None) -> FloatArray:
        """(replicates,) regret over all rounds.

        against: best_arm, best_subset, greedy or top (the B best single arms). The last three
        have as many arms as the learner picks, or `budget` (the paper's OPT(B')).
        """
        total: FloatArray = self.costs(name).sum(axis=1)
        return total - self.hindsight_costs(name, against, budget)

    def regret_curve(self, name: str) -> FloatArray:
        """(replicates, rounds) regret so far, against the arm that is best so far."""
        curve: FloatArray = np.cumsum(self.costs(name), axis=1) - self.run(name).best_arm
        return curve

    def band(self, name: str, confidence: float = 0.95) -> Band:
        """The mean regret curve with a confidence band for the mean."""
        curve = self.regret_curve(name)
        mean = curve.mean(axis=0)
        half = _half_width(curve, confidence)
        return Band(mean, mean - half, mean + half)

    def difference(self, first: str, second: str, confidence: float = 0.95) -> Difference:
        """Mean cost of the first learner minus the second's, paired by replicate."""
        if self.environment.adaptive:
            raise PickbestError("an adaptive environment deals each learner its own costs")
        gaps = self.costs(first).mean(axis=1) - self.costs(second).mean(axis=1)
        mean = float(gaps.mean())
        half = float(_half_width(gaps[:, None], confidence)[0])
        return Difference(mean, standard_error(gaps), mean - half, mean + half)

    def hindsight_costs(
        self, name: str, against: str = "best_arm", budget: int | None = None
    ) -> FloatArray:
        """(replicates,) total cost of the comparator that was best in hindsight."""
        run = self.run(name)
        if against not in AGAINST:
            raise unknown_name("comparator", against, AGAINST)
        if against == "best_arm":
            best: FloatArray = run.best_arm[:, -1]
            return best
        size = check_budget(budget or self.learners[name].budget, self.environment.n_arms)
        if run.table is None:
            raise PickbestError(
                "the cost tables were too large to keep: only regret against best_arm is known "
                "(use fewer replicates or rounds)"
            )
        shared = name if self.environment.adaptive else ""
        key = (shared, size, against)
        if key not in self._subsets:
            self._subsets[key] = _subset_costs(run.table, size, against)
        return np.broadcast_to(self._subsets[key], (self.replicates,))

    def to_pandas(self) -> pd.DataFrame:
        """One row per learner, replicate and round: cost and regret against the best arm."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("pandas", "data", "a data frame") from error
        columns = self._columns()
        frame = pd.DataFrame(columns)
        frame.attrs.update(self.settings)
        return frame

    def to_csv(self, path: str | Path) -> None:
        """Write what to_pandas returns as CSV (pandas is not needed)."""
        columns = self._columns()
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def to_parquet(self, path: str | Path) -> None:
        """Write what to_pandas returns as Parquet."""
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise MissingExtraError("pyarrow", "data", "writing Parquet") from error
        import json

        table = arrow.table(self._columns())
        table = table.replace_schema_metadata({"pickbest": json.dumps(self.settings)})
        parquet.write_table(table, path)

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        shape = (len(self.runs), self.replicates, self.environment.rounds)
        learner, replicate, round_index = np.indices(shape)
        return {
            "learner": np.array(list(self.runs), dtype=object)[learner.ravel()],
            "replicate": replicate.ravel(),
            "round": round_index.ravel(),
            "cost": np.concatenate([run.paid.ravel() for run in self.runs.values()]),
            "regret": np.concatenate([self.regret_curve(name).ravel() for name in self.runs]),
        }


def _half_width(samples: FloatArray, confidence: float) -> FloatArray:
    from statistics import NormalDist

    if not 0.0 < confidence < 1.0:
        raise PickbestError(f"confidence must be between 0 and 1, got {confidence!r}")
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1], np.inf)
    quantile = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    half: FloatArray = quantile * samples.std(axis=0, ddof=1) / math.sqrt(count)
    return half


def _subset_costs(tables: FloatArray, size: int, against: str) -> FloatArray:
    find = {
        "best_subset": hindsight.best_subset,
        "greedy": hindsight.greedy_subset,
        "top": hindsight.top_arms,
    }[against]
    return np.array([find(table, size).cost for table in tables])
