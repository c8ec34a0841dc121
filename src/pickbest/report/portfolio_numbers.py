"""What a portfolio's journal says of its arms, as numbers; what it cannot say is an interval.

A run that was stopped because another arm had answered has no known runtime and no known cost. It
counts twice: as if it had answered at that moment ("at least"), and as if it never would have
("at most"). An arm is seen only where it was picked; its rounds are weighted by 1 / P(picked).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.hindsight.comparators import random_subset_costs
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.records import Entry, Picked
from pickbest.portfolio.store.verdicts import Verdicts
from pickbest.portfolio.store.views import RoundView, rounds_of, verdicts_of

# Draws for the mean cost of random sets, and points of the curves.
DRAWS, POINTS = 400, 40


@dataclass(frozen=True)
class SeenRun:
    """A run, its round's place in time, and how often it stands for others like it."""

    place: int
    problem: str
    weight: float
    run: Run

    @property
    def solved(self) -> bool:
        known = self.run.cost is not None and self.run.cost < 1.0
        return self.run.status is RunStatus.FINISHED and known


@dataclass(frozen=True)
class ArmNumbers:
    """An arm over the rounds in which it ran.

    ended: how many runs ended with which status.
    par2: mean seconds, twice the deadline where it did not solve: (at least, at most).
    mean_cost: (at least, at most).
    """

    name: str
    runs: int
    won: int
    solved: int
    ended: Counter[RunStatus]
    par2: tuple[float, float]
    mean_cost: tuple[float, float]


