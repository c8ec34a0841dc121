"""One round's race: start the picked arms, judge each run as it ends, stop the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pickbest.core import PickbestError
from pickbest.core.codec import storable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.arms import Arm, Limits, failure
from pickbest.portfolio.censoring import Lesson, Stop, Stopping, lesson, times_of
from pickbest.portfolio.costs import BadAnswerError, Cost
from pickbest.portfolio.engines import Engine
from pickbest.portfolio.journal.records import Finished
from pickbest.portfolio.processes.limits import UNLIMITED, Ceiling
from pickbest.portfolio.runs import Result, Run, RunStatus

# A longer answer is kept in the journal as its beginning only.
LONGEST_ANSWER = 100_000


class GivenUpError(PickbestError):
    """A round was stopped from outside; it is closed as lost, and nothing was learned."""


def judged(run: Run, arm: Arm, cost: Cost, deadline: float) -> tuple[Run, bool]:
    """(what becomes of a run that an engine reports, whether it ends the race)."""
    seen = replace(run, reason="", answer=run.stdout if run.answer is None else run.answer)
    if run.status is RunStatus.STOPPED:
        return replace(seen, bounds=cost.span(run, deadline)), False
    broken = run.status is RunStatus.BROKEN
    if reason := failure(run, arm):
        status = RunStatus.BROKEN if broken else RunStatus.CRASHED
        return replace(seen, status=status, cost=1.0, reason=reason), False
    solved = run.status is RunStatus.FINISHED and arm.solved(run)
    try:
        verdict = cost.judge(run, solved, deadline)
    except BadAnswerError as error:
        return replace(seen, status=RunStatus.BROKEN, cost=1.0, reason=str(error)), False
    told = replace(seen, cost=verdict.cost, value=verdict.value, accepted=verdict.accepted)
    return replace(told, ends_race=verdict.ends_race), verdict.ends_race


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
) -> tuple[Result, Finished]:
    """Run the ticket's arms on the problem; the result, and what the journal will say of it.

    Arms that this process does not know count as stopped: their cost stays unknown. Raises
    GivenUpError if arms were stopped because the race was given up.
    """
    gave_up = False

    def asked() -> bool:
        nonlocal gave_up
        gave_up = gave_up or given_up()
        return gave_up

    runs: dict[str, Run] = {}

    def on_end(reported: Run) -> bool:
        run, ends = judged(reported, arms[reported.arm], cost, deadline)
        runs[run.arm] = run
        ended(run)
        return ends and stopping.stop is Stop.FIRST and not ticket.watched

    started = time.monotonic()
    tasks = [
        arms[name].task(name, problem, deadline, limits) for name in ticket.arms if name in arms
    ]
    tasks = [replace(task, pass_env=(*task.pass_env, *pass_env)) for task in tasks]
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
    result = Result(
        round=ticket.round,
        problem=problem,
        winner=winner.arm if winner else None,
        cost=min(known) if known else None,
        seconds=time.monotonic() - started,
        answer=winner.answer if winner else None,
        runs=ordered,
    )
    times = times_of(ordered, deadline)
    return result, finished(result, lesson(ordered, times, stopping, ticket.watched))


def finished(result: Result, taught: Lesson) -> Finished:
    """The journal's record of a result, and of what is learned of it."""
    return Finished(
        round=result.round,
        runs=tuple(run.kept() for run in result.runs),
        learned=taught.learned,
        scale=taught.scale,
        highest=taught.highest,
        times=taught.times,
        winner=result.winner,
        cost=result.cost,
        answer=storable(result.answer, LONGEST_ANSWER),
        at=time.time(),
    )


def _winner(runs: Sequence[Run]) -> Run | None:
    """The accepted run with the lowest cost; of equals, the quickest."""
    candidates = [run for run in runs if run.accepted and run.cost is not None]
    return min(candidates, key=lambda run: (run.cost, run.seconds), default=None)
