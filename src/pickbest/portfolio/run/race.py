"""One round's race: start the picked arms, judge each run as it ends, stop the others."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pickbest.core import PickbestError
from pickbest.core.codec import storable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.engine.limits import UNLIMITED, Ceiling
from pickbest.portfolio.run.answers.formats import TEXT
from pickbest.portfolio.run.answers.handling import Answers, abridged
from pickbest.portfolio.run.answers.reading import BadAnswerError, RejectedError
from pickbest.portfolio.run.arms import Arm, Command, answering, failure, never_began
from pickbest.portfolio.run.censoring import Lesson, Stop, Stopping, lesson, times_of
from pickbest.portfolio.run.costs import Cost
from pickbest.portfolio.runs import GivenUp, Limits, Result, Run, RunStatus
from pickbest.portfolio.store.records import Finished

# Seconds: a slice that ends so close to the deadline ends with it, and none is shorter.
SLACK = 0.005
# A longer answer is kept in the journal as its beginning only.
LONGEST_ANSWER = 100_000


class GivenUpError(PickbestError):
    """A round was stopped from outside; it is closed as lost, and nothing was learned."""


def judged(run: Run, arm: Arm, cost: Cost, deadline: float, answers: Answers) -> Run:
    """What becomes of a run that an engine reports."""
    answer = run.stdout if run.answer is None else run.answer

    def told(**found: Any) -> Run:
        return replace(run, **{"reason": "", "answer": answer, **found})

    if run.status is RunStatus.STOPPED:
        return told(bounds=cost.span(run, deadline))
    if reason := failure(run, arm):
        broken = run.status is RunStatus.BROKEN or never_began(run, arm)
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


def run_race(
    ticket: Ticket[str],
    problem: Any,
    arms: Mapping[str, Arm],
    engine: Engine,
    cost: Cost,
    deadline: float,
    limits: Limits,
    stopping: Stopping,
    given_up: GivenUp,
    ended: Callable[[Run], None],
    ceiling: Ceiling = UNLIMITED,
    pass_env: Sequence[str] = (),
    answers: Answers | None = None,
) -> tuple[Result, Finished]:
    """Run the ticket's arms on the problem; the result, and what the journal will say of it.

    Arms that run until different times take turns: those with the next end start when the arms
    before are stopped without an answer, and what is left of the deadline is theirs. Arms that
    this process does not know count as stopped: their cost stays unknown. Raises
    GivenUpError if arms were stopped because the race was given up.
    """
    answers = answers or Answers()
    runs: dict[str, Run] = {}
    begin, answered, gave_up = 0.0, False, False

    def asked() -> bool:
        nonlocal gave_up
        gave_up = gave_up or given_up()
        return gave_up

    def on_end(reported: Run) -> bool:
        nonlocal answered
        arm = arms[reported.arm]
        program = arm.argv[0] if isinstance(arm, Command) else ""
        took, status = reported.seconds, reported.status
        if status is RunStatus.TIMEOUT and begin + took < deadline - SLACK:
            status = RunStatus.STOPPED  # Its slice is over: it might have answered later.
        reported = replace(reported, problem=problem, program=program, status=status)
        run = judged(replace(reported, seconds=begin + took), arm, cost, deadline, answers)
        runs[run.arm] = run = replace(run, seconds=took)
        ended(run)
        answered = answered or run.ends_race
        enough = sum(each.accepted for each in runs.values()) >= answers.wanted
        return run.ends_race and enough and stopping.stop is Stop.FIRST and not ticket.watched

    started = time.monotonic()
    arms = {
        name: answering(arms[name], answers.format, problem) for name in ticket.arms if name in arms
    }
    until = ticket.until or (1.0,) * len(ticket.arms)
    for end in sorted(set(until)):
        if answered or gave_up:
            break
        # By the arms' own clocks: what it took to start them is not theirs.
        begin += max((run.seconds for run in runs.values()), default=0.0)
        left = max(end * deadline - begin, SLACK)
        tasks = {
            place: arms[name].task(name, problem, left, limits)
            for place, (name, own) in enumerate(zip(ticket.arms, until, strict=True))
            if own == end and name in arms
        }
        stage = [
            replace(
                task,
                pass_env=(*task.pass_env, *pass_env),
                spool=answers.outputs.spool(ticket.round, place),
            )
            for place, task in tasks.items()
        ]
        engine.race(stage, on_end, asked, ceiling)
    if gave_up:
        raise GivenUpError(f"round {ticket.round} was stopped; nothing was learned of it")
    for name in ticket.arms:
        before = "not started: another arm had answered before"
        added = "another process added this arm, and this one does not know it"
        reason = before if name in arms else added
        runs.setdefault(name, Run(name, RunStatus.STOPPED, reason=reason))
    ordered = settled([runs[name] for name in ticket.arms])
    winner = _winner(ordered)
    known = [run.cost for run in ordered if run.cost is not None]
    output = answers.outputs.keep(ticket.round, winner, ordered)
    answer = winner.answer if winner else None
    result = Result(
        round=ticket.round,
        problem=problem,
        winner=winner.arm if winner else None,
        cost=min(known) if known else None,
        seconds=time.monotonic() - started,
        answer=abridged(output, LONGEST_ANSWER) if output else answer,
        runs=ordered,
        output=output,
    )
    times = times_of(ordered, deadline, ticket.until)
    return result, finished(result, lesson(ordered, times, stopping, ticket.watched))


def finished(result: Result, taught: Lesson) -> Finished:
    """The journal's record of a result, and of what is learned of it."""
    return Finished(
        round=result.round,
        runs=tuple(run.kept() for run in result.runs),
        **taught._asdict(),
        winner=result.winner,
        cost=result.cost,
        answer=storable(result.answer, LONGEST_ANSWER),
        output=os.path.basename(result.output),
        at=time.time(),
    )


def settled(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Who says otherwise than an arm whose model holds is wrong."""
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


def _winner(runs: Sequence[Run]) -> Run | None:
    """The accepted run with the lowest cost; of equals, the quickest."""
    candidates = [run for run in runs if run.accepted and run.cost is not None]
    return min(candidates, key=lambda run: (run.cost, run.seconds), default=None)


class Progress(Protocol):
    """Is told what happens, from the thread in which it happens."""

    def started(self, ticket: Ticket[str]) -> None: ...

    def ended(self, ticket: Ticket[str], run: Run) -> None: ...

    def finished(self, ticket: Ticket[str], result: Result) -> None: ...

    def lost(self, ticket: Ticket[str]) -> None: ...


class Unseen:
    """Nobody looks."""

    def started(self, *told: object) -> None:
        pass

    ended = finished = lost = started
