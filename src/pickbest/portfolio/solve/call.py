"""One call: problems, the solvers that take them, a race each, and what a solver would print."""

import json
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pickbest.core import PickbestError, unknown_name
from pickbest.core.codec import plain
from pickbest.core.text import printable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.guards import ForkedGuards
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.formats import as_format
from pickbest.portfolio.run.answers.handling import Answers, Evaluator
from pickbest.portfolio.run.arms import Command
from pickbest.portfolio.run.costs import Solved
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import Limits, Result, Run, RunStatus
from pickbest.portfolio.solve.known import DIMACS, INSIDE, Solver, installed, solver_table
from pickbest.portfolio.solve.learning import due, learn_in_background
from pickbest.portfolio.solve.memory import Memory
from pickbest.portfolio.solve.problem import Problem, opened
from pickbest.portfolio.solve.stock import Stock
from pickbest.portfolio.solve.words import DAY, Arguments
from pickbest.portfolio.store.records import Finished

UNANSWERED, BAD_INPUT, CONTRADICTION = 1, 2, 3
CODES = {"SAT": 10, "UNSAT": 20}
SAID = {"SAT": "s SATISFIABLE", "UNSAT": "s UNSATISFIABLE"}
# Seconds: who solved this very problem more quickly goes first alone, for twice as long and a
# little more; then the others join.
QUICK, HEAD_START = 1.0, 0.1
# Of a deadline that was set: after this share, all other solvers join those that were picked.
JOIN_AFTER = 0.6
# What is left of a deadline is at least so much: zero is no deadline.
SHORTEST = 1e-3


@dataclass(frozen=True)
class LogRuntime(Solved):
    """Where the runtime lies between a millisecond (0) and an hour (1), in powers; 1 if unsolved.

    Nobody says beforehand how long problems take, and a solver that takes twice as long should be
    noticed on problems of a tenth of a second as well as on problems of a minute.
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


@dataclass(frozen=True)
class Streams:
    """Standard input, output and error."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def write(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self.stdout.write(piece)
        self.stdout.flush()

    def say(self, text: str) -> None:
        try:
            self.stderr.write(f"{printable(text)}\n".encode())
            self.stderr.flush()
        except OSError:  # nobody listens
            pass