@dataclass(frozen=True)
class PortfolioNumbers:
    """All rounds of a portfolio that are finished.

    deadline: seconds; guessed: it is not known, but the longest time that a run took.
    """

    rounds: tuple[RoundView, ...]
    weights: Mapping[int, Sequence[float] | None]
    deadline: float
    guessed: bool

    @classmethod
    def of(cls, entries: Sequence[Entry], deadline: float | None = None) -> PortfolioNumbers:
        """From a journal."""
        views = tuple(view for view in rounds_of(entries) if view.state == "finished")
        seconds = [run.seconds for view in views for run in view.runs]
        if not views:
            raise PickbestError("no round is finished: a report needs some (`pickbest run`)")
        picked = [entry.record for entry in entries if isinstance(entry.record, Picked)]
        longest = max(seconds, default=0.0) or 1.0
        weights = {each.round: each.weights for each in picked}
        return cls(views, weights, deadline or longest, deadline is None)

    @cached_property
    def seen(self) -> dict[str, list[SeenRun]]:
        """Runs by arm, oldest first."""
        found: dict[str, list[SeenRun]] = defaultdict(list)
        for place, view in enumerate(self.rounds):
            weights = self.weights.get(view.round) or (1.0,) * len(view.runs)
            for run, weight in zip(view.runs, weights, strict=True):
                found[run.arm].append(SeenRun(place, view.problem, weight, run))
        return dict(found)

    @cached_property
    def times_are_costs(self) -> bool:
        """Whether a cost is a share of the deadline, as far as one can see."""
        pairs = [
            (each.run.cost, min(each.run.seconds / self.deadline, 1.0))
            for runs in self.seen.values()
            for each in runs
            if each.solved and each.run.cost is not None
        ]
        return bool(pairs) and all(abs(cost - share) < 1e-3 for cost, share in pairs)

    @property
    def costs(self) -> FloatArray:
        """What was paid each round; 1 where nothing is known."""
        return np.array([1.0 if view.cost is None else view.cost for view in self.rounds])

    @cached_property
    def verdicts(self) -> Verdicts:
        return verdicts_of(self.rounds)

    def arms(self) -> list[ArmNumbers]:
        """Each arm, most wins first."""
        won = Counter(view.winner for view in self.rounds)
        rows = [self._arm(name, won[name]) for name in self.seen]
        return sorted(rows, key=lambda row: (-row.won, row.name))

    def _arm(self, name: str, won: int) -> ArmNumbers:
        runs = self.seen[name]
        weights = np.array([each.weight for each in runs])
        return ArmNumbers(
            name,
            len(runs),
            won,
            sum(each.solved for each in runs),
            Counter(each.run.status for each in runs),
            _means([self.penalised(each) for each in runs], weights),
            _means([self.cost_of(each) for each in runs], weights),
        )

    def penalised(self, each: SeenRun) -> tuple[float, float]:
        """PAR2's seconds of a run: (at least, at most)."""
        worst = 2.0 * self.deadline
        if each.solved:
            return each.run.seconds, each.run.seconds
        return (each.run.seconds, worst) if each.run.status is RunStatus.STOPPED else (worst, worst)

    def cost_of(self, each: SeenRun) -> tuple[float, float]:
        """(lowest, highest) cost that a run can have had."""
        if each.run.cost is not None:
            return each.run.cost, each.run.cost
        low = min(each.run.seconds / self.deadline, 1.0) if self.times_are_costs else 0.0
        return low, 1.0

    def portfolio_par2(self) -> float:
        """Mean seconds until the winner had answered; twice the deadline where nobody did."""
        return float(np.mean([self._seconds(view) for view in self.rounds]))

    def _seconds(self, view: RoundView) -> float:
        winning = self._winning(view)
        return 2.0 * self.deadline if winning is None else winning

    def _winning(self, view: RoundView) -> float | None:
        return next((run.seconds for run in view.runs if run.arm == view.winner), None)

    def virtual_best_par2(self) -> float:
        """As the portfolio's, with the quickest answer that was ever seen on a problem."""
        best: dict[str, float] = {}
        for view in self.rounds:
            quickest = self._seconds(view)
            best[view.problem] = min(best.get(view.problem, quickest), quickest)
        for runs in self.seen.values():
            for each in runs:
                if each.solved:
                    best[each.problem] = min(best[each.problem], each.run.seconds)
        return float(np.mean([best[view.problem] for view in self.rounds]))

    def cactus(self) -> dict[str, list[float]]:
        """Seconds of what was solved, in order: of the portfolio ("") and of each arm."""
        times = [self._winning(view) for view in self.rounds]
        found = {"": sorted(time for time in times if time is not None)}
        for name, runs in self.seen.items():
            found[name] = sorted(each.run.seconds for each in runs if each.solved)
        return found

    def checkpoints(self) -> list[int]:
        """Numbers of rounds at which curves have a point."""
        total = len(self.rounds)
        steps = np.linspace(1, total, min(POINTS, total)).round().astype(int)
        return sorted(set(steps.tolist()))

    def is_known(self, name: str) -> bool:
        """Whether every cost of an arm is known."""
        return all(each.run.cost is not None for each in self.seen[name])

    def arm_curve(self, name: str) -> tuple[list[int], list[float]]:
        """(rounds, lowest mean cost that the arm can have had up to there)."""
        runs = self.seen[name]
        places = np.array([each.place for each in runs])
        weights = np.array([each.weight for each in runs])
        paid = np.cumsum([self.cost_of(each)[0] for each in runs] * weights)
        mass = np.cumsum(weights)
        at = [step for step in self.checkpoints() if step > places[0]]
        last = [int(np.searchsorted(places, step, side="left")) - 1 for step in at]
        return at, [float(paid[place] / mass[place]) for place in last]

    def random_sets(self, budget: int, alike: bool) -> float:
        """The lowest mean cost of `budget` arms drawn at random, from what was seen.

        alike: every arm finds the same problems hard (a high answer); else arms are independent
        (a low one).
        """
        rng = np.random.default_rng(0)
        levels = rng.random(DRAWS)
        columns = []
        for runs in self.seen.values():
            costs = np.array([self.cost_of(each)[0] for each in runs])
            weights = np.array([each.weight for each in runs])
            drawn = levels if alike else rng.random(DRAWS)
            columns.append(weighted_quantiles(costs, weights, drawn))
        table = np.stack(columns, axis=1)
        return float(random_subset_costs(table, min(budget, len(columns))).mean())

    def places(self) -> dict[str, list[RoundView]]:
        """Rounds by kind of problem: its folder and suffix; by answer where all are alike."""
        by_folder = _grouped(self.rounds, lambda view: _kind(view.problem))
        if 2 <= len(by_folder) <= 30:
            return by_folder
        return _grouped(self.rounds, lambda view: view.verdict or "no verdict")


def _means(pairs: Sequence[tuple[float, float]], weights: FloatArray) -> tuple[float, float]:
    low, high = np.average(np.array(pairs), axis=0, weights=weights).tolist()
    return low, high


def _kind(problem: str) -> str:
    path = Path(problem)
    return f"{path.parent.name or '.'}/*{''.join(path.suffixes[-2:])}"


def _grouped(
    views: Iterable[RoundView], key: Callable[[RoundView], str]
) -> dict[str, list[RoundView]]:
    groups: dict[str, list[RoundView]] = defaultdict(list)
    for view in views:
        groups[key(view)].append(view)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def weighted_quantiles(values: FloatArray, weights: FloatArray, levels: FloatArray) -> FloatArray:
    """The values at these levels of their weighted law."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    places = np.searchsorted(mass / mass[-1], levels, side="left")
    result: FloatArray = values[order][np.minimum(places, len(values) - 1)]
    return result
