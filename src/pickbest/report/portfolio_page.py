"""`pickbest report`: what a portfolio did, as one page in the style of the reproduction.

What was measured is shown as a number. What each arm alone would have done was not measured: an
arm is seen only where it was picked, and a stopped run tells only that it would have taken longer.
So it is an estimate with an interval, from the model that `auto` plays races with
(`advise.arms_alone`), or a weighted mean where no run has a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pickbest._version import __version__
from pickbest.core import FloatArray, PickbestError
from pickbest.core.text import printable
from pickbest.learners.auto.kinds import EDGES
from pickbest.portfolio.run.advise import Alone, Interval, arms_alone, timed_rounds
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.records import Entry, Picked
from pickbest.portfolio.store.views import RoundView, rounds_of
from pickbest.report.document import (
    Chapter,
    Column,
    Figure,
    Report,
    Section,
    Series,
    Table,
    Text,
    Verdict,
    alike,
)

# Longer tables say less; the journal has the rest.
MOST_ROWS = 50
# A curve over rounds shows means of this share of them, and of at least this number.
WINDOW_SHARE, LEAST_WINDOW = 0.1, 10
Z_90 = 1.645
ENDED = (
    RunStatus.STOPPED, RunStatus.TIMEOUT, RunStatus.NO_ANSWER, RunStatus.CRASHED,
    RunStatus.BROKEN, RunStatus.WRONG,
)  # fmt: skip


@dataclass(frozen=True)
class PortfolioNumbers:
    """The finished rounds of a portfolio.

    deadline: seconds; guessed: it is the longest time that a run took, because nobody said it.
    """

    entries: Sequence[Entry]
    rounds: tuple[RoundView, ...]
    deadline: float
    guessed: bool

    @classmethod
    def of(cls, entries: Sequence[Entry], deadline: float | None = None) -> PortfolioNumbers:
        """From a journal."""
        views = tuple(view for view in rounds_of(entries) if view.state == "finished")
        if not views:
            raise PickbestError("no round is finished: a report needs some (`pickbest run`)")
        longest = max((run.seconds for view in views for run in view.runs), default=0.0) or 1.0
        return cls(entries, views, deadline or longest, deadline is None)

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """Runs by arm, oldest first; arms with the most wins first."""
        won = Counter(view.winner for view in self.rounds)
        found: dict[str, list[Run]] = defaultdict(list)
        for view in self.rounds:
            for run in view.runs:
                found[run.arm].append(run)
        return dict(sorted(found.items(), key=lambda item: (-won[item[0]], item[0])))

    @property
    def costs(self) -> FloatArray:
        """What was paid each round; 1 where nothing is known."""
        return np.array([1.0 if view.cost is None else view.cost for view in self.rounds])

    @property
    def seconds(self) -> FloatArray:
        """Until the winner had answered; twice the deadline where nobody did (PAR2)."""
        times = [
            next((run.seconds for run in view.runs if run.arm == view.winner), 2.0 * self.deadline)
            for view in self.rounds
        ]
        return np.array(times)

    @cached_property
    def timed(self) -> bool:
        """Whether runs have times: costs that were told by hand have none."""
        return any(run.seconds > 0.0 for runs in self.runs.values() for run in runs)

    @cached_property
    def alone(self) -> Mapping[str, Alone]:
        """What each arm alone would have done; empty where too few rounds say when arms ended."""
        try:
            return arms_alone(timed_rounds(self.entries)) if self.timed else {}
        except PickbestError:
            return {}

    @cached_property
    def mean_costs(self) -> Mapping[str, Interval]:
        """Weighted means of the costs of each arm, where all of them are known.

        Rounds in which an arm was unlikely to be picked count more, so that the mean stands for
        all rounds.
        """
        picked = (entry.record for entry in self.entries if isinstance(entry.record, Picked))
        weights = {each.round: each.weights for each in picked}
        pairs: dict[str, list[tuple[float, float | None]]] = defaultdict(list)
        for view in self.rounds:
            known = weights.get(view.round) or (1.0,) * len(view.runs)
            for run, weight in zip(view.runs, known, strict=True):
                pairs[run.arm].append((weight, run.cost))
        return {
            name: _weighted(np.array(told, np.float64))
            for name, told in pairs.items()
            if all(cost is not None for _, cost in told)
        }

    def kinds(self) -> dict[str, list[RoundView]]:
        """Rounds by kind of problem: its folder and suffix; by answer where all are alike."""
        by_folder = _grouped(self.rounds, lambda view: _folder(view.problem))
        if 2 <= len(by_folder) <= 30:
            return by_folder
        return _grouped(self.rounds, lambda view: view.verdict or "no verdict")


def _weighted(pairs: FloatArray) -> Interval:
    weights, costs = pairs.T
    mean = float(np.average(costs, weights=weights))
    spread = float(np.sqrt((weights**2 * (costs - mean) ** 2).sum()) / weights.sum())
    return Interval(mean, max(mean - Z_90 * spread, 0.0), min(mean + Z_90 * spread, 1.0))


def _folder(problem: str) -> str:
    path = Path(problem)
    return f"{path.parent.name or '.'}/*{''.join(path.suffixes[-2:])}"


def _grouped(
    views: Iterable[RoundView], key: Callable[[RoundView], str]
) -> dict[str, list[RoundView]]:
    groups: dict[str, list[RoundView]] = defaultdict(list)
    for view in views:
        groups[key(view)].append(view)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def portfolio_report(numbers: PortfolioNumbers, budget: int, name: str, command: str) -> Report:
    """The whole page. name: what the portfolio is called."""
    solved = sum(view.winner is not None for view in numbers.rounds)
    guess = " (the longest time seen; set it with `--deadline`)" if numbers.guessed else ""
    facts = (
        ("pickbest", __version__),
        ("rounds", f"{len(numbers.rounds)} finished, {solved} solved"),
        ("arms", f"{budget} of {len(numbers.runs)} per round"),
        *([("deadline", f"{numbers.deadline:g} s{guess}")] if numbers.timed else []),
    )
    chapters = [
        Chapter("arms", "Arms", "", [_winners(numbers), _alone(numbers)]),
        Chapter("time", "Over time", "", [_over_time(numbers), *_answered(numbers)]),
        Chapter("trust", "What went wrong", "", [_failures(numbers)]),
    ]
    intro = f"What the portfolio **{printable(name)}** did, from its journal alone."
    return Report("A portfolio at work", intro, facts, chapters, command)


def _winners(numbers: PortfolioNumbers) -> Section:
    won = Counter(view.winner for view in numbers.rounds)
    leader = next(iter(numbers.runs))
    told = f"{printable(leader)} won {won[leader]} of {len(numbers.rounds)} rounds."
    rows: list[list[str | int]] = []
    marked = []
    seen = {run.status for runs in numbers.runs.values() for run in runs}
    shown = [status for status in ENDED if status in seen]
    for name, runs in numbers.runs.items():
        ended = Counter(run.status for run in runs)
        solved = sum(run.cost is not None and run.cost < 1.0 for run in runs)
        answers = Counter(run.verdict for run in runs if run.verdict)
        counts = [ended[status] for status in shown]
        if ended[RunStatus.WRONG]:
            marked.append((len(rows), 4 + shown.index(RunStatus.WRONG)))
        rows.append([printable(name), len(runs), won[name], solved, *counts, _counted(answers)])
    endings = (status.value for status in shown)
    columns = alike("arm", "picked", "won", "solved", *endings, "answers")
    by_arm = Table("arms", "Every arm", columns, rows, marked=marked)
    kinds: list[list[str | int]] = []
    for kind, views in list(numbers.kinds().items())[:MOST_ROWS]:
        winners = Counter(view.winner for view in views if view.winner)
        kinds.append([printable(kind), len(views), winners.total(), _counted(winners)])
    note = "Problems are grouped by folder and suffix, or by answer if all of these are the same."
    columns = alike("problems", "rounds", "solved", "winners")
    where = Table("where", "Who wins where", columns, kinds, note)
    return Section("winners", "Who wins where", [Verdict("Who wins", told), by_arm, where])


def _alone(numbers: PortfolioNumbers) -> Section:
    """The portfolio as measured, and what each arm alone would have done, with intervals."""
    ours, deadline = float(numbers.seconds.mean()), numbers.deadline
    costs: Mapping[str, Interval] = {name: one.cost for name, one in numbers.alone.items()}
    costs = costs or numbers.mean_costs
    rows: list[list[str | int]] = [
        ["the portfolio (measured)", len(numbers.rounds), f"{ours:.4g}" if numbers.timed else "–",
         f"{numbers.costs.mean():.4g}"]
    ]  # fmt: skip
    for name in sorted(costs, key=lambda arm: costs[arm].mean):
        took = _shown(numbers.alone[name].par2, deadline) if numbers.alone else "–"
        rows.append([printable(name), len(numbers.runs[name]), took, _shown(costs[name])])
    told = "Too few rounds say how long the arms take: play more."
    if numbers.alone:
        best = min(numbers.alone, key=lambda arm: numbers.alone[arm].par2.mean)
        told = (
            f"The portfolio took {ours:.4g} s per problem. Its best arm alone, {printable(best)}, "
            f"would have taken about {_shown(numbers.alone[best].par2, deadline)} s."
        )
    elif costs:
        best = min(costs, key=lambda arm: costs[arm].mean)
        told = (
            f"The portfolio paid {numbers.costs.mean():.4g} per round. Its best arm alone, "
            f"{printable(best)}, would have paid about {_shown(costs[best])}."
        )
    note = (
        "Seconds to the answer; a problem without an answer counts as twice the deadline (PAR2). "
        "Arms alone are estimated, with 90% intervals: an arm is seen only where it was picked, "
        "and a stopped run tells only that it would have taken longer."
    )
    columns = alike("arm", "rounds", "seconds to the answer", "mean cost")
    table = Table("alone", "The portfolio and each arm alone", columns, rows, note)
    verdict = Verdict("Compared with one arm alone", told)
    return Section("alone", "Each arm alone", [verdict, table])


def _shown(estimate: Interval, unit: float = 1.0) -> str:
    mean, low, high = (f"{unit * end:.3g}" for end in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high})"


def _over_time(numbers: PortfolioNumbers) -> Section:
    costs = numbers.costs
    window = min(max(LEAST_WINDOW, round(WINDOW_SHARE * len(costs))), len(costs))
    means = np.convolve(costs, np.full(window, 1.0 / window), mode="valid")
    at = [float(end) for end in range(window, len(costs) + 1)]
    text = f"The portfolio paid {costs.mean():.4f} per round, and {means[-1]:.4f} lately."
    figure = Figure(
        "cost-over-time",
        f"Mean cost of the last {window} rounds, as it was paid.",
        f"Mean cost that the portfolio paid over the last {window} rounds, against the round",
        "round",
        f"mean cost of {window} rounds",
        [Series("portfolio", at, means.tolist(), "fpml", marker="")],
    )
    return Section("over-time", "Cost over time", [Text(text), figure])


def _answered(numbers: PortfolioNumbers) -> list[Section]:
    """Share of problems answered within a time; nothing where no run has a time."""
    if not numbers.timed:
        return []
    at = (EDGES[1:] * numbers.deadline).tolist()
    times = np.sort(numbers.seconds)
    share = (np.searchsorted(times, at, side="right") / len(times)).tolist()
    series = [Series("portfolio", at, share, "fpml", marker="")]
    series += [
        Series(printable(name), at, one.answered[1:].tolist(), name, line="dashed", marker="")
        for name, one in numbers.alone.items()
    ]
    figure = Figure(
        "answered",
        "Share of problems that are answered within a time: by the portfolio (solid, measured), "
        "and by each arm alone (dashed, estimated).",
        "Share of problems answered against seconds, for the portfolio and for each arm alone",
        "seconds to the answer",
        "share of problems answered",
        series,
        log_x=True,
    )
    return [Section("answered", "Answers within a time", [figure])]


def _failures(numbers: PortfolioNumbers) -> Section:
    reasons: Counter[tuple[str, str, str]] = Counter()
    last: dict[tuple[str, str, str], int] = {}
    for view in numbers.rounds:
        for run in view.runs:
            if run.reason:
                key = (run.arm, run.status.value, printable(run.reason)[:300])
                reasons[key] += 1
                last[key] = view.round
    if not reasons:
        return Section("failures", "Failures", [Text("No run failed.")])
    rows: list[list[str | int]] = [
        [printable(arm), status, reason, count, last[arm, status, reason]]
        for (arm, status, reason), count in reasons.most_common(MOST_ROWS)
    ]
    columns = [*map(Column, ("arm", "what", "why", "runs", "last in round"))]
    return Section("failures", "Failures", [Table("failures", "Failures", columns, rows)])


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{printable(name)} {count}" for name, count in counts.most_common(5)) or "–"