class Caller:
    """What the problems of one call share. started: by time.monotonic."""

    def __init__(
        self, arguments: Arguments, streams: Streams, folder: Path | None, started: float
    ) -> None:
        self.arguments = arguments
        self.streams = streams
        self.folder = folder
        self.started = started
        self.stock = Stock(folder)
        self.table = solver_table(arguments.tables)
        self.engine = LocalEngine(guards=ForkedGuards())
        self.answers = Answers(evaluate=Evaluator(self.engine))
        self.learn = False

    def run(self) -> int:
        """Solve all problems, print, and leave what is to be learned; the exit code."""
        codes = []
        try:
            for name in self.arguments.files:
                with opened(
                    name, self.streams.stdin, self.arguments.logic, self.arguments.most_bytes
                ) as problem:
                    codes.append(self._one(problem))
                self.started = time.monotonic()
        finally:
            self.engine.close()
            self.answers.outputs.close()
            if self.learn and self.folder is not None:
                learn_in_background(self.folder)
        solved, code = zip(*codes, strict=True)
        if len(code) == 1 or CONTRADICTION in code:
            return CONTRADICTION if CONTRADICTION in code else code[0]
        return 0 if all(solved) else UNANSWERED

    def _one(self, problem: Problem) -> tuple[bool, int]:
        """(whether it was solved, what a solver would end with)."""
        call, streams = self.arguments, self.streams
        if len(call.files) > 1 and not call.as_json:
            comment = "c" if problem.format == DIMACS else ";"
            streams.write([f"{comment} {printable(problem.name)}\n".encode()])
        arms = solvers_for(problem, call, self.table)
        if problem.checks == 0:
            return self._without_question(problem, arms)
        memory = Memory(self.folder, problem)
        result = self._raced(problem, arms, memory)
        winner = next((run for run in result.runs if run.arm == result.winner), None)
        disputes = [text for run in result.runs if (text := memory.contradicted(run))]
        if call.confirm:
            winner, disputes = _confirmed(result, winner, disputes)
        for text in disputes:
            streams.say(f"contradiction: {problem.name}: {text}")
        code = self._code(problem, result, winner, disputes)
        if call.as_json:
            streams.write([_as_json(problem, result, code, disputes)])
        elif winner is not None:
            streams.write(printed(problem, winner))
        else:
            streams.write(_no_answer(problem, result))
        self._say_who(problem, result, winner)
        if winner is not None and not call.frozen:
            memory.remember(winner)
        return winner is not None, code

    def _raced(self, problem: Problem, arms: Mapping[str, Command], memory: Memory) -> Result:
        """Race solvers on a problem, and keep on disk what came of it."""
        call = self.arguments
        names, budget = tuple(arms), min(call.budget, len(arms))
        learns = not call.solvers and not call.frozen and budget < len(arms)
        key = f"{problem.kind}-{budget}"
        chosen_by = problem.digest if call.frozen else b""
        offered, weights = self.stock.picked(key, names, budget, chosen_by)
        picked = offered
        favourite = memory.favourite.solver if memory.favourite else ""
        if favourite in arms:
            rest = [arm for arm in picked if arm != favourite]
            picked = (favourite, *rest)[:budget]
        ends = self.started + call.deadline
        left = max(ends - time.monotonic(), SHORTEST)
        after = dict.fromkeys(picked, 0.0)
        known = memory.before if picked[0] == favourite and not call.confirm else None
        if known is not None and known.seconds < QUICK:
            late = HEAD_START + 2.0 * known.seconds
            after |= dict.fromkeys(picked[1:], min(late, JOIN_AFTER * left))
        others = [name for name in names if name not in picked]
        after |= dict.fromkeys(others, JOIN_AFTER * left if call.deadline < DAY else DAY)
        ticket = Ticket(0, (*picked, *others), watched=False)
        timed = {name: replace(arms[name], after=seconds) for name, seconds in after.items()}
        answers = replace(
            self.answers,
            check=lambda run: memory.refuted(run) or None,
            wanted=2 if call.confirm else 1,
        )
        race = Race(timed, self.engine, COST, left, Limits(call.memory), answers=answers)
        result, _ = race.run(ticket, problem.path)
        ran = [run for run in result.runs if run.status is not RunStatus.STOPPED or run.seconds > 0]
        for record in lessons(ran, picked, budget) if learns else ():
            as_offered = tuple(run.arm for run in record.runs) == offered
            self.stock.tell(key, names, problem.name, weights if as_offered else (), record)
        self.learn = self.learn or (learns and due(self.stock, key))
        return replace(result, runs=tuple(ran))

    def _without_question(self, problem: Problem, arms: Mapping[str, Command]) -> tuple[bool, int]:
        """A script that asks nothing: one solver may say what it has to say."""
        (name, arm), *_ = arms.items()
        left = max(self.started + self.arguments.deadline - time.monotonic(), SHORTEST)
        task = arm.task(name, problem.path, left, Limits(self.arguments.memory))
        (run,) = self.engine.race([task], lambda run: False, lambda: False)
        self.streams.write([run.stdout.encode(errors="replace")])
        return True, run.exit_code or 0

    def _code(
        self, problem: Problem, result: Result, winner: Run | None, disputes: Sequence[str]
    ) -> int:
        if disputes:
            return CONTRADICTION
        if winner is not None:
            formula = problem.format == DIMACS
            return CODES.get(winner.verdict, 0) if formula else winner.exit_code or 0
        failed = (RunStatus.CRASHED, RunStatus.BROKEN, RunStatus.WRONG)
        if all(run.status in failed for run in result.runs):
            return UNANSWERED
        return UNANSWERED if self.arguments.fail_unknown else 0

    def _say_who(self, problem: Problem, result: Result, winner: Run | None) -> None:
        """What nobody asked to see is said all the same: who is wrong, why there is no answer."""
        for run in result.runs:
            bad = run.status in (RunStatus.CRASHED, RunStatus.BROKEN)
            if self.arguments.who or run.status is RunStatus.WRONG or (bad and winner is None):
                won = "answered" if run is winner else run.reason or str(run.status)
                verdict = f" {run.verdict}" if run.verdict else ""
                self.streams.say(f"{problem.name}: {run.arm}:{verdict} {won}, {run.seconds:.3f} s")


def solvers_for(problem: Problem, call: Arguments, table: Sequence[Solver]) -> dict[str, Command]:
    """The arms of a call by name: installed, fit for the problem, and wanted."""
    names = list(dict.fromkeys(solver.name for solver in table))
    for name in call.solvers:
        if name not in names:
            raise unknown_name("solver", name, names)
    found = installed(problem.format, problem.logic, problem.models, problem.incremental, table)
    wanted = call.solvers or tuple(found)
    if not any(name in found for name in wanted):
        fit = list(dict.fromkeys(s.name for s in table if s.format == problem.format))
        what = problem.format if problem.format == DIMACS else f"{problem.format} {problem.logic}"
        raise PickbestError(
            f"no solver for {what} is installed; install one of "
            f"{', '.join([name for name in fit if name in wanted] or fit)}"
        )
    arms = {}
    for name in dict.fromkeys(wanted):
        if name in found:
            argv = found[name].on(problem.path_for(found[name].solver.needs_logic))
            if name == call.called:
                argv = (argv[0], *call.passed, *argv[1:])
            format = as_format(problem.format)
            arms[name] = Command(argv, answer=format, env=((INSIDE, "1"),))
    return arms


