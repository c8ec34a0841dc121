"""One round's race: start the picked arms, judge each run as it ends, stop the others.

A run that was stopped because another arm had answered has no cost: it lies between a low and a
high bound. Nothing is invented: the learner is taught the bounds, and one that cannot use them
takes the highest cost (see `learners.auto.stopped`).
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pickbest.core import PickbestError
from pickbest.core.codec import storable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.run.answers.handling import Answers
from pickbest.portfolio.run.answers.reading import TEXT, BadAnswerError, RejectedError
from pickbest.portfolio.run.arms import Arm, Command, answering
from pickbest.portfolio.run.costs import Cost
from pickbest.portfolio.runs import GivenUp, Limits, Result, Run, RunStatus, Task, contradictions

if TYPE_CHECKING:
    from pickbest.portfolio.store.records import Finished

# Seconds: a slice that ends so close to the deadline ends with it, and none is shorter.
SLACK = 0.005
# A longer answer is kept in the journal as its beginning only.
LONGEST_ANSWER = 100_000


class GivenUpError(PickbestError):
    """A round was stopped from outside; it is closed as lost, and nothing was learned."""


@dataclass(frozen=True)
class Race:
    """The rules of races.

    arms: by name. deadline: seconds that each may take. limits: what each may use. pass_env:
    names of environment variables that all arms get in addition to the usual ones. answers: how
    answers are read, checked and kept.
    """

    arms: Mapping[str, Arm]
    engine: Engine
    cost: Cost
    deadline: float
    limits: Limits = field(default_factory=Limits)
    pass_env: Sequence[str] = ()
    answers: Answers = field(default_factory=Answers)

    def run(self, ticket: Ticket[str], problem: Any, given_up: GivenUp = lambda: False) -> Result:
        """Run the ticket's arms on the problem.

        Arms that run until different times take turns: those with the next end start when the
        arms before are stopped without an answer, and what is left of the deadline is theirs.
        Arms that this process does not know count as stopped: their cost stays unknown. Raises
        GivenUpError if arms were stopped because the race was given up.
        """
        runs: dict[str, Run] = {}
        begin, answered, gave_up = 0.0, False, False

        def asked() -> bool:
            nonlocal gave_up
            gave_up = gave_up or given_up()
            return gave_up

        def on_end(reported: Run) -> bool:
            nonlocal answered
            run = self._judged(reported, arms[reported.arm], problem, begin)
            runs[run.arm] = run
            answered = answered or run.ends_race
            enough = sum(each.accepted for each in runs.values()) >= self.answers.wanted
            return run.ends_race and enough and not ticket.watched

        started = time.monotonic()
        arms = {
            name: answering(self.arms[name], self.answers.format, problem)
            for name in ticket.arms
            if name in self.arms
        }
        for end in sorted(set(ticket.until or (1.0,))):
            if answered or gave_up:
                break
            left = max(end * self.deadline - begin, SLACK)
            stage = self._stage(arms, ticket, end, problem, left)
            self.engine.race(stage, on_end, asked)
            # By the arms' own clocks: what it took to start them is not theirs.
            begin += max((runs[task.arm].seconds for task in stage if task.arm in runs), default=0)
        if gave_up:
            raise GivenUpError(f"round {ticket.round} was stopped; nothing was learned of it")
        for name in ticket.arms:
            before = "not started: another arm had answered before"
            added = "another process added this arm, and this one does not know it"
            reason = before if name in arms else added
            runs.setdefault(name, Run(name, RunStatus.STOPPED, reason=reason))
        ordered = settled([runs[name] for name in ticket.arms])
        return self._result(ticket, problem, ordered, time.monotonic() - started)

    def _stage(
        self, arms: Mapping[str, Arm], ticket: Ticket[str], end: float, problem: Any, seconds: float
    ) -> list[Task]:
        """The arms that run until `end`, as the engine takes them."""
        until = ticket.until or (1.0,) * len(ticket.arms)
        found = []
        for place, (name, own) in enumerate(zip(ticket.arms, until, strict=True)):
            if own == end and name in arms:
                task = arms[name].task(name, problem, seconds, self.limits)
                spool = self.answers.outputs.spool(ticket.round, place)
                found.append(replace(task, pass_env=tuple(self.pass_env), spool=spool))
        return found

    def _judged(self, run: Run, arm: Arm, problem: Any, begin: float) -> Run:
        """What becomes of a run that an engine reports, of an arm that started at `begin`."""
        took, status = run.seconds, run.status
        if status is RunStatus.TIMEOUT and begin + took < self.deadline - SLACK:
            status = RunStatus.STOPPED  # Its slice is over: it might have answered later.
        program = arm.argv[0] if isinstance(arm, Command) else ""
        run = replace(run, problem=problem, program=program, status=status, seconds=begin + took)
        found = judged(run, arm, self.cost, self.deadline, self.answers)
        return replace(found, seconds=took)

    def _result(
        self, ticket: Ticket[str], problem: Any, runs: tuple[Run, ...], seconds: float
    ) -> Result:
        accepted = [run for run in runs if run.accepted and run.cost is not None]
        # Of equals, the quickest.
        winner = min(accepted, key=lambda run: (run.cost, run.seconds), default=None)
        known = [run.cost for run in runs if run.cost is not None]
        output = self.answers.outputs.keep(ticket.round, winner, runs)
        answer = winner.answer if winner else None
        if output:
            with open(output, "rb") as file:
                answer = file.read(LONGEST_ANSWER).decode(errors="replace")
        return Result(
            round=ticket.round,
            problem=problem,
            winner=winner.arm if winner else None,
            cost=min(known) if known else None,
            seconds=seconds,
            answer=answer,
            runs=runs,
            output=output,
            contradictions=contradictions(problem, runs),
        )


def judged(run: Run, arm: Arm, cost: Cost, deadline: float, answers: Answers) -> Run:
    """A run with its cost, its value and its final status."""
    answer = run.stdout if run.answer is None else run.answer

    def told(**found: Any) -> Run:
        return replace(run, **{"reason": "", "answer": answer, **found})

    if run.status is RunStatus.STOPPED:
        return told(bounds=cost.span(run, deadline))
    if reason := _failure(run, arm):
        broken = run.status is RunStatus.BROKEN or _never_began(run, arm)
        status = RunStatus.BROKEN if broken else RunStatus.CRASHED
        return told(status=status, cost=1.0, reason=reason)
    finished, unanswered = run.status is RunStatus.FINISHED, {}
    solved = finished and arm.solved(run)
    if solved:
        reading = (arm.answer or TEXT).read(run, answers.evaluate)
        verdict, checked, value = reading.verdict, reading.checked, reading.value
        run = replace(run, verdict=verdict, checked=checked, value=value)
        if reading.status is not RunStatus.FINISHED:
            return told(status=reading.status, cost=1.0, reason=reading.reason)
    elif finished:
        unanswered = {"status": RunStatus.NO_ANSWER, "reason": "no answer: nothing"}
    try:
        found = cost.judge(run, solved, deadline)
        if found.accepted:
            answers.check_answer(run)
    except RejectedError as error:
        return told(status=RunStatus.WRONG, cost=1.0, reason=f"wrong: {error}")
    except BadAnswerError as error:
        return told(status=RunStatus.BROKEN, cost=1.0, reason=str(error))
    value = run.value if found.value is None else found.value
    ends = {"accepted": found.accepted, "ends_race": found.ends_race}
    return told(cost=found.cost, value=value, **ends, **unanswered)


def _never_began(run: Run, arm: Arm) -> bool:
    """Whether a shell or the loader says that the program itself could not be run."""
    failed = run.status is RunStatus.FINISHED and not arm.solved(run)
    return failed and isinstance(arm, Command) and run.exit_code in (126, 127)


def _failure(run: Run, arm: Arm) -> str:
    """Why a run that an engine reports failed; "" if it did not, or was made to end."""
    if run.status is RunStatus.BROKEN or _never_began(run, arm):
        return f"cannot start: {run.reason or run.last_error or f'exit code {run.exit_code}'}"
    if run.status is not RunStatus.FINISHED:
        return ""
    if run.reason:
        return run.reason
    if run.exit_code is not None and run.exit_code < 0:
        return f"ended by signal {-run.exit_code}"
    if run.exit_code and not arm.solved(run):
        said = f": {run.last_error}" if run.last_error else ""
        return f"exit code {run.exit_code}{said}"
    return ""


def settled(runs: Sequence[Run]) -> tuple[Run, ...]:
    """An arm that contradicts one whose model holds is wrong."""
    proof = next((run for run in runs if run.checked and run.accepted), None)
    if proof is None:
        return tuple(runs)
    reason = f"wrong: {proof.arm} has a model that holds"
    return tuple(
        replace(run, status=RunStatus.WRONG, cost=1.0, reason=reason, accepted=False)
        if run.accepted and run.verdict not in ("", proof.verdict)
        else run
        for run in runs
    )


def finished(result: Result, times: Sequence[float]) -> "Finished":
    """The journal's record of a result, and of what is learned of it; times: see `times_of`."""
    from pickbest.portfolio.store.records import (
        Finished,
    )  # milliseconds, which `solve` does without

    return Finished(
        round=result.round,
        runs=tuple(run.kept() for run in result.runs),
        low=tuple(run.low for run in result.runs),
        high=tuple(run.high for run in result.runs),
        times=tuple(times),
        winner=result.winner,
        cost=result.cost,
        answer=storable(result.answer, LONGEST_ANSWER),
        output=os.path.basename(result.output),
        at=time.time(),
    )


def times_of(
    runs: Sequence[Run], deadline: float, until: Sequence[float] = ()
) -> tuple[float, ...]:
    """When each run answered or was stopped, as a share of the deadline; 1: it never answers.

    until: where arms took turns; then no arm is known never to answer, but how long each ran.
    """
    return tuple(
        min(run.seconds / deadline, 1.0)
        if until or run.ends_race or run.status is RunStatus.STOPPED
        else 1.0
        for run in runs
    )
