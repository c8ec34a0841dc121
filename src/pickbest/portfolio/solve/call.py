"""One call: problems, the solvers that take them, a race each, and what a solver would print."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pickbest.core.codec import plain
from pickbest.core.errors import PickbestError, unknown_name
from pickbest.core.text import printable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.commands import answers_as_asked
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.handling import Answers, Evaluator, Outputs
from pickbest.portfolio.run.answers.reading import AnswerFormat, suffix_of
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.run.arms import Command
from pickbest.portfolio.run.costs import LogRuntime
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import Limits, Result, Run, RunStatus
from pickbest.portfolio.solve.keep import Keep, Remembered
from pickbest.portfolio.solve.known import (
    DIMACS,
    INSIDE,
    Installed,
    Solver,
    installed,
    solver_table,
)
from pickbest.portfolio.solve.learning import due, known_versions, learn_in_background
from pickbest.portfolio.solve.problem import SUFFIXES, Problem, opened
from pickbest.portfolio.solve.words import DAY, Arguments, Streams, TimeUp

UNANSWERED, CONTRADICTION = 1, 3
CODES = {"SAT": 10, "UNSAT": 20}
SAID = {"SAT": "s SATISFIABLE", "UNSAT": "s UNSATISFIABLE"}
# The favourite goes first alone, for so many seconds and twice as long as it took then, or as such
# problems usually take; after that the others join.
HEAD_START, TIMES = 0.1, 2.0
# With this chance they start together all the same: nobody else would notice that there is a
# quicker one now.
CHECK_ANEW = 0.1
# Of a deadline that was set: after this share, all other solvers join those that were picked.
JOIN_AFTER = 0.6
# What is left of a deadline is at least so much: zero is no deadline.
SHORTEST = 1e-3
COST = LogRuntime()


class Caller:
    """What the problems of one call share. started: by time.monotonic."""

    def __init__(
        self, arguments: Arguments, streams: Streams, folder: str | None, started: float
    ) -> None:
        self.arguments = arguments
        self.streams = streams
        self.folder = folder
        self.started = started
        self.keep = Keep(folder)
        self.table = solver_table(arguments.tables)
        self.engine = LocalEngine(forked=True)
        self.answers = Answers(outputs=Outputs())
        os.environ[INSIDE] = "1"  # solvers inherit it
        self.learn = False

    def run(self) -> int:
        """Solve all problems, print, and leave what is to be learned; the exit code."""
        codes = []
        try:
            for name in self.arguments.files:
                with opened(name, self.streams.stdin) as problem:
                    codes.append(self._one(problem))
                self.started = time.monotonic()
        finally:
            self.engine.close()
            self.answers.outputs.close()
            if self.learn and self.folder is not None:
                learn_in_background(self.folder)
            if notice := self.keep.notice():
                self.streams.say(f"note: {notice}")
            self.keep.close()
        if len(codes) == 1:
            return codes[0]
        return next((code for code in (CONTRADICTION, UNANSWERED) if code in codes), 0)

    def _one(self, problem: Problem) -> int:
        """What a solver would end with."""
        call, streams = self.arguments, self.streams
        if len(call.files) > 1 and not call.as_json:
            comment = "c" if problem.format == DIMACS else ";"
            streams.write([f"{comment} {printable(problem.name)}\n".encode()])
        here = solvers_for(problem, call, self.table)
        arms = commands(problem, call, here, self.started + call.deadline)
        if problem.checks == 0:
            return self._without_question(problem, arms)
        before = self.keep.solved(problem.digest)
        favourite = before or (self.keep.solved(problem.place) if problem.place else None)
        start = self._start(problem, arms, favourite)
        result = self._raced(problem, arms, start, before)
        winner = next((run for run in result.runs if run.arm == result.winner), None)
        disputes = [text for run in result.runs if before and (text := before.contradicts(run))]
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
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # the answer is out: its deadline is over
        self._say_who(problem, result, winner)
        if not call.frozen:
            self._remember(problem, here, start, result, winner)
        return code

    def _start(
        self, problem: Problem, arms: Mapping[str, Command], favourite: Remembered | None
    ) -> Start:
        """Which solvers run, and when: one that solved this goes first, then the learner picks."""
        from random import random  # milliseconds, which errors do without

        call = self.arguments
        names, budget = tuple(arms), min(call.budget, len(arms))
        key = f"{problem.kind}-{budget}"
        chosen_by = problem.digest if call.frozen else b""
        picked, weights = self.keep.picked(key, names, budget, chosen_by)
        left = max(self.started + call.deadline - time.monotonic(), SHORTEST)
        last = JOIN_AFTER * left if call.deadline < DAY else DAY
        usual, given = 0.0, favourite is not None and favourite.solver in arms
        if favourite and given:
            others = [arm for arm in picked if arm != favourite.solver]
            picked, weights = (favourite.solver, *others)[:budget], ()
            usual = favourite.seconds
            if not call.frozen and random() < CHECK_ANEW:
                usual = 0.0
        elif not call.frozen and spare_cores() < budget:
            usual = self.keep.usual(key)
        late = HEAD_START + TIMES * usual if usual and not call.confirm else 0.0
        after = dict.fromkeys(names, last) | dict.fromkeys(picked, min(late, last))
        return Start(key, picked, weights, {**after, picked[0]: 0.0}, left, given)

    def _raced(
        self, problem: Problem, arms: Mapping[str, Command], start: Start, before: Remembered | None
    ) -> Result:
        """Race solvers on a problem; only runs that began are in the result."""
        call = self.arguments
        others = [name for name in arms if name not in start.picked]
        ticket = Ticket(0, (*start.picked, *others), watched=False)
        timed = {name: replace(arms[name], after=start.after[name]) for name in ticket.arms}
        answers = replace(
            self.answers,
            evaluate=Evaluator(self.engine, self.started + call.deadline),
            check=lambda run: str(before) if before and before.refutes(run) else None,
            wanted=2 if call.confirm else 1,
        )
        race = Race(timed, self.engine, COST, start.left, Limits(call.memory), answers=answers)
        result = race.run(ticket, problem.path)
        ran = [run for run in result.runs if run.status is not RunStatus.STOPPED or run.seconds > 0]
        return replace(result, runs=tuple(ran))

    def _remember(
        self,
        problem: Problem,
        here: Mapping[str, Installed],
        start: Start,
        result: Result,
        winner: Run | None,
    ) -> None:
        """Keep what came of a call, and see to it that it is learned."""
        versions = known_versions(self.keep, here)
        told = logged(problem, start, versions, result, winner)
        is_learned = not self.arguments.solvers
        self.keep.tell([told], is_learned)
        some = is_learned and len(start.picked) < len(here)
        self.learn = self.learn or (some and due(self.keep, start.key))

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


class Start(NamedTuple):
    """The solvers that run on a problem. key: what they are learned under. weights: of the pick.

    after: when each solver starts, in seconds. left: seconds for all of them. given: somebody
    solved the problem before, so that the learner did not choose.
    """

    key: str
    picked: tuple[str, ...]
    weights: tuple[float, ...]
    after: Mapping[str, float]
    left: float
    given: bool


def spare_cores() -> int:
    """How many processors have nothing to do now, but for this process; 0: nobody knows."""
    try:
        with open("/proc/loadavg") as file:
            running = int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 0
    return max((os.cpu_count() or 1) - max(running - 1, 0), 0)


def solvers_for(
    problem: Problem, call: Arguments, table: Mapping[str, Solver]
) -> dict[str, Installed]:
    """The solvers of a call by name: installed, fit for the problem, and wanted."""
    for name in call.solvers:
        if name not in table:
            raise unknown_name("solver", name, table)
    needs = problem.format, problem.logic, problem.models, problem.incremental
    found = installed(*needs, table.values())
    wanted = dict.fromkeys(call.solvers or found)
    if here := {name: found[name] for name in wanted if name in found}:
        return here
    fit = [name for name, solver in table.items() if solver.format == problem.format]
    what = problem.format if problem.format == DIMACS else f"{problem.format} {problem.logic}"
    raise PickbestError(
        f"no solver for {what} is installed; install one of "
        f"{', '.join([name for name in fit if name in wanted] or fit)}"
    )


def commands(
    problem: Problem, call: Arguments, here: Mapping[str, Installed], until: float
) -> dict[str, Command]:
    """The arms of a call. until: when checks of models must be done, by time.monotonic."""
    format: AnswerFormat = Dimacs()
    if problem.format != DIMACS:
        format = SmtLib(asked=problem.checks, until=until)
    arms = {}
    for name, found in here.items():
        argv = found.on(problem.path_for(found.solver.needs_logic))
        more = call.passed if name == call.called else ()
        arms[name] = Command((argv[0], *more, *argv[1:]), answer=format)
    return arms


def logged(
    problem: Problem, start: Start, versions: Mapping[str, str], result: Result, winner: Run | None
) -> dict[str, Any]:
    """A call as it is kept; runs are those that began."""
    return {
        "id": f"{time.time_ns():x}-{os.urandom(4).hex()}",
        "at": time.time(),
        "key": start.key,
        "problem": problem.name[-200:],
        "content": problem.digest.hex(),
        "place": problem.place.hex(),
        "arms": list(start.after),
        "versions": versions,
        "picked": list(start.picked),
        "weights": list(start.weights),
        "given": start.given,
        "seconds": round(result.seconds, 6),
        "winner": winner.arm if winner else None,
        "verdict": winner.verdict[:100] if winner else "",
        "proved": winner.checked if winner else False,
        "runs": [run_told(run) for run in result.runs],
    }


def run_told(run: Run) -> dict[str, Any]:
    """A run as it is kept."""
    return {
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
    else:
        lines = winner.lines()
        if problem.values:
            lines = iter(answers_as_asked(problem.content, b"\n".join(lines)).splitlines())
        # SMT-LIB 2.6 has no word before the definitions of a model.
        for line in lines:
            yield re.sub(rb"^\(model\b", b"(", line) + b"\n"


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


def late_answer(call: Arguments, streams: Streams) -> int:
    """What is printed when the deadline ended a call before it knew, or could print, anything."""
    format = SUFFIXES.get(suffix_of(call.files[0]))
    try:
        streams.write([b"s UNKNOWN\n" if format == DIMACS else b"unknown\n"])
    except (TimeUp, OSError):  # nobody reads what is printed
        return UNANSWERED
    return UNANSWERED if call.fail_unknown else 0
