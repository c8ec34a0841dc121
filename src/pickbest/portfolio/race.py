"""One round's race: start the picked arms, judge each run as it ends, stop the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pickbest.core import PickbestError
from pickbest.core.codec import storable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.answers.formats import TEXT
from pickbest.portfolio.answers.handling import Answers
from pickbest.portfolio.answers.outputs import abridged
from pickbest.portfolio.answers.reading import BadAnswerError, RejectedError
from pickbest.portfolio.arms import Arm, Command, Limits, answering, failure
from pickbest.portfolio.censoring import Stop, Stopping, learned_costs
from pickbest.portfolio.costs import Cost
from pickbest.portfolio.engines import Engine
from pickbest.portfolio.journal.records import Finished
from pickbest.portfolio.processes.limits import UNLIMITED, Ceiling
from pickbest.portfolio.runs import Result, Run, RunStatus

# A longer answer is kept in the journal as its beginning only.
LONGEST_ANSWER = 100_000


class GivenUpError(PickbestError):
    """A round was stopped from outside; it is closed as lost, and nothing was learned."""


def judged(run: Run, arm: Arm, cost: Cost, deadline: float, answers: Answers) -> tuple[Run, bool]:
    """(what becomes of a run that an engine reports, whether it ends the race)."""
    seen = replace(run, reason="", answer=run.stdout if run.answer is None else run.answer)
    if run.status is RunStatus.STOPPED:
        return replace(seen, bounds=cost.span(run, deadline)), False
    broken = run.status is RunStatus.BROKEN
    if reason := failure(run, arm):
        status = RunStatus.BROKEN if broken else RunStatus.CRASHED
        return replace(seen, status=status, cost=1.0, reason=reason), False
    solved = run.status is RunStatus.FINISHED and arm.solved(run)
    if solved:
        reading = (arm.answer or TEXT).read(run, answers.evaluate)
        run, seen = (
            replace(each, verdict=reading.verdict, checked=reading.checked) for each in (run, seen)
        )
        if reading.status is not RunStatus.FINISHED:
            told = replace(seen, status=reading.status, cost=1.0, reason=reading.reason)
            return told, False
    elif run.status is RunStatus.FINISHED:
        seen = replace(seen, status=RunStatus.NO_ANSWER, reason="no answer: nothing")
    try:
        verdict = cost.judge(run, solved, deadline)
        if verdict.accepted:
            answers.check_answer(run)
    except RejectedError as error:
        reason = f"wrong: {error}"
        return replace(seen, status=RunStatus.WRONG, cost=1.0, reason=reason), False
    except BadAnswerError as error:
        return replace(seen, status=RunStatus.BROKEN, cost=1.0, reason=str(error)), False
    told = replace(seen, cost=verdict.cost, value=verdict.value, accepted=verdict.accepted)
    return told, verdict.ends_race


def run_race(
    ticket: Ticket[str],
    problem: Any,
    arms: Mapping[str, Arm],
    engine: Engine,
    cost: Cost,
    deadline: float,
    limits: Limits,
    stopping: Stopping,
    given_up: Callable[[], bool],
    ended: Callable[[Run], None],
    ceiling: Ceiling = UNLIMITED,
    pass_env: Sequence[str] = (),
    answers: Answers | None = None,
) -> tuple[Result, Finished]:
    """Run the ticket's arms on the problem; the result, and what the journal will say of it.

    Arms that this process does not know count as stopped: their cost stays unknown. Raises
    GivenUpError if arms were stopped because the race was given up.
    """
    gave_up = False
    answers = answers or Answers()

    def asked() -> bool:
        nonlocal gave_up
        gave_up = gave_up or given_up()
        return gave_up

    runs: dict[str, Run] = {}

    def on_end(reported: Run) -> bool:
        arm = arms[reported.arm]
        program = arm.argv[0] if isinstance(arm, Command) else ""
        reported = replace(reported, problem=problem, program=program)
        run, ends = judged(reported, arm, cost, deadline, answers)
        runs[run.arm] = run
        ended(run)
        return ends and stopping.stop is Stop.FIRST and not ticket.watched

    started = time.monotonic()
    arms = {
        name: answering(arms[name], answers.format, problem) for name in ticket.arms if name in arms
    }
    tasks = [arm.task(name, problem, deadline, limits) for name, arm in arms.items()]
    tasks = [
        replace(
            task,
            pass_env=(*task.pass_env, *pass_env),
            spool=answers.outputs.spool(ticket.round, place),
        )
        for place, task in enumerate(tasks)
    ]
    engine.race(tasks, on_end, asked, ceiling)
    if gave_up:
        raise GivenUpError(f"round {ticket.round} was stopped; nothing was learned of it")
    for name in ticket.arms:
        if name not in arms:
            reason = "another process added this arm, and this one does not know it"
            runs[name] = Run(name, RunStatus.STOPPED, reason=reason)
    ordered = tuple(runs[name] for name in ticket.arms)
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
    return result, finished(result, *learned_costs(ordered, stopping, ticket.watched))


def finished(result: Result, learned: Sequence[float] | None, scale: float) -> Finished:
    """The journal's record of a result."""
    return Finished(
        round=result.round,
        runs=tuple(run.kept() for run in result.runs),
        learned=None if learned is None else tuple(learned),
        scale=scale,
        winner=result.winner,
        cost=result.cost,
        answer=storable(result.answer, LONGEST_ANSWER),
        output=os.path.basename(result.output),
        at=time.time(),
    )


def _winner(runs: Sequence[Run]) -> Run | None:
    """The accepted run with the lowest cost; of equals, the quickest."""
    candidates = [run for run in runs if run.accepted and run.cost is not None]
    return min(candidates, key=lambda run: (run.cost, run.seconds), default=None)
