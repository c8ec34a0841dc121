"""One call: problems, the solvers that take them, a race each, and what a solver would print."""

import json
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.codec import plain
from pickbest.core.text import printable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.handling import Answers, Evaluator, Outputs
from pickbest.portfolio.run.answers.reading import AnswerFormat, suffix_of
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.run.arms import Command
from pickbest.portfolio.run.costs import Solved
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import Limits, Result, Run, RunStatus
from pickbest.portfolio.solve.known import (
    DIMACS,
    INSIDE,
    Solver,
    installed,
    solver_table,
)
from pickbest.portfolio.solve.learning import due, learn_in_background
from pickbest.portfolio.solve.memory import Memory
from pickbest.portfolio.solve.problem import SUFFIXES, Problem, opened
from pickbest.portfolio.solve.stock import Stock, Streams, TimeUp
from pickbest.portfolio.solve.words import DAY, Arguments

UNANSWERED, CONTRADICTION = 1, 3
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
        self.engine = LocalEngine(forked=True)
        self.answers = Answers(outputs=_outputs())
        os.environ[INSIDE] = "1"  # solvers inherit it
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
            if notice := self.stock.notice():
                self.streams.say(f"note: {notice}")
        if len(codes) == 1:
            return codes[0]
        return next((code for code in (CONTRADICTION, UNANSWERED) if code in codes), 0)

    def _one(self, problem: Problem) -> int:
        """What a solver would end with."""
        call, streams = self.arguments, self.streams
        if len(call.files) > 1 and not call.as_json:
            comment = "c" if problem.format == DIMACS else ";"
            streams.write([f"{comment} {printable(problem.name)}\n".encode()])
        arms = solvers_for(problem, call, self.table, self.started + call.deadline)
        if problem.checks == 0:
            return self._without_question(problem, arms)
        memory = Memory(self.folder, problem.digest, problem.place)
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
        return code

    def _raced(self, problem: Problem, arms: Mapping[str, Command], memory: Memory) -> Result:
        """Race solvers on a problem, and keep on disk what came of it."""
        call = self.arguments
        names, budget = tuple(arms), min(call.budget, len(arms))
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
            evaluate=Evaluator(self.engine, ends),
            check=lambda run: memory.refuted(run) or None,
            wanted=2 if call.confirm else 1,
        )
        race = Race(timed, self.engine, COST, left, Limits(call.memory), answers=answers)
        result, _ = race.run(ticket, problem.path)
        ran = [run for run in result.runs if run.status is not RunStatus.STOPPED or run.seconds > 0]
        result = replace(result, runs=tuple(ran))
        if not call.solvers and not call.frozen:
            own = weights if picked == offered else ()
            self.stock.tell(logged(problem, key, names, picked, own, result))
            self.learn = self.learn or (budget < len(arms) and due(self.stock, key))
        return result

    def _without_question(self, problem: Problem, arms: Mapping[str, Command]) -> int:
        """A script that asks nothing: one solver may say what it has to say."""
        (name, arm), *_ = arms.items()
        left = max(self.started + self.arguments.deadline - time.monotonic(), SHORTEST)
        task = arm.task(name, problem.path, left, Limits(self.arguments.memory))
        (run,) = self.engine.race([task], lambda run: False, lambda: False)
        self.streams.write([run.stdout.encode(errors="replace")])
        return run.exit_code or 0

    def _code(
        self, problem: Problem, result: Result, winner: Run | None, disputes: Sequence[str]
    ) -> int:
        if disputes:
            return CONTRADICTION
        if winner is not None:
            formula = problem.format == DIMACS
            return CODES.get(winner.verdict, 0) if formula else winner.exit_code or 0
        failed = all(_failed(run) for run in result.runs)
        return UNANSWERED if failed or self.arguments.fail_unknown else 0

    def _say_who(self, problem: Problem, result: Result, winner: Run | None) -> None:
        """What nobody asked to see is said all the same: who is wrong, why there is no answer."""
        for run in result.runs:
            bad = _failed(run)
            if self.arguments.who or run.status is RunStatus.WRONG or (bad and winner is None):
                won = "answered" if run is winner else run.reason or str(run.status)
                verdict = f" {run.verdict}" if run.verdict else ""
                self.streams.say(f"{problem.name}: {run.arm}:{verdict} {won}, {run.seconds:.3f} s")


