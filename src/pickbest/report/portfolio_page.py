"""`pickbest report`: what a portfolio did, as one page in the style of the reproduction."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pickbest._version import __version__
from pickbest.core.text import printable
from pickbest.portfolio.runs import RunStatus
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
from pickbest.report.portfolio_numbers import ArmNumbers, PortfolioNumbers

# Longer tables say less; the journal has the rest.
MOST_ROWS = 50
CENSORED = (
    "A run that was stopped because another arm had answered has no known time and no known cost. "
    "Numbers that depend on it are shown as **between** two values: as if the run had answered at "
    "that moment, and as if it never would have. Arms are seen only where they were picked; rounds "
    'in which an arm was unlikely to be picked count more. With `stop = "deadline"` every number '
    "is known."
)


def portfolio_report(numbers: PortfolioNumbers, budget: int, name: str, command: str) -> Report:
    """The whole page. name: what the portfolio is called."""
    solved = sum(view.winner is not None for view in numbers.rounds)
    guess = " (the longest time seen; `--deadline` says otherwise)" if numbers.guessed else ""
    facts = (
        ("pickbest", __version__),
        ("rounds", f"{len(numbers.rounds)} finished, {solved} solved"),
        ("arms", f"{budget} of {len(numbers.seen)} per round"),
        ("deadline", f"{numbers.deadline:g} s{guess}"),
    )
    arms = numbers.arms()
    chapters = [
        Chapter("arms", "Arms", CENSORED, [_winners(numbers, arms), _times(numbers, arms)]),
        Chapter("time", "Over time", "", [_over_time(numbers, budget), _cactus(numbers)]),
        Chapter("trust", "What went wrong", "", [_contradictions(numbers), _failures(numbers)]),
    ]
    intro = f"What the portfolio **{printable(name)}** did, from its journal and nothing else."
    return Report("A portfolio at work", intro, facts, chapters, command)


def _winners(numbers: PortfolioNumbers, arms: Sequence[ArmNumbers]) -> Section:
    leader = arms[0]
    verdict = Verdict(
        "Who wins", f"{printable(leader.name)} won {leader.won} of {len(numbers.rounds)} rounds."
    )
    shown = [
        (RunStatus.STOPPED, "stopped"), (RunStatus.TIMEOUT, "timeout"),
        (RunStatus.NO_ANSWER, "no answer"), (RunStatus.CRASHED, "crashed"),
        (RunStatus.BROKEN, "broken"), (RunStatus.WRONG, "wrong"),
    ]  # fmt: skip
    by_arm = Table(
        "arms",
        "Every arm",
        alike("arm", "picked", "won", "solved", *(name for _, name in shown), "answers"),
        [
            [printable(row.name), row.runs, row.won, row.solved,
             *(row.ended[status] for status, _ in shown), _verdicts(numbers, row.name)]
            for row in arms
        ],
        marked=[(place, 9) for place, row in enumerate(arms) if row.ended[RunStatus.WRONG]],
    )  # fmt: skip
    kinds = {
        kind: (len(views), Counter(view.winner for view in views if view.winner))
        for kind, views in list(numbers.places().items())[:MOST_ROWS]
    }
    columns = alike("problems", "rounds", "solved", "winners")
    rows: list[list[str | int]] = [
        [printable(kind), rounds, won.total(), _counted(won)]
        for kind, (rounds, won) in kinds.items()
    ]
    note = "By folder and suffix of the problem; by answer where these are all alike."
    where = Table("where", "Who wins where", columns, rows, note)
    return Section("winners", "Who wins where", [verdict, by_arm, where])


def _times(numbers: PortfolioNumbers, arms: Sequence[ArmNumbers]) -> Section:
    ours, virtual = numbers.portfolio_par2(), numbers.virtual_best_par2()
    single = min(arms, key=lambda row: row.par2[1])
    verdict = Verdict(
        "Compared with the single best arm",
        f"PAR2 of the portfolio: {ours:.4g} s. PAR2 of its best single arm, "
        f"{printable(single.name)}, over the rounds in which it ran: {_span(single.par2, 4)} s. "
        f"PAR2 of the virtual best (the quickest answer that any arm gave): {virtual:.4g} s.",
    )
    rounds = len(numbers.rounds)
    rows: list[list[str | int]] = [
        ["the portfolio", rounds, _span((ours, ours), 4), _span((numbers.costs.mean(),) * 2, 4)],
        ["virtual best of what was seen", rounds, _span((virtual, virtual), 4), "–"],
    ]
    rows += [
        [printable(row.name) + (" (single best)" if row is single else ""), row.runs,
         _span(row.par2, 4), _span(row.mean_cost, 4)]
        for row in sorted(arms, key=lambda row: row.par2[1])
    ]  # fmt: skip
    note = (
        "PAR2: seconds until solved, and twice the deadline otherwise. Single arms are seen on "
        "other rounds than the portfolio. The virtual best knows only the arms that ran: with all "
        "of them it would be at least as good. `pickbest advise` estimates other budgets."
    )
    columns = alike("who", "rounds", "PAR2, seconds", "mean cost")
    table = Table("par2", "PAR2 and mean cost", columns, rows, note)
    return Section("par2", "PAR2, single best and virtual best", [verdict, table])


def _span(ends: tuple[float, float], digits: int) -> str:
    """A number that is known, or between which two it lies."""
    low, high = (f"{end:.{digits}g}" for end in ends)
    return low if low == high else f"between {low} and {high}"


def _over_time(numbers: PortfolioNumbers, budget: int) -> Section:
    at = numbers.checkpoints()
    costs = np.cumsum(numbers.costs)
    ours = [float(costs[step - 1] / step) for step in at]
    series = [Series("portfolio", at, ours, "fpml", marker="")]
    known = [name for name in numbers.seen if numbers.is_known(name)]
    for name in known:
        rounds, means = numbers.arm_curve(name)
        series.append(Series(printable(name), rounds, means, name, line="dashed", marker=""))
    told = (
        f"The portfolio paid {ours[-1]:.4f} per round. What random sets would have paid is not "
        "known, because runs were stopped."
    )
    beaten = None
    if len(known) == len(numbers.seen):
        low, high = sorted(numbers.random_sets(budget, same) for same in (False, True))
        beaten = True if ours[-1] < low else None
        told = (
            f"The portfolio paid {ours[-1]:.4f} per round. Random sets of {budget} arms would have "
            f"paid {low:.4f} (if arms were independent) to {high:.4f} (if all found the same "
            "problems hard)."
        )
    figure = Figure(
        "cost-over-time",
        "Mean cost up to each round: of the portfolio (solid), and of arms that were never stopped "
        "(dashed).",
        "Mean cost over rounds of the portfolio, and of arms that were never stopped",
        "round",
        "mean cost",
        series,
    )
    verdict = Verdict("Compared with random sets", told, holds=beaten)
    return Section("over-time", "Cost over time", [verdict, figure])


def _cactus(numbers: PortfolioNumbers) -> Section:
    series = []
    for name, times in numbers.cactus().items():
        if times:
            shown = printable(name) or "portfolio"
            look, line = ("fpml", "solid") if not name else (name, "dashed")
            at = [float(count) for count in range(1, len(times) + 1)]
            quick = [max(time, 1e-3) for time in times]
            series.append(Series(shown, at, quick, look, line=line, marker=""))
    if not series:
        return Section("cactus", "Cactus plot", [Text("Nothing was solved.")])
    figure = Figure(
        "cactus",
        "How many rounds were solved within how many seconds. Arms are counted only where they ran "
        "and were not stopped before their answer: their curves are shorter than they could be.",
        "Seconds against the number of rounds solved, for the portfolio and each arm",
        "rounds solved",
        "seconds",
        series,
        log_y=True,
    )
    return Section("cactus", "Cactus plot", [figure])


def _contradictions(numbers: PortfolioNumbers) -> Section:
    found = numbers.verdicts.found
    count = numbers.verdicts.count
    told = "No two arms contradict each other." if not count else (
        f"In {count} cases two arms contradict each other: at least one of them is wrong."
    )  # fmt: skip
    judged = any(run.verdict for view in numbers.rounds for run in view.runs)
    if not judged:
        told = 'No answer was read as a verdict (`answer = "dimacs"` or `"smtlib"`).'
    blocks: list[Verdict | Table] = [
        Verdict("Contradictions", told, holds=(not count) if judged else None)
    ]
    if found:
        rows = [
            [printable(each.problem), printable(each.second), printable(each.first)]
            for each in found[:MOST_ROWS]
        ]
        columns = alike("problem", "one says", "another says")
        blocks.append(Table("contradictions", "Who contradicts whom", columns, rows))
    return Section("contradictions", "Contradictions", blocks)


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


def _verdicts(numbers: PortfolioNumbers, arm: str) -> str:
    return _counted(Counter(each.run.verdict for each in numbers.seen[arm] if each.run.verdict))


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{printable(name)} {count}" for name, count in counts.most_common(5)) or "–"
