"""One call: a problem, the solvers that take it, a race, and what a solver would have printed."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pickbest.core import PickbestError
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.run.answers.formats import as_format
from pickbest.portfolio.run.answers.handling import Answers
from pickbest.portfolio.run.arms import Command
from pickbest.portfolio.run.costs import Solved
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import GivenUp, Result, Run, RunStatus
from pickbest.portfolio.solve.known import DIMACS, SOLVERS, installed
from pickbest.portfolio.solve.problem import Problem
from pickbest.portfolio.store.records import Finished

DAY = 86_400.0
# What is left of a deadline is at least so much: zero is no deadline.
SHORTEST = 1e-3
# A round that no ticket was taken for: nothing is learned of it.
UNTICKETED = -1
CODES = {"SAT": 10, "UNSAT": 20}
SAID = {"SAT": "s SATISFIABLE", "UNSAT": "s UNSATISFIABLE"}


@dataclass(frozen=True)
class Options:
    """How to solve. deadline: seconds; solvers: only these, where any are named."""

    budget: int = 2
    deadline: float = DAY
    logic: str = ""
    solvers: tuple[str, ...] = ()


@dataclass(frozen=True)
class LogRuntime(Solved):
    """Where the runtime lies between a millisecond (0) and an hour (1), in powers; 1 if unsolved.

    Nobody says beforehand how long problems take, and whoever takes twice as long on problems of
    a tenth of a second should be noticed as well as on problems of a minute.
    """

    shortest: float = 1e-3
    longest: float = 3600.0

    def of(self, seconds: float, deadline: float = DAY) -> float:
        """
        >>> LogRuntime().of(3600.0)
        1.0
        """
        share = math.log(max(seconds, self.shortest) / self.shortest)
        return min(share / math.log(self.longest / self.shortest), 1.0)


COST = LogRuntime()


class Source(Protocol):
    """Where tickets come from, and where results go."""

    def take(self, problem: Problem, arms: Sequence[str], budget: int) -> Ticket[str]: ...
    def tell(self, problem: Problem, record: Finished) -> None: ...


def solvers_for(problem: Problem, options: Options) -> dict[str, Command]:
    """The arms of a call by name: installed, fit for the problem, and wanted."""
    found = installed(problem.format, problem.logic, problem.models, problem.incremental)
    if unknown := set(options.solvers) - {solver.name for solver in SOLVERS}:
        known = ", ".join(dict.fromkeys(solver.name for solver in SOLVERS))
        raise PickbestError(f"unknown solver {min(unknown)!r}; known are {known}")
    wanted = options.solvers or tuple(found)
    if not any(name in found for name in wanted):
        fit = list(dict.fromkeys(s.name for s in SOLVERS if s.format == problem.format))
        what = problem.format if problem.format == DIMACS else f"{problem.format} {problem.logic}"
        raise PickbestError(
            f"no solver for {what} is installed; install one of "
            f"{', '.join([name for name in fit if name in wanted] or fit)}"
        )
    answer = as_format(problem.format)
    return {name: Command(found[name].argv, answer=answer) for name in wanted if name in found}


def solve(
    problem: Problem,
    options: Options,
    source: Source,
    engine: Engine,
    answers: Answers,
    answered: Callable[[Run], None],
    given_up: GivenUp = lambda: False,
) -> tuple[Result, Finished]:
    """Race the picked solvers on a problem: the result, and what is to be learned of it.

    answered is told the first answer that counts, before the others are ended.
    Where all of them give up before the deadline, the others have their turn: a call answers
    whatever any solver here can answer. Only the picked ones are learned of.
    """
    arms = solvers_for(problem, options)
    budget = min(options.budget, len(arms))
    ticket = source.take(problem, tuple(arms), budget)
    ends = time.monotonic() + options.deadline
    record: Finished | None = None
    runs: tuple[Run, ...] = ()

    def ended(run: Run) -> None:
        if run.accepted:
            answered(run)

    while True:
        left = max(ends - time.monotonic(), SHORTEST)
        race = Race(arms, engine, COST, left, answers=answers)
        result, found = race.run(ticket, problem.path, given_up, ended)
        runs += result.runs
        record = record or found
        others = [name for name in arms if name not in {run.arm for run in runs}]
        if result.solved or not others or time.monotonic() >= ends:
            return replace(result, runs=runs), record
        ticket = Ticket(UNTICKETED, tuple(others[:budget]), watched=False)


def exit_code(problem: Problem, winner: Run) -> int:
    """What the winner's process ended with, or would have: 10 and 20 for formulas."""
    return CODES.get(winner.verdict, 0) if problem.format == DIMACS else winner.exit_code or 0


def failure_code(result: Result) -> int:
    """Without an answer: 0, as solvers do, but 1 where none could make sense of the problem."""
    failed = (RunStatus.CRASHED, RunStatus.BROKEN, RunStatus.WRONG)
    return 1 if all(run.status in failed for run in result.runs) else 0


def printed(problem: Problem, winner: Run) -> Iterator[bytes]:
    """What goes to standard output, in pieces."""
    if problem.format == DIMACS:
        yield f"{SAID[winner.verdict]}\n".encode()
        if winner.verdict == "SAT":
            yield from _values(winner.lines())
    elif winner.spool:
        with open(winner.spool, "rb") as file:
            while piece := file.read(1 << 20):
                yield piece
    else:
        yield winner.stdout.encode(errors="replace")


def _values(lines: Iterator[bytes]) -> Iterator[bytes]:
    """A model as `v` lines, from solvers that write them and from those that write numbers."""
    for line in lines:
        words = line.strip()
        if words[:2] in (b"v ", b"V "):
            yield b"v " + words[2:] + b"\n"
        elif words and words.replace(b"-", b"").replace(b" ", b"").isdigit():
            yield b"v " + words + b"\n"
