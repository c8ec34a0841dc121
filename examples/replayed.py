"""What a learning portfolio would have cost on measured runtimes, and what other ways would have.

The portfolio is the real one: only its engine is replaced by one that looks the runtimes up, so
that picks, races, stopped losers and learning are those of a live run, in any order of problems.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from pickbest.portfolio import AskTell, Command, Portfolio, Run, RunStatus
from pickbest.portfolio.runs import Task
from pickbest.portfolio.solve.call import COST
from pickbest.portfolio.solve.calls import Call
from pickbest.portfolio.solve.known import DIMACS, SOLVERS, takes
from pickbest.portfolio.solve.learning import lessons

BUDGET = 2
ORDERS = 10
# Student's t for 95 % with ORDERS - 1 degrees of freedom.
T_95 = 2.262


@dataclass(frozen=True)
class Measured:
    """seconds: (problems, solvers), infinite where there is no answer in time.

    groups: what is learned together, a word for each problem. takes: (problems, solvers), whether
    a solver is for the problem at all.
    """

    problems: tuple[str, ...]
    groups: tuple[str, ...]
    solvers: tuple[str, ...]
    seconds: np.ndarray
    takes: np.ndarray
    deadline: float

    @classmethod
    def read(cls, path: Path, format: str, deadline: float) -> Measured:
        """One row per problem: name, group, verdict, seconds of each solver or nothing."""
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
        cells = np.array([row[3:] for row in rows])
        seconds = np.where(cells == "", "inf", cells).astype(float)
        seconds[seconds >= deadline] = np.inf
        names, groups = (tuple(row[place] for row in rows) for place in (0, 1))
        takers = {
            group: {each.name for each in SOLVERS if each.format == format and takes(each, group)}
            for group in groups
        }
        fit = np.array([[name in takers[group] for name in header[3:]] for group in groups])
        if format == DIMACS:  # families of formulas are not told apart
            groups = ("",) * len(groups)
        return cls(names, groups, tuple(header[3:]), seconds, fit, deadline)

    @property
    def paid(self) -> np.ndarray:
        """Seconds until the answer, or the deadline."""
        return np.minimum(self.seconds, self.deadline)


class Recorded:
    """An engine that knows how every race ends."""

    def __init__(self, table: Measured) -> None:
        self.table = table
        self._rows = {name: row for row, name in enumerate(table.problems)}
        self._columns = {name: column for column, name in enumerate(table.solvers)}

    def race(
        self, tasks: Sequence[Task], ends_race: Callable[[Run], bool], given_up: Callable[[], bool]
    ) -> list[Run]:
        runs, over = {}, math.inf
        for seconds, place in sorted(
            (self._seconds(task), place) for place, task in enumerate(tasks)
        ):
            task = tasks[place]
            if seconds > over:
                runs[place] = Run(task.arm, RunStatus.STOPPED, seconds=over)
            elif seconds > task.deadline:
                runs[place] = Run(task.arm, RunStatus.TIMEOUT, seconds=task.deadline)
            else:
                runs[place] = Run(
                    task.arm, RunStatus.FINISHED, seconds=seconds, exit_code=0, stdout="x"
                )
            if ends_race(runs[place]):
                over = min(over, seconds)
        return [runs[place] for place in range(len(tasks))]

    def close(self) -> None:
        pass

    def _seconds(self, task: Task) -> float:
        _, problem = task.argv or ()
        return float(self.table.seconds[self._rows[problem], self._columns[task.arm]])


def portfolio_costs(
    table: Measured, order: Sequence[int], seed: int, together: bool, cost: object = "runtime"
) -> np.ndarray:
    """Seconds for each problem of an order; together: one learner for all groups."""
    open_ones: dict[str, Portfolio] = {}
    paid = np.empty(len(order))
    engine = Recorded(table)
    try:
        for place, row in enumerate(order):
            group = "all" if together else table.groups[row]
            if group not in open_ones:
                fit = table.takes[row] | together
                names = [name for name, takes in zip(table.solvers, fit, strict=True) if takes]
                arms = {name: Command((name, "{problem}")) for name in names}
                open_ones[group] = Portfolio(
                    arms,
                    BUDGET,
                    table.deadline,
                    engine=engine,
                    cost=cost,
                    seed=seed,
                    name=group,
                    stop="first",
                    watch=0.0,
                )  # type: ignore[call-overload]
            result = open_ones[group].solve(table.problems[row])
            paid[place] = min(
                (run.seconds for run in result.runs if run.accepted), default=table.deadline
            )
    finally:
        for each in open_ones.values():
            each.close()
    return paid


def solve_costs(table: Measured, order: Sequence[int], seed: int) -> np.ndarray:
    """Seconds for each problem as `pickbest solve` learns."""
    books: dict[str, AskTell] = {}
    paid = np.empty(len(order))
    for place, row in enumerate(order):
        fit = table.takes[row]
        names = [name for name, takes in zip(table.solvers, fit, strict=True) if takes]
        group = table.groups[row]
        if group not in books:
            books[group] = AskTell(names, min(BUDGET, len(names)), name=group or "all", seed=seed)
        ledger = books[group].ledger
        arms, weights = ledger.look(lambda state: state.live.pick(state.next_round)[:2])
        took = {arm: table.seconds[row, table.solvers.index(arm)] for arm in arms}
        first = min(*took.values(), table.deadline)
        runs = tuple(_told(arm, seconds, first) for arm, seconds in took.items())
        call = Call(
            id=str(place), at=place + 1.0, key=group, problem=table.problems[row], digests=(),
            arms=tuple(names), picked=tuple(arms), weights=tuple(weights or ()), given=False,
            seconds=first, cpu=first, winner=None, runs=runs,
        )  # fmt: skip
        for lesson in lessons(call, {}):
            ledger.note([(lesson.problem, lesson.weights, lesson.record)])
        paid[place] = first
    for book in books.values():
        book.close()
    return paid


def _told(arm: str, seconds: float, first: float) -> Run:
    ends = seconds <= first
    status, cost = (RunStatus.FINISHED, COST.of(seconds)) if ends else (RunStatus.STOPPED, None)
    return Run(arm, status, cost, min(seconds, first))


def random_costs(table: Measured, order: Sequence[int], seed: int, fit: bool) -> np.ndarray:
    """Two solvers at random for each problem; fit: of those that take it."""
    rng = np.random.default_rng([seed, 1])
    paid = []
    for row in order:
        among = np.flatnonzero(table.takes[row] | (not fit))
        paid.append(table.paid[row, rng.permutation(among)[:BUDGET]].min())
    return np.array(paid)


@dataclass(frozen=True)
class Way:
    """A way to choose: seconds for each order and problem."""

    name: str
    seconds: np.ndarray
    cores: int = BUDGET

    def __str__(self) -> str:
        return self.name


def ways(table: Measured, progress: Callable[[str], None] = lambda text: None) -> list[Way]:
    """All ways, on the same orders; the first is the portfolio as `pickbest solve` has it."""
    orders = [
        np.random.default_rng([seed, 0]).permutation(len(table.problems)) for seed in range(ORDERS)
    ]

    def on_all(name: str, play: Callable[[np.ndarray, int], np.ndarray]) -> Way:
        progress(name)
        return Way(name, np.array([play(order, seed) for seed, order in enumerate(orders)]))

    grouped = len(set(table.groups)) > 1
    found = [on_all("`pickbest solve`", lambda order, seed: solve_costs(table, order, seed))]
    if grouped:
        found.append(
            on_all(
                "portfolio, a learner for each logic",
                lambda order, seed: portfolio_costs(table, order, seed, False, COST),
            )
        )
    found.append(
        on_all(
            "portfolio, one learner",
            lambda order, seed: portfolio_costs(table, order, seed, True, COST),
        )
    )
    found.append(
        on_all(
            "portfolio, one learner, cost = runtime / deadline",
            lambda order, seed: portfolio_costs(table, order, seed, True),
        )
    )
    found.append(
        on_all("random pairs", lambda order, seed: random_costs(table, order, seed, False))
    )
    if grouped:
        name = "random pairs of those that take the logic"
        found.append(on_all(name, lambda order, seed: random_costs(table, order, seed, True)))
    paid = table.paid

    def fixed(name: str, seconds: np.ndarray, cores: int = BUDGET) -> Way:
        return Way(name, np.array([seconds[order] for order in orders]), cores)

    pairs = {
        pair: paid[:, list(pair)].min(axis=1)
        for pair in combinations(range(len(table.solvers)), BUDGET)
    }
    best = min(pairs, key=lambda pair: float(pairs[pair].sum()))
    names = " + ".join(table.solvers[place] for place in best)
    found.append(fixed(f"best pair in hindsight: {names}", pairs[best]))
    if grouped:
        groups = np.array(table.groups)
        by_group = np.empty(len(paid))
        for group in set(table.groups):
            rows = groups == group
            by_group[rows] = min((pairs[pair][rows] for pair in pairs), key=np.sum)
        found.append(fixed("best pair of each logic in hindsight", by_group))
    found += [
        fixed(f"{table.solvers[place]} alone", paid[:, place], 1)
        for place in np.argsort(paid.mean(axis=0))
    ]
    found.append(fixed("average single solver", paid.mean(axis=1), 1))
    found.append(fixed("all solvers at once", paid.min(axis=1), len(table.solvers)))
    return found


def report(table: Measured, found: Sequence[Way], title: str) -> str:
    """Markdown: totals, and how the portfolio compares with each way, paired by order."""
    ours = found[0]
    count = len(table.problems)
    lines = [
        f"| {title} | cores | seconds | solved | compared with the portfolio, s [95 %] |",
        "|---|---:|---:|---:|---:|",
    ]
    for way in found:
        total = way.seconds.sum(axis=1)
        solved = (way.seconds < table.deadline).mean()
        shown = "" if way is ours or "average" in way.name else f"{solved:.1%}"
        shown = f"{solved:.1%}" if way is ours else shown
        lines.append(
            f"| {way} | {way.cores} | {total.mean():.1f} | {shown} | "
            f"{'' if way is ours else _interval(way, ours)} |"
        )
    lines += ["", f"{count} problems, deadline {table.deadline:g} s; seconds for all problems, "
              f"unsolved ones with the deadline; mean over {ORDERS} orders."]  # fmt: skip
    return "\n".join([*lines, "", *verdicts(found)]) + "\n"


def verdicts(found: Sequence[Way]) -> list[str]:
    """What the issue asks for, said plainly."""
    ours = found[0]
    total = ours.seconds.sum(axis=1).mean()
    said = []
    for name in ("average single solver", "random pairs"):
        other = next(way for way in found if way.name == name)
        low, high = _bounds(other, ours)
        won = "beats" if low > 0 else "does not beat" if high < 0 else "is level with"
        share = 1.0 - total / other.seconds.sum(axis=1).mean()
        said.append(f"- The portfolio {won} {name}: {share:.1%} less time.")
    best = next(way for way in found if way.name.startswith("best pair in hindsight"))
    over = total / best.seconds.sum(axis=1).mean() - 1.0
    within = "within" if over <= 0.1 else "not within"
    said.append(f"- It is {within} 10 % of the best pair in hindsight: {over:+.1%}.")
    half = ours.seconds.shape[1] // 2
    late = ours.seconds[:, half:].sum() / best.seconds[:, half:].sum() - 1.0
    said.append(f"- In the second half of each order it is {late:+.1%} from that pair.")
    return said


def _bounds(way: Way, ours: Way) -> tuple[float, float]:
    """A 95 % interval of how many seconds more than the portfolio a way takes."""
    more = way.seconds.sum(axis=1) - ours.seconds.sum(axis=1)
    error = T_95 * more.std(ddof=1) / math.sqrt(len(more))
    return float(more.mean() - error), float(more.mean() + error)


def _interval(way: Way, ours: Way) -> str:
    low, high = _bounds(way, ours)
    return f"{(low + high) / 2:+.1f} [{low:+.1f}, {high:+.1f}]"
