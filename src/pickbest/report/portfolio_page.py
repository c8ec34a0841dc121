"""`pickbest report`: what a portfolio did, as one page in the style of the reproduction.

What each arm alone would have done is estimated, with an interval, from the rounds in which all
arms ran to their own end: a stopped run tells only that it would have taken longer. Where arms are
names, the page says quality, price and calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest._version import __version__
from pickbest.core import FloatArray, PickbestError
from pickbest.core.text import printable
from pickbest.portfolio.run.advise import Interval
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.records import Entry, Picked
from pickbest.portfolio.store.state import Course
from pickbest.portfolio.store.views import RoundView, Status, rounds_of
from pickbest.report.document import (
    Cell,
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
# Points of the course that a mean is taken over.
WINDOW = 16
Z_90 = 1.645
ENDED = (
    RunStatus.STOPPED, RunStatus.TIMEOUT, RunStatus.NO_ANSWER, RunStatus.CRASHED,
    RunStatus.BROKEN, RunStatus.WRONG,
)  # fmt: skip


def portfolio_report(
    status: Status, course: Course, entries: Sequence[Entry], name: str, command: str
) -> Report:
    """The whole page. name: what the portfolio is called."""
    if status.mean_cost is None:
        raise PickbestError("no round is finished: a report needs some (`pickbest run`)")
    named = status.rewards or (status.trade is not None and status.learner == "calls")
    if named:
        facts, chapters = _of_names(status)
    else:
        facts, chapters = _of_races(Races(entries), status)
    over_time = Chapter("time", "Over time", "", [_over_time(course, named)])
    intro = f"What the portfolio **{printable(name)}** did, from its journal alone."
    facts = [("pickbest", __version__), *facts]
    return Report("A portfolio at work", intro, facts, [*chapters, over_time], command)


def _over_time(course: Course, named: bool) -> Section:
    """Quality or cost, and the price where there is one, as means over a moving window."""
    points = [(0, 0.0, 0.0, 0.0), *course.points]
    x: list[float] = []
    costs: list[float] = []
    prices: list[float] = []
    for place, point in enumerate(points[1:], 1):
        before = points[max(0, place - WINDOW)]
        count = max(point[0] - before[0], 1)
        x.append(float(point[0]))
        costs.append((point[2] - before[2]) / count)
        prices.append((point[3] - before[3]) / count)
    worth = ("quality", [1.0 - cost for cost in costs]) if named else ("cost", costs)
    text = "Means over a moving window, in the order in which problems were finished."
    figures = [
        Figure(what, text, f"{what} per problem over a moving window", "problems finished", what,
               [Series("portfolio", x, values, "fpml", marker="")])
        for what, values in (worth, ("price", prices))
        if any(values)
    ]  # fmt: skip
    return Section("over-time", "Over time", [Text(text), *figures])


# Arms that are run ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Races:
    """The finished rounds of a portfolio, from its journal."""

    entries: Sequence[Entry]

    @cached_property
    def rounds(self) -> list[RoundView]:
        """What happened, oldest first."""
        return [view for view in rounds_of(self.entries) if view.state == "finished"]

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """Runs by arm, oldest first; arms with the most wins first."""
        won = Counter(view.winner for view in self.rounds)
        found: dict[str, list[Run]] = defaultdict(list)
        for view in self.rounds:
            for run in view.runs:
                found[run.arm].append(run)
        return dict(sorted(found.items(), key=lambda item: (-won[item[0]], item[0])))

    def alone(self) -> dict[str, Interval]:
        """What each arm alone would have cost, with an interval that holds 90% of such means.

        Only rounds that were watched to their end say so. One in which an arm was unlikely to be
        seen counts more, so that the mean stands for all rounds.
        """
        picked = (entry.record for entry in self.entries if isinstance(entry.record, Picked))
        opened = {each.round: each for each in picked if each.watched and not each.until}
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for view in self.rounds:
            if (known := opened.get(view.round)) is None:
                continue
            weights = known.weights or (1.0,) * len(view.runs)
            for run, weight in zip(view.runs, weights, strict=True):
                if run.cost is not None:
                    found[run.arm].append((run.cost, weight / (known.watch or 1.0)))
        return {name: _mean(*np.array(pairs).T) for name, pairs in found.items()}


def _mean(values: FloatArray, weights: FloatArray) -> Interval:
    mean = float(np.average(values, weights=weights))
    spread = float(np.sqrt((weights**2 * (values - mean) ** 2).sum()) / weights.sum())
    return Interval(mean, max(mean - Z_90 * spread, 0.0), min(mean + Z_90 * spread, 1.0))


def _of_races(races: Races, status: Status) -> tuple[list[tuple[str, str]], list[Chapter]]:
    solved = sum(view.winner is not None for view in races.rounds)
    facts = [
        ("rounds", f"{len(races.rounds)} finished, {solved} solved"),
        ("arms", f"{status.budget} of {len(races.runs)} per round"),
    ]
    chapters = [
        Chapter("arms", "Arms", "", [_winners(races), _alone(races, status)]),
        Chapter("trust", "What went wrong", "", [_failures(races)]),
    ]
    return facts, chapters


def _winners(races: Races) -> Section:
    won = Counter(view.winner for view in races.rounds)
    leader = next(iter(races.runs))
    told = f"{printable(leader)} won {won[leader]} of {len(races.rounds)} rounds."
    seen = {run.status for runs in races.runs.values() for run in runs}
    shown = [status for status in ENDED if status in seen]
    rows: list[list[Cell]] = []
    for name, runs in races.runs.items():
        ended = Counter(run.status for run in runs)
        counts = [ended[status] for status in shown]
        rows.append([printable(name), len(runs), won[name], *counts])
    columns = alike("arm", "picked", "won", *(status.value for status in shown))
    table = Table("arms", "Every arm", columns, rows)
    return Section("winners", "Who wins", [Verdict("Who wins", told), table])


def _alone(races: Races, status: Status) -> Section:
    """The portfolio as measured, and what each arm alone would have cost."""
    alone = races.alone()
    if not alone:
        return Section("alone", "Each arm alone", [Text("No round was watched to its end.")])
    best, *others = sorted(alone, key=lambda name: alone[name].mean)
    told = (
        f"The portfolio paid {status.mean_cost:.4g} per problem. Its best arm alone, "
        f"{printable(best)}, would have paid about {_shown(alone[best])}."
    )
    rows: list[list[Cell]] = [
        ["the portfolio (measured)", len(races.rounds), f"{status.mean_cost:.4g}"]
    ]
    for name in (best, *others):
        rows.append([printable(name), len(races.runs[name]), _shown(alone[name])])
    note = (
        "Arms alone are estimated, with 90% intervals, from the rounds in which all arms ran to "
        "their own end."
    )
    columns = alike("arm", "rounds", "mean cost")
    table = Table("alone", "The portfolio and each arm alone", columns, rows, note)
    return Section("alone", "Each arm alone", [Verdict("Compared with one arm alone", told), table])


def _shown(estimate: Interval) -> str:
    return f"{estimate.mean:.3g} ({estimate.low:.3g} to {estimate.high:.3g})"


def _failures(races: Races) -> Section:
    reasons = Counter(
        (printable(run.arm), run.status.value, printable(run.reason)[:300])
        for view in races.rounds
        for run in view.runs
        if run.reason
    )
    if not reasons:
        return Section("failures", "Failures", [Text("No run failed.")])
    rows: list[list[Cell]] = [[*key, count] for key, count in reasons.most_common(MOST_ROWS)]
    columns = alike("arm", "what", "why", "runs")
    return Section("failures", "Failures", [Table("failures", "Failures", columns, rows)])


# Arms that are names ----------------------------------------------------------------------------


def _of_names(status: Status) -> tuple[list[tuple[str, str]], list[Chapter]]:
    calls = sum(arm.picked for arm in status.arms)
    facts = [
        ("problems", f"{status.problems} finished, {status.open} open, {status.lost} lost"),
        ("calls", f"{calls}, {calls / status.problems:.2f} per problem, at most {status.budget}"),
        ("price", f"{status.spent / status.problems:.4g} per problem"),
    ]
    rows: list[list[Cell]] = [
        [printable(arm.name), arm.picked, arm.won,
         None if arm.mean_cost is None else 1.0 - arm.mean_cost,
         arm.spent / arm.picked if arm.picked else None]
        for arm in sorted(status.arms, key=lambda arm: -arm.picked)
    ]  # fmt: skip
    columns = [
        *alike("arm", "calls", "best answers"), Column("quality", 3), Column("price per call", 5),
    ]  # fmt: skip
    note = "Quality over the problems on which the arm was called, which may be the hard ones."
    arms = Section("arms", "Every arm", [Table("arms", "Every arm", columns, rows, note)])
    return facts, [Chapter("called", "Arms", "", [arms, *_money(status)])]


def _money(status: Status) -> list[Section]:
    """What was called, compared with the best fixed choices in hindsight."""
    if status.mean_cost is None or not status.frontier:
        return []
    trade = status.trade or 0.0
    choices = [(", ".join(each.arms), each.cost, each.price) for each in status.frontier]
    ours = ("as called (measured)", status.mean_cost, status.spent / status.problems)
    rows: list[list[Cell]] = [
        [printable(arms), 1.0 - cost, price, cost + trade * price]
        for arms, cost, price in (ours, *choices)
    ]
    fixed, best = min((cost + trade * price, arms) for arms, cost, price in choices)
    told = (
        f"At a trade of {trade:g}, {ours[1] + trade * ours[2]:.4g} was paid per problem. The best "
        f"fixed choice, {printable(best)}, is estimated at {fixed:.4g}."
    )
    columns = [Column("calls"), Column("quality", 3), Column("price", 5), Column("paid", 4)]
    note = (
        "The same arms on every problem, in hindsight: those that no other choice beats in both "
        "quality and price, as the learner estimates them."
    )
    x, y = [price for _, _, price in choices], [1.0 - cost for _, cost, _ in choices]
    figure = Figure(
        "money",
        "Quality against the price per problem: fixed choices in hindsight, and what was called.",
        "Mean quality against mean price, for the frontier of fixed choices and for the portfolio",
        "price per problem",
        "quality",
        [
            Series("fixed choices (estimated)", x, y, "best", line="dashed"),
            Series("as called", [ours[2]], [1.0 - ours[1]], "fpml", line="none"),
        ],
    )
    verdict = Verdict("Compared with fixed choices", told)
    table = Table("money", "Quality and price", columns, rows, note)
    return [Section("money", "Quality against money", [verdict, figure, table])]
