"""Arms as processes on this machine; the package `engine` says how they are started and ended.

A race keeps its own deadline: a guard that does not answer in time, whatever happened to it, is
ended with all that is below it, and its run counts as if it had answered then.
"""

import base64
import json
import os
import selectors
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from pickbest.portfolio.engine import arm, messages
from pickbest.portfolio.engine.engines import environment
from pickbest.portfolio.engine.guards import Guards, Link
from pickbest.portfolio.processes import not_dumpable
from pickbest.portfolio.runs import EndsRace, GivenUp, Run, RunStatus, Task

# How often a race asks whether it was given up.
PATIENCE = 0.2
# A guard has this long to end its arm and to answer; then the portfolio has this long to end both.
ANSWER_SECONDS, END_SECONDS = 0.55, 0.35
# Of what a function raised.
LONGEST_REASON = 1000


class LocalEngine:
    """Races arms under guards; see `Guards` for its arguments."""

    def __init__(self, imports_program: bool = True, forked: bool = False) -> None:
        self.guards = Guards(imports_program, forked)

    def race(self, tasks: Sequence[Task], ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        with not_dumpable():
            return _Race(self.guards, tasks).run(ends_race, given_up)

    def close(self) -> None:
        self.guards.close()


class _Lane:
    """One task of a race, from the request to the report."""

    def __init__(self, place: int, task: Task, link: Link) -> None:
        self.place = place
        self.task = task
        self.link = link
        self.started = time.monotonic()
        self.due = self.started + task.deadline + task.limits.grace + ANSWER_SECONDS
        self.stopped = False

    def stop(self) -> None:
        """Ask the guard to end its arm."""
        if not self.stopped:
            self.stopped = True
            self.due = min(self.due, time.monotonic() + self.task.limits.grace + ANSWER_SECONDS)
            self.link.ask_to_stop()


class _Race:
    """Arms that run at the same time."""

    def __init__(self, guards: Guards, tasks: Sequence[Task]) -> None:
        self.guards = guards
        self.waiting = dict(enumerate(tasks))
        self.lanes: dict[int, _Lane] = {}
        self.runs: dict[int, Run] = {}
        self.began = time.monotonic()
        self.selector = selectors.DefaultSelector()

    def run(self, ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        """Until every task has its run."""
        try:
            self._start_due()
            while self.lanes:
                for place, run in self._ended():
                    self.runs[place] = run
                    judging = time.monotonic()
                    if ends_race(run):
                        self._stop_all()
                    # Time spent checking an answer must not count against the guards' deadlines.
                    for lane in self.lanes.values():
                        lane.due += time.monotonic() - judging
                if self.lanes and given_up():
                    self._stop_all()
                self._start_due()
        except BaseException:
            # Ctrl-C and the like: nothing may be left before anyone hears of it.
            self._stop_all()
            while self.lanes:
                self._ended()
            raise
        finally:
            self.selector.close()
        return [self.runs[place] for place in sorted(self.runs)]

    def _start_due(self) -> None:
        """Start the tasks whose time has come; where nothing runs, the next ones in any case."""
        passed = time.monotonic() - self.began
        if not self.lanes and self.waiting:
            passed = max(passed, min(task.after for task in self.waiting.values()))
        for place, task in list(self.waiting.items()):
            if task.after <= passed:
                del self.waiting[place]
                # The deadline counts from the start of the race.
                late = time.monotonic() - self.began if task.after else 0.0
                self._start(place, replace(task, deadline=max(task.deadline - late, 1e-3)))

    def _start(self, place: int, task: Task) -> None:
        """Hand a task to a guard."""
        link = self.guards.take(None if task.call is None else task.preload)
        lane = self.lanes[place] = _Lane(place, task, link)
        self.selector.register(link.socket, selectors.EVENT_READ, lane)
        request = {
            "argv": task.argv,
            "call": base64.b64encode(task.call or b"").decode(),
            "deadline": task.deadline,
            "limits": asdict(task.limits),
            "spool": task.spool,
            "cwd": task.cwd or os.getcwd(),
            "env": environment(os.environ, task.pass_env, task.env),
        }
        try:
            messages.send(link.socket, request)
        except OSError:  # it is gone, or stopped
            lane.due = lane.started

    def _stop_all(self) -> None:
        """Stop what runs; what has not started counts as stopped before it began."""
        for lane in self.lanes.values():
            lane.stop()
        reason = "not started: another arm had answered before"
        for place, task in self.waiting.items():
            self.runs[place] = Run(task.arm, RunStatus.STOPPED, reason=reason)
        self.waiting.clear()

    def _ended(self) -> list[tuple[int, Run]]:
        """Wait a little; the runs that ended, or had to, with their places."""
        times = [lane.due for lane in self.lanes.values()]
        times += [self.began + task.after for task in self.waiting.values()]
        found = []
        for key, _ in self.selector.select(max(0.0, min(PATIENCE, min(times) - time.monotonic()))):
            lane = key.data
            try:
                lane.link.socket.settimeout(END_SECONDS)
                run = _reported(lane.task, messages.receive(lane.link.socket))
            except (OSError, ValueError):
                run = self._lost(lane, "its guard was killed")
            found.append((lane.place, run))
        now = time.monotonic()
        ended = {place for place, _ in found}
        for place, lane in self.lanes.items():
            if place not in ended and now >= lane.due:
                found.append((place, self._lost(lane, "")))
        for place, _ in found:
            lane = self.lanes.pop(place)
            self.selector.unregister(lane.link.socket)
            lane.link.close()
        return found

    def _lost(self, lane: _Lane, reason: str) -> Run:
        """End a run without its guard: it was killed, or it does not answer."""
        seconds = time.monotonic() - lane.started
        lane.link.kill(END_SECONDS)
        if lane.stopped:
            return Run(lane.task.arm, RunStatus.STOPPED, seconds=seconds)
        if seconds >= lane.task.deadline:
            return Run(lane.task.arm, RunStatus.TIMEOUT, seconds=seconds)
        return Run(lane.task.arm, RunStatus.FINISHED, seconds=seconds, reason=reason)


def _reported(task: Task, report: dict[str, Any]) -> Run:
    """What a guard says of its arm."""
    found = {**report, "status": RunStatus(report["status"])}
    sent, spooled = found.pop("answer", ""), found.pop("spooled", False)
    # What a function's side sent may be anything.
    kind, content = sent[:1], sent[1:]
    if kind == arm.VALUE:
        try:
            found["answer"] = json.loads(content)
        except (ValueError, RecursionError) as error:
            found["reason"] = f"its answer cannot be read here: {error}"
    elif kind:
        found["reason"] = content[:LONGEST_REASON]
        if kind == arm.BROKEN:
            found["status"] = RunStatus.BROKEN
    return Run(task.arm, **found, spool=task.spool if spooled else "")