def solvers_for(
    problem: Problem, call: Arguments, table: Sequence[Solver], until: float = math.inf
) -> dict[str, Command]:
    """The arms of a call by name: installed, fit for the problem, and wanted.

    until: when a check of their models must be done, by time.monotonic.
    """
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
    format: AnswerFormat = SmtLib(asked=problem.checks, until=until)
    if problem.format == DIMACS:
        format = Dimacs()
    for name in dict.fromkeys(wanted):
        if name in found:
            argv = found[name].on(problem.path_for(found[name].solver.needs_logic))
            if name == call.called:
                argv = (argv[0], *call.passed, *argv[1:])
            arms[name] = Command(argv, answer=format)
    return arms


def logged(
    problem: Problem,
    key: str,
    arms: Sequence[str],
    picked: Sequence[str],
    weights: Sequence[float],
    result: Result,
) -> dict[str, Any]:
    """A call as the log keeps it; runs are those that started."""
    winner = next((run for run in result.runs if run.arm == result.winner), None)
    return {
        "at": time.time(),
        "key": key,
        "problem": problem.name[-200:],
        "content": problem.digest.hex(),
        "place": problem.place.hex(),
        "arms": list(arms),
        "picked": list(picked),
        "weights": list(weights),
        "learns": len(picked) < len(arms),
        "seconds": round(result.seconds, 6),
        "winner": result.winner,
        "verdict": winner.verdict[:100] if winner else "",
        "proved": winner.checked if winner else False,
        "runs": [
            {
                "arm": run.arm,
                "status": run.status.value,
                "cost": run.cost,
                "seconds": round(run.seconds, 6),
                "cpu": round(run.cpu_seconds, 6),
                "reason": run.reason[:200],
                "verdict": run.verdict[:100],
                "checked": run.checked,
                "accepted": run.accepted,
            }
            for run in result.runs
        ],
    }


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
    errors = [
        line
        for run in result.runs
        for line in run.stdout.splitlines()
        if line.startswith("(error") and problem.format != DIMACS
    ]
    if errors and all(_failed(run) for run in result.runs):
        yield f"{errors[0]}\n".encode()
    else:
        yield b"s UNKNOWN\n" if problem.format == DIMACS else b"unknown\n"


def _failed(run: Run) -> bool:
    """Whether a solver could make nothing of the problem."""
    failed = (RunStatus.CRASHED, RunStatus.BROKEN, RunStatus.WRONG)
    return run.status in failed or "(error" in run.reason


def _as_json(problem: Problem, result: Result, code: int, contradictions: list[str]) -> bytes:
    shown = plain(replace(result, problem=problem.name)) | {"contradictions": contradictions}
    logic = None if problem.format == DIMACS else problem.logic
    told = {"format": problem.format, "logic": logic, **shown, "exit_code": code}
    return f"{json.dumps(told)}\n".encode()


class _NoOutputs(Outputs):
    """Where there is no room for long outputs, their ends are kept in memory."""

    def __init__(self) -> None:
        pass

    def spool(self, number: int, place: int) -> str:
        return ""

    def keep(self, number: int, winner: Run | None, runs: Iterable[Run]) -> str:
        return ""

    def close(self) -> None:
        pass


def _outputs() -> Outputs:
    try:
        return Outputs()
    except OSError:
        return _NoOutputs()


def late_answer(call: Arguments, streams: Streams) -> int:
    """What is printed when the deadline ended a call before it knew, or could print, anything."""
    format = SUFFIXES.get(suffix_of(call.files[0]))
    try:
        streams.write([b"s UNKNOWN\n" if format == DIMACS else b"unknown\n"])
    except (TimeUp, OSError):  # nobody reads what is printed
        return UNANSWERED
    return UNANSWERED if call.fail_unknown else 0
