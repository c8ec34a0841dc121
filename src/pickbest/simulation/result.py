"""What a simulation found: costs, regret against hindsight, bands and paired differences."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pickbest import hindsight
from pickbest._version import __version__
from pickbest.catalog import describe
from pickbest.core.arrays import FloatArray
from pickbest.core.checks import check_budget
from pickbest.core.errors import PickbestError, load_extra, unknown_name
from pickbest.core.types import Environment, Learner
from pickbest.environments import Table
from pickbest.hindsight import Subset
from pickbest.simulation.statistics import Estimate, half_width, standard_error
from pickbest.simulation.summary import RIVALS, LearnerSummary, Summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

AGAINST = tuple(RIVALS)


@dataclass(frozen=True, eq=False)
class Games:
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
    def joined(parts: list[Games]) -> Games:
        """The runs of different replicates as one."""
        tables = [part.table for part in parts if part.table is not None]
        varies = all(
            len(table) == len(part.paid) for table, part in zip(tables, parts, strict=False)
        )
        table = None
        if tables:
            table = np.concatenate(tables) if varies else tables[0]
        columns = zip(*((part.paid, part.best_arm, part.totals) for part in parts), strict=True)
        paid, best_arm, totals = map(np.concatenate, columns)
        return Games(paid, best_arm, totals, table)


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

    runs: Mapping[str, Games]
    learners: Mapping[str, Learner]
    environment: Environment
    replicates: int
    seed: int
    version: str = __version__
    _subsets: dict[tuple[str, int, str], list[Subset]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"{self._summary(())!r}\n.summary() adds regret, .plot() draws it"

    def _repr_html_(self) -> str:
        return self._summary(())._repr_html_()

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

    def run(self, name: str) -> Games:
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

    def regret_curve(
        self, name: str, against: str = "best_arm", budget: int | None = None
    ) -> FloatArray:
        """(replicates, rounds) regret so far, against the arm that is best so far.

        Sets of arms (`against` as in `regret`) are those that are best over all rounds.
        """
        paid: FloatArray = np.cumsum(self.costs(name), axis=1)
        if against == "best_arm":
            return paid - self.run(name).best_arm
        rivals = self._rivals(name, against, budget)
        theirs = [
            np.cumsum(table[:, rival.arms].min(axis=1))
            for table, rival in zip(self._tables(name), rivals, strict=True)
        ]
        behind: FloatArray = paid - np.array(theirs)
        return behind

    def band(
        self,
        name: str,
        confidence: float = 0.95,
        against: str = "best_arm",
        budget: int | None = None,
    ) -> Band:
        """The mean regret curve with a confidence band for the mean."""
        curve = self.regret_curve(name, against, budget)
        mean = curve.mean(axis=0)
        half = half_width(curve, confidence)
        return Band(mean, mean - half, mean + half)

    @property
    def matters(self) -> str:
        """What to compare with: the best B arms, or the best arm where B = 1 or nothing was kept.

        A learner that picks several arms beats the best single one with ease.
        """
        several = any(learner.budget > 1 for learner in self.learners.values())
        kept = all(run.table is not None for run in self.runs.values())
        return "best_subset" if several and kept else "best_arm"

    def summary(
        self,
        against: str | None = None,
        budget: int | None = None,
        confidence: float = 0.95,
        rewards: bool = False,
    ) -> Summary:
        """Mean cost of a round and regret over all rounds, with confidence intervals.

        against, budget: as in `regret`; by default what `matters`, and the best arm.
        rewards: show mean rewards, 1 - cost.
        """
        rivals = dict.fromkeys((self.matters, "best_arm")) if against is None else (against,)
        return self._summary(tuple(rivals), budget, confidence, rewards)

    def _summary(
        self,
        rivals: tuple[str, ...],
        budget: int | None = None,
        confidence: float = 0.95,
        rewards: bool = False,
    ) -> Summary:
        rows = []
        for name, learner in self.learners.items():
            paid = self.costs(name).mean(axis=1)
            regret = {
                rival: Estimate.of(self.regret(name, rival, budget), confidence) for rival in rivals
            }
            mean = Estimate.of(1.0 - paid if rewards else paid, confidence)
            rows.append(LearnerSummary(name, learner.budget, mean, regret))
        title = f"{self.environment!r}, {self.replicates} replicates, seed {self.seed}"
        return Summary(title, "reward" if rewards else "cost", confidence, tuple(rows))

    def plot(
        self,
        against: str | None = None,
        budget: int | None = None,
        path: str | Path | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """Draw mean regret with 95% bands, one line per learner (extra: plot).

        against, budget: as in `regret`; by default what `matters`. path: write a .png, .svg or .pdf
        file. Without it, the plot is drawn into `axes`, or with pyplot.
        """
        from pickbest.report.plots import plot_regret

        return plot_regret(self, path, against, budget, axes)

    def difference(self, first: str, second: str, confidence: float = 0.95) -> Difference:
        """Mean cost of the first learner minus the second's, paired by replicate."""
        if self.environment.adaptive:
            raise PickbestError("an adaptive environment deals each learner its own costs")
        gaps = self.costs(first).mean(axis=1) - self.costs(second).mean(axis=1)
        mean = float(gaps.mean())
        half = float(half_width(gaps[:, None], confidence)[0])
        return Difference(mean, standard_error(gaps), mean - half, mean + half)

    def hindsight_costs(
        self, name: str, against: str = "best_arm", budget: int | None = None
    ) -> FloatArray:
        """(replicates,) total cost of the comparator that was best in hindsight."""
        if against == "best_arm":
            best: FloatArray = self.run(name).best_arm[:, -1]
            return best
        costs = np.array([rival.cost for rival in self._rivals(name, against, budget)])
        return np.broadcast_to(costs, (self.replicates,))

    def _rivals(self, name: str, against: str, budget: int | None) -> list[Subset]:
        """The comparator of each replicate, or of all where they have the same costs."""
        self.run(name)
        if against not in _FIND:
            raise unknown_name("comparator", against, AGAINST)
        size = check_budget(budget or self.learners[name].budget, self.environment.n_arms)
        shared = name if self.environment.adaptive else ""
        key = (shared, size, against)
        if key not in self._subsets:
            self._subsets[key] = [_FIND[against](table, size) for table in self._tables(name)]
        return self._subsets[key]

    def _tables(self, name: str) -> FloatArray:
        """(replicates or 1, rounds, n_arms) costs dealt."""
        table = self.run(name).table
        if table is None:
            raise PickbestError(
                "the cost tables were too large to keep: only regret against best_arm is known "
                "(use fewer replicates or rounds)"
            )
        return table

    def to_pandas(self) -> pd.DataFrame:
        """One row per learner, replicate and round: cost and regret against the best arm.

        A table with names of rows adds the column `row`.
        """
        pandas = load_extra("pandas", "data", "a data frame")
        frame: pd.DataFrame = pandas.DataFrame(self._columns())
        frame.attrs.update(self.settings)
        return frame

    def to_csv(self, path: str | Path) -> None:
        """Write what to_pandas returns as CSV (pandas is not needed)."""
        columns = self._columns()
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        shape = (len(self.runs), self.replicates, self.environment.rounds)
        learner, replicate, round_index = np.indices(shape)
        names = self.environment.row_names if isinstance(self.environment, Table) else ()
        rows = np.array(names, dtype=object)
        return {
            "learner": np.array(list(self.runs), dtype=object)[learner.ravel()],
            "replicate": replicate.ravel(),
            "round": round_index.ravel(),
            **({"row": rows[round_index.ravel()]} if names else {}),
            "cost": np.concatenate([run.paid.ravel() for run in self.runs.values()]),
            "regret": np.concatenate([self.regret_curve(name).ravel() for name in self.runs]),
        }


_FIND = {
    "best_subset": hindsight.best_subset,
    "greedy": hindsight.greedy_subset,
    "top": hindsight.top_arms,
}