def lessons(ran: Sequence[Run], picked: Sequence[str], budget: int) -> Iterator[Finished]:
    """What a race teaches: of those that were picked, and of one that answered in their place.

    A solver that was stopped counts as if it had not answered: it is credited for what it adds to
    the solvers beside it, not for what another would have delivered anyway.
    """
    first = sorted((run for run in ran if run.arm in picked), key=lambda run: picked.index(run.arm))
    later = sorted((run for run in ran if run.arm not in picked), key=lambda run: not run.accepted)
    for runs in (first, later[:budget] if any(run.accepted for run in later) else []):
        if len(runs) == budget:
            winner = min((run for run in runs if run.accepted), key=_quickest, default=None)
            costs = tuple(run.high for run in runs)
            yield Finished(
                0,
                tuple(run.kept() for run in runs),
                low=costs,
                high=costs,
                times=costs,
                winner=winner.arm if winner else None,
                cost=winner.cost if winner else 1.0,
                at=time.time(),
            )


def _quickest(run: Run) -> float:
    return run.seconds


def _confirmed(
    result: Result, winner: Run | None, disputes: list[str]
) -> tuple[Run | None, list[str]]:
    """The winner if another solver says the same; who contradicts whom."""
    said = [run for run in result.runs if run.accepted and run.verdict]
    found = [
        f"{run.verdict} by {run.arm} contradicts {winner.verdict} by {winner.arm}"
        for run in said
        if winner is not None and run.verdict != winner.verdict
    ]
    agree = winner is not None and sum(run.verdict == winner.verdict for run in said) >= 2
    return (winner if agree and not found else None), disputes + found


def printed(problem: Problem, winner: Run) -> Iterator[bytes]:
    """What goes to standard output, in pieces: alike whoever won."""
    if problem.format == DIMACS:
        yield f"{SAID[winner.verdict]}\n".encode()
        if winner.verdict == "SAT":
            yield from _values(winner.lines(), problem.variables)
    elif winner.spool:
        with open(winner.spool, "rb") as file:
            for line in file:
                yield re.sub(rb"^\(model\b", b"(", line)
    else:
        # SMT-LIB 2.6 has no word before the definitions of a model.
        yield re.sub(r"(?m)^\(model\b", "(", winner.stdout).encode(errors="replace")


def _values(lines: Iterator[bytes], variables: int) -> Iterator[bytes]:
    """A model as `v` lines, whoever wrote it, with a value for every variable of the header."""
    missing = set(range(1, variables + 1)) if variables <= 10**7 else set()
    for line in lines:
        words = line.strip()
        words = words[2:] if words[:2] in (b"v ", b"V ") else words
        numbers = words.split()
        if not numbers or not words.replace(b"-", b"").replace(b" ", b"").isdigit():
            continue
        missing.difference_update(abs(int(number)) for number in numbers)
        kept = [number for number in numbers if number != b"0"]
        if kept:
            yield b"v " + b" ".join(kept) + b"\n"
    left = sorted(missing)
    for start in range(0, len(left), 20):
        yield b"v " + b" ".join(b"-%d" % each for each in left[start : start + 20]) + b"\n"
    yield b"v 0\n"


def _no_answer(problem: Problem, result: Result) -> Iterator[bytes]:
    """Unknown; where no solver understood the script, what the first of them says of it."""
    crashed = [run for run in result.runs if run.status is RunStatus.CRASHED and run.stdout]
    if problem.format != DIMACS and crashed and len(crashed) == len(result.runs):
        yield crashed[0].stdout.encode(errors="replace")
    else:
        yield b"s UNKNOWN\n" if problem.format == DIMACS else b"unknown\n"


def _as_json(problem: Problem, result: Result, code: int, contradictions: list[str]) -> bytes:
    shown = plain(replace(result, problem=problem.name)) | {"contradictions": contradictions}
    logic = None if problem.format == DIMACS else problem.logic
    told = {"format": problem.format, "logic": logic, **shown, "exit_code": code}
    return f"{json.dumps(told)}\n".encode()


def nested() -> bool:
    """Whether this call is a solver of another call: a race within a race would never end."""
    return INSIDE in os.environ
