"""Arms as processes on this machine; the package `engine` says how they are started and ended.

A race keeps its own deadline: a guard that does not answer in time, whatever happened to it, is
ended with all that is below it, and its run counts as if it had answered then.
"""

import math
import os
import selectors
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from pickbest.portfolio.engine import arm, limits, wire
from pickbest.portfolio.engine.engines import environment
from pickbest.portfolio.engine.guards import Guards, Link
from pickbest.portfolio.engine.limits import Group
from pickbest.portfolio.processes import not_dumpable
from pickbest.portfolio.runs import EndsRace, GivenUp, Run, RunStatus, Task

# How often a race asks whether it was given up.
PATIENCE = 0.2
# A guard has this long to end its arm and to answer; then the portfolio has this long to end both.
ANSWER_SECONDS, END_SECONDS = 0.55, 0.35
# What a report holds beside output and answer.
REPORT_BYTES = 65_536


class LocalEngine:
    """Races arms under guards.

    imports_program: whether Python arms may be functions of the program that runs (__main__).
    guards: instead of those that a keeper forks.
    """

    def __init__(self, imports_program: bool = True, guards: Guards | None = None) -> None:
        self.guards = guards or Guards(imports_program)
        self._lock = threading.Lock()
        self._races = 0

    def race(self, tasks: Sequence[Task], ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        with self._lock:
            self._races += 1
            race = _Race(self.guards, self._races)
        try:
            race.make_groups(tasks)
            race.waiting = dict(enumerate(tasks))
            with not_dumpable():
                return race.run(ends_race, given_up)
        finally:
            race.remove_groups()

    def close(self) -> None:
        self.guards.close()


class _Lane:
    """One task of a race, from the request to the report."""

    def __init__(self, place: int, task: Task, link: Link, group: Group | None) -> None:
        self.place = place
        self.task = task
        self.link = link
        self.group = group
        longest = REPORT_BYTES + 12 * task.limits.output_bytes + task.limits.answer_bytes
        self.inbox = wire.Inbox(longest)
        self.started = time.monotonic()
        self.due = self.started + task.deadline + task.limits.grace + ANSWER_SECONDS
        self.stopped = False

    def stop(self, number: int) -> None:
        """Ask the guard to end its arm."""
        if not self.stopped:
            self.stopped = True
            self.due = min(self.due, time.monotonic() + self.task.limits.grace + ANSWER_SECONDS)
            self.link.send({"stop": number})

    def receive(self) -> tuple[dict[str, Any], bytes] | None:
        """The report, once it is here; OSError or ValueError if there will be none."""
        chunk = self.link.socket.recv(1 << 20)
        if not chunk:
            raise ConnectionError("its guard was killed")
        self.inbox.add(chunk)
        return self.inbox.take()


class _Race:
    """Arms that run at the same time."""

    def __init__(self, guards: Guards, number: int) -> None:
        self.guards = guards
        self.number = number
        self.groups: dict[int, Group] = {}
        self.guards_group = ""
        self.lanes: dict[int, _Lane] = {}
        self.waiting: dict[int, Task] = {}
        self.began = time.monotonic()
        self.selector = selectors.DefaultSelector()

    def make_groups(self, tasks: Sequence[Task]) -> None:
        """A control group for each arm, if there are limits to keep to."""
        limited = any(task.limits.of_the_tree for task in tasks)
        home = self.guards.group() if limited else None
        if home is None:
            return
        try:
            self.guards_group = str(home.leaf("guards").path)
            for place, task in enumerate(tasks):
                self.groups[place] = home.inner(f"{self.number}-{place}", task.limits)
        except OSError:  # somebody took our group away: poll
            self.remove_groups()

    def remove_groups(self) -> None:
        for group in self.groups.values():
            group.remove()
        self.groups = {}

    def start_due(self) -> None:
        """Start the tasks whose time has come; where nothing runs, the next ones in any case."""
        passed = time.monotonic() - self.began
        if not self.lanes and self.waiting:
            passed = max(passed, min(task.after for task in self.waiting.values()))
        for place, task in list(self.waiting.items()):
            if task.after <= passed:
                del self.waiting[place]
                # The deadline counts from the start of the race.
                late = time.monotonic() - self.began if task.after else 0.0
                left = max(task.deadline - late, 1e-3)
                self.start(place, replace(task, deadline=left))

    def start(self, place: int, task: Task) -> None:
        """Hand a task to a guard; the others are ended if that fails."""
        try:
            link = self.guards.take(None if task.call is None else task.preload)
            group = self.groups.get(place)
            lane = _Lane(place, task, link, group)
            request = {
                **asdict(task.limits),
                "run": self.number,
                "argv": task.argv,
                "deadline": task.deadline,
                "spool": task.spool,
                "cwd": task.cwd or os.getcwd(),
                "env": environment(os.environ, task.pass_env, task.env),
                "group": str(group.path) if group else "",
                "guards": self.guards_group,
            }
            if not link.send(request, task.call or b""):
                lane.due = lane.started
            self.lanes[place] = lane
            self.selector.register(link.socket, selectors.EVENT_READ, lane)
        except BaseException:
            self._abort()
            raise

    def run(self, ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        """Until every task has its run."""
        runs: dict[int, Run] = {}
        try:
            self.start_due()
            while self.lanes:
                for run, place in self._ended():
                    runs[place] = run
                    judging = time.monotonic()
                    if ends_race(run):
                        self.stop_all(runs)
                    # Time spent checking an answer must not count against the guards' deadlines.
                    for lane in self.lanes.values():
                        lane.due += time.monotonic() - judging
                if self.lanes and given_up():
                    self.stop_all(runs)
                self.start_due()
        except BaseException:
            # Ctrl-C and the like: nothing may be left before anyone hears of it.
            self._abort()
            raise
        finally:
            self.selector.close()
        return [runs[place] for place in sorted(runs)]

    def stop_all(self, runs: dict[int, Run] | None = None) -> None:
        """Stop what runs; what has not started counts as stopped before it began."""
        for lane in self.lanes.values():
            lane.stop(self.number)
        reason = "not started: another arm had answered before"
        for place, task in self.waiting.items():
            if runs is not None:
                runs[place] = Run(task.arm, RunStatus.STOPPED, reason=reason)
        self.waiting.clear()

    def _ended(self) -> list[tuple[Run, int]]:
        """Wait a little; the runs that ended, or had to."""
        due = min(lane.due for lane in self.lanes.values())
        later = (self.began + task.after for task in self.waiting.values())
        due = min(due, *later) if self.waiting else due
        found = []
        for key, _ in self.selector.select(max(0.0, min(PATIENCE, due - time.monotonic()))):
            lane = key.data
            try:
                message = lane.receive()
                if message is None:
                    continue
                run = self._reported(lane, *message)
                self._leave(lane)
                self.guards.give_back(lane.link)
            except (OSError, ValueError, TypeError, LookupError) as error:
                run = self._lost(lane, f"{error}")
            found.append((run, lane.place))
        now = time.monotonic()
        for lane in [lane for lane in self.lanes.values() if now >= lane.due]:
            found.append((self._lost(lane, ""), lane.place))
        return found

    def _leave(self, lane: _Lane) -> None:
        self.selector.unregister(lane.link.socket)
        del self.lanes[lane.place]

    def _lost(self, lane: _Lane, reason: str) -> Run:
        """End a run without its guard: it was killed, it does not answer, or it talks nonsense."""
        seconds = time.monotonic() - lane.started
        self._leave(lane)
        if lane.group is not None:
            lane.group.kill()
        self.guards.abandon(lane.link, END_SECONDS)
        if lane.stopped:
            return Run(lane.task.arm, RunStatus.STOPPED, seconds=seconds)
        if seconds >= lane.task.deadline:
            return Run(lane.task.arm, RunStatus.TIMEOUT, seconds=seconds)
        return Run(lane.task.arm, RunStatus.FINISHED, seconds=seconds, reason=reason)

    def _abort(self) -> None:
        self.stop_all()
        while self.lanes:
            self._ended()

    def _reported(self, lane: _Lane, report: dict[str, Any], payload: bytes) -> Run:
        status = RunStatus(report["status"])
        if status is RunStatus.BROKEN:
            return Run(lane.task.arm, status, reason=str(report["reason"]))
        reason, answer = str(report["reason"]), None
        if payload and not reason:
            status, reason, answer = _answered(status, payload)
        code = report["exit_code"]
        limited = lane.task.limits.of_the_tree
        return Run(
            lane.task.arm,
            status,
            seconds=_finite(report["seconds"]),
            reason=reason,
            answer=answer,
            exit_code=None if code is None else int(code),
            stdout=str(report["stdout"]),
            stderr=str(report["stderr"]),
            truncated=bool(report["truncated"]),
            spool=lane.task.spool if report["spooled"] else "",
            cut=bool(report["cut"]),
            cpu_seconds=_finite(report["cpu_seconds"]),
            peak_bytes=int(report["peak_bytes"]),
            limits="" if not limited else limits.CGROUP if lane.group else limits.POLLING,
        )


def _answered(status: RunStatus, payload: bytes) -> tuple[RunStatus, str, Any]:
    """(status, reason, answer) from what a function's side sent, which may be anything."""
    kind, content = payload[:1], payload[1:]
    if kind == arm.VALUE:
        try:
            return status, "", wire.decode_value(content)
        except ValueError as error:
            return status, f"its answer cannot be read here: {error}", None
    text = arm.shortened(content[: 1 << 20].decode(errors="replace"))
    return (RunStatus.BROKEN if kind == arm.BROKEN else status), text, None


def _finite(number: Any) -> float:
    if not math.isfinite(number):
        raise ValueError(f"no number: {number!r:.80}")
    return float(number)
