"""One round's race: start the picked arms, judge each run as it ends, stop the others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.arms import Arm, Limits, failure
from pickbest.portfolio.censoring import Stop, Stopping, learned_costs
from pickbest.portfolio.costs import BadAnswerError, Cost
from pickbest.portfolio.engines import Engine
from pickbest.portfolio.journal.ledger import Ticket
from pickbest.portfolio.journal.records import Finished, RunRecord
from pickbest.portfolio.runs import Ending, RawRun, Result, Run, Status

# A longer answer is kept in the journal as its beginning only.
LONGEST_ANSWER = 100_000


class GivenUpError(PickbestError):
    """A round was stopped from outside; it is closed as lost, and nothing was learned."""


def judged(raw: RawRun, arm: Arm, cost: Cost, deadline: float) -> tuple[Run, bool, bool]:
    """(run, whether its answer is acceptable, whether it ends the race)."""
    answer = raw.stdout if raw.value is None else raw.value
    run = Run(raw.arm, Status.FINISHED, raw.seconds, 1.0, 1.0, 1.0, answer=answer, raw=raw)
    if raw.ending is Ending.STOPPED:
        low, high = cost.span(raw, deadline)
        return replace(run, status=Status.STOPPED, cost=None, low=low, high=high), False, False
    if raw.ending is Ending.NOT_STARTED:
        return replace(run, status=Status.BROKEN, reason=failure(raw, arm)), False, False
    timeout = raw.ending is Ending.DEADLINE
    if not timeout and (reason := failure(raw, arm)):
        return replace(run, status=Status.CRASHED, reason=reason), False, False
    try:
        verdict = cost.judge(raw, not timeout and arm.solved(raw), deadline)
    except BadAnswerError as error:
        return replace(run, status=Status.BROKEN, reason=str(error)), False, False
    run = replace(
        run,
        status=Status.TIMEOUT if timeout else Status.FINISHED,
        cost=verdict.cost,
        low=verdict.cost,
        high=verdict.cost,
        value=verdict.value,
    )
    return run, verdict.accepted, verdict.ends_race


def run_race(
    ticket: Ticket,
    problem: Any,
    arms: Mapping[str, Arm],
    engine: Engine,
    cost: Cost,
    deadline: float,
    limits: Limits,
    stopping: Stopping,
    given_up: Callable[[], bool],
    ended: Callable[[Run], None],
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
    accepted: set[str] = set()

    def on_end(raw: RawRun) -> bool:
        run, good, ends = judged(raw, arms[raw.arm], cost, deadline)
        runs[raw.arm] = run
        if good:
            accepted.add(raw.arm)
        ended(run)
        return ends and stopping.stop is Stop.FIRST and not ticket.watched

    started = time.monotonic()
    tasks = [
        arms[name].task(name, problem, deadline, limits) for name in ticket.arms if name in arms
    ]
    engine.race(tasks, on_end, asked)
    if gave_up:
        raise GivenUpError(f"round {ticket.round} was stopped; nothing was learned of it")
    for name in ticket.arms:
        if name not in arms:
            reason = "another process added this arm, and this one does not know it"
            runs[name] = Run(name, Status.STOPPED, 0.0, None, 0.0, 1.0, reason)
    ordered = tuple(runs[name] for name in ticket.arms)
    winner = _winner(ordered, accepted)
    known = [run.cost for run in ordered if run.cost is not None]
    result = Result(
        ticket.round,
        problem,
        ordered,
        winner.arm if winner else None,
        min(known) if known else None,
        winner.answer if winner else None,
        time.monotonic() - started,
    )
    return result, finished(result, *learned_costs(ordered, stopping, ticket.watched))


def finished(result: Result, learned: Sequence[float] | None, scale: float) -> Finished:
    """The journal's record of a result."""
    records = tuple(
        RunRecord(run.arm, run.status.value, run.cost, round(run.seconds, 6), run.reason, run.value)
        for run in result.runs
    )
    return Finished(
        result.round,
        records,
        None if learned is None else tuple(learned),
        scale,
        result.winner,
        result.cost,
        storable(result.answer),
        time.time(),
    )


def storable(answer: Any) -> Any:
    """An answer as the journal keeps it: itself where it is JSON, else its repr; cut if long."""
    try:
        text = json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError):
        return repr(answer)[:LONGEST_ANSWER]
    if len(text) <= LONGEST_ANSWER:
        return answer
    return (answer if isinstance(answer, str) else text)[:LONGEST_ANSWER]


def _winner(runs: Sequence[Run], accepted: set[str]) -> Run | None:
    """The accepted run with the lowest cost; of equals, the quickest."""
    candidates = [run for run in runs if run.arm in accepted and run.cost is not None]
    return min(candidates, key=lambda run: (run.cost, run.seconds), default=None)
