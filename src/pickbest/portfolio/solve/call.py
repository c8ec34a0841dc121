"""One call: a problem, the solvers that take it, a race, and what a solver would print."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from pickbest.core.codec import plain
from pickbest.core.errors import PickbestError
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.commands import answers_as_asked
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.handling import AnswerFormat, Answers, Evaluator, Outputs
from pickbest.portfolio.run.answers.reading import suffix_of
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.run.arms import Command
from pickbest.portfolio.run.costs import LogRuntime
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import Limits, Result, Run, RunStatus, contradictions
from pickbest.portfolio.solve.calls import Call, tell
from pickbest.portfolio.solve.keep import Keep, Solved
from pickbest.portfolio.solve.known import DIMACS, INSIDE, Installed, installed, solver_table
from pickbest.portfolio.solve.learning import due, learn_in_background
from pickbest.portfolio.solve.problem import SUFFIXES, Problem, opened
from pickbest.portfolio.solve.words import DAY, Arguments, Streams

UNANSWERED, CONTRADICTION = 1, 3
CODES = {"SAT": 10, "UNSAT": 20}
SAID = {"SAT": "s SATISFIABLE", "UNSAT": "s UNSATISFIABLE"}
# Who solved the problem before goes first alone, for so many seconds and twice as long as it took
# then; after that the others join.
HEAD_START, TIMES = 0.1, 2.0
# With this chance they start together all the same: nobody else would notice that there is a
# quicker one now.
CHECK_ANEW = 0.1
# Of a deadline that was set: after this share, all other solvers join those that were picked.
JOIN_AFTER = 0.6
# What is left of a deadline is at least so much: zero is no deadline.
SHORTEST = 1e-3
# Seconds that a call has after its deadline, to end its solvers and to print.
LATE = 0.15
COST = LogRuntime()


class Start(NamedTuple):
    """The solvers that run on a problem. key: what they are learned under. weights: of the pick.

    after: when each solver starts, in seconds. given: somebody solved the problem before, so that
    the learner did not choose.
    """

    key: str
    picked: tuple[str, ...]
    weights: tuple[float, ...]
    after: Mapping[str, float]
    given: bool


class TimeUp(BaseException):
    """The deadline of the whole call, with reading, checking and printing, is over."""


def solve(call: Arguments, streams: Streams, folder: str | None, started: float) -> int:
    """Make one call; its exit code. started: by time.monotonic."""
    if call.passed_over:
        streams.say(f"note: ignored options: {' '.join(call.passed_over)}")
    if folder is None:
        streams.say("note: the data folder cannot be used, so nothing is learned")
    # Solvers end with their own deadline; this is for reading, checking and printing.
    if call.deadline < DAY:
        signal.signal(signal.SIGALRM, _time_up)
        passed = time.monotonic() - started
        signal.setitimer(signal.ITIMER_REAL, max(call.deadline - passed, 0.0) + LATE)
    try:
        return Caller(call, streams, folder, started).run()
    except TimeUp:
        try:
            streams.write([_unknown(SUFFIXES.get(suffix_of(call.file)))])
        except (TimeUp, OSError):  # nobody reads what is printed
            return UNANSWERED
        return UNANSWERED if call.fail_unknown else 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _time_up(number: int, frame: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, LATE)  # what is tried then must end as well
    raise TimeUp


def _unknown(format: str | None) -> bytes:
    return b"s UNKNOWN\n" if format == DIMACS else b"unknown\n"


class Caller:
    """Makes one call."""

    def __init__(
        self, arguments: Arguments, streams: Streams, folder: str | None, started: float
    ) -> None:
        self.arguments = arguments
        self.streams = streams
        self.folder = folder
        self.until = started + arguments.deadline
        self.limits = Limits(arguments.memory_bytes)
        self.keep = Keep(folder)
        self.engine = LocalEngine(forked=True)
        self.outputs = Outputs()
        os.environ[INSIDE] = "1"  # solvers inherit it

    def run(self) -> int:
        """Solve the problem, print, and leave what is to be learned; the exit code."""
        learns = False
        try:
            with opened(self.arguments.file, self.streams.stdin) as problem:
                arms = self._arms(problem)
                if problem.checks == 0:
                    return self._without_question(problem, arms)
                start = self.start(problem, tuple(arms))
                result = self._raced(problem, arms, start)
                code = self._told(problem, result)
                signal.setitimer(signal.ITIMER_REAL, 0.0)  # the answer is out: so is its deadline
                learns = not self.arguments.frozen and self._kept(problem, start, result)
            return code
        finally:
            self.engine.close()
            self.outputs.close()
            if learns and self.folder is not None:
                learn_in_background(self.folder)
            if self.keep.damaged:
                self.streams.say(f"note: {self.keep.damaged}")
            self.keep.close()

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(self.until - time.monotonic(), SHORTEST)

    def _arms(self, problem: Problem) -> dict[str, Command]:
        call, arms = self.arguments, {}
        answer: AnswerFormat = Dimacs()
        if problem.format != DIMACS:
            answer = SmtLib(asked=problem.checks, until=self.until)
        for name, found in solvers_for(problem, call).items():
            program, *words = found.on(problem.path_for(found.solver.needs_logic))
            passed = call.passed_to(found.solver.programs)
            arms[name] = Command((program, *passed, *words), answer=answer)
        return arms

    def start(self, problem: Problem, names: tuple[str, ...]) -> Start:
        """Which solvers run, and when: one that solved this goes first, then the learner picks."""
        from random import random  # milliseconds, which errors do without

        call, budget = self.arguments, min(self.arguments.budget, len(names))
        key = f"{problem.kind}-{budget}"
        picked, weights = self.keep.picked(key, names, budget, problem.digest * call.frozen)
        favourite, late = self._favourite(problem), 0.0
        given = favourite is not None and favourite.solver in names
        if favourite and given:
            others = [arm for arm in picked if arm != favourite.solver]
            picked, weights = (favourite.solver, *others)[:budget], ()
            if not call.confirm and (call.frozen or random() >= CHECK_ANEW):
                late = HEAD_START + TIMES * favourite.seconds
        last = JOIN_AFTER * self.left if call.deadline < DAY else DAY
        after = dict.fromkeys(names, last) | dict.fromkeys(picked, min(late, last))
        return Start(key, picked, weights, {**after, picked[0]: 0.0}, given)

    def _favourite(self, problem: Problem) -> Solved | None:
        """Who solved this problem before, or one of its name."""
        known = (self.keep.solved(digest) for digest in (problem.digest, problem.place) if digest)
        return next((each for each in known if each is not None), None)

    def _raced(self, problem: Problem, arms: Mapping[str, Command], start: Start) -> Result:
        """Race solvers on a problem; only runs that began are in the result."""
        others = [name for name in arms if name not in start.picked]
        ticket = Ticket(0, (*start.picked, *others), watched=False)
        timed = {name: replace(arms[name], after=start.after[name]) for name in ticket.arms}
        answers = Answers(
            evaluate=Evaluator(self.engine, self.until),
            outputs=self.outputs,
            wanted=2 if self.arguments.confirm else 1,
        )
        race = Race(timed, self.engine, COST, self.left, self.limits, answers=answers)
        result = race.run(ticket, problem.path)
        ran = [run for run in result.runs if run.status is not RunStatus.STOPPED or run.seconds > 0]
        said = [run for run in ran if run.accepted]
        found = contradictions(problem.name, said)
        agreed = not self.arguments.confirm or (len(said) > 1 and not found)
        winner = result.winner if agreed else None
        result = replace(result, problem=problem.name, runs=tuple(ran))
        return replace(result, winner=winner, contradictions=found)

    def _told(self, problem: Problem, result: Result) -> int:
        """Print what came of the race; the exit code."""
        call = self.arguments
        winner = next((run for run in result.runs if run.arm == result.winner), None)
        code = self._code(problem, result, winner)
        for dispute in result.contradictions:
            self.streams.say(f"contradiction: {dispute}")
        if call.as_json:
            self.streams.write([_as_json(problem, result, code)])
        elif winner is not None:
            self.streams.write(printed(problem, winner))
        else:
            self.streams.write(_no_answer(problem, result))
        # What nobody asked to see is said all the same: who is wrong, why there is no answer.
        for run in result.runs:
            bad = winner is None and _failed(run)
            if call.who or run.status is RunStatus.WRONG or bad:
                won = "answered" if run is winner else run.reason or str(run.status)
                verdict = f" {run.verdict}" if run.verdict else ""
                self.streams.say(f"{problem.name}: {run.arm}:{verdict} {won}, {run.seconds:.3f} s")
        return code

    def _code(self, problem: Problem, result: Result, winner: Run | None) -> int:
        if result.contradictions:
            return CONTRADICTION
        if winner is None:
            failed = all(_failed(run) for run in result.runs)
            return UNANSWERED if failed or self.arguments.fail_unknown else 0
        return CODES[winner.verdict] if problem.format == DIMACS else winner.exit_code or 0

    def _kept(self, problem: Problem, start: Start, result: Result) -> bool:
        """Keep what came of the call; whether it is time to learn."""
        call = Call(
            id=f"{time.time_ns():x}-{os.urandom(4).hex()}",
            at=time.time(),
            key=start.key,
            problem=problem.name[-200:],
            digests=tuple(filter(None, (problem.digest, problem.place))),
            arms=tuple(start.after),
            picked=start.picked,
            weights=start.weights,
            given=start.given,
            seconds=round(result.seconds, 6),
            cpu=round(sum(run.cpu_seconds for run in result.runs), 6),
            winner=result.winner,
            runs=tuple(replace(run, verdict=run.verdict[:100]).kept() for run in result.runs),
        )
        is_learned = not self.arguments.solvers
        tell(self.keep, call, is_learned)
        return is_learned and len(call.picked) < len(call.arms) and due(self.keep, call.key)

    def _without_question(self, problem: Problem, arms: Mapping[str, Command]) -> int:
        """A script that asks nothing: one solver may say what it has to say."""
        (name, arm), *_ = arms.items()
        task = arm.task(name, problem.path, self.left, self.limits)
        (run,) = self.engine.race([task], lambda run: False, lambda: False)
        self.streams.write([run.stdout.encode(errors="replace")])
        return run.exit_code or 0


def solvers_for(problem: Problem, call: Arguments) -> dict[str, Installed]:
    """The solvers of a call by name: installed, fit for the problem, and wanted."""
    table = solver_table(call.tables, call.solvers)
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
        yield _unknown(problem.format)


def _failed(run: Run) -> bool:
    """Whether a solver could make nothing of the problem."""
    failed = (RunStatus.CRASHED, RunStatus.BROKEN, RunStatus.WRONG)
    return run.status in failed or "(error" in run.reason


def _as_json(problem: Problem, result: Result, code: int) -> bytes:
    logic = None if problem.format == DIMACS else problem.logic
    told = {"format": problem.format, "logic": logic, **plain(result), "exit_code": code}
    told.setdefault("contradictions", [])
    return f"{json.dumps(told)}\n".encode()
