"""Arms as processes on this machine; the package `engine` says how they are started and ended.

A race keeps its own deadline: a guard that does not answer in time, whatever happened to it, is
ended with all that is below it, and its run counts as if it had answered then.
"""

import math
import os
import selectors
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pickbest.portfolio.engine import arm, limits, tree, wire
from pickbest.portfolio.engine.engines import environment
from pickbest.portfolio.engine.guards import Guards, Link
from pickbest.portfolio.engine.limits import Group
from pickbest.portfolio.runs import UNLIMITED, Ceiling, EndsRace, GivenUp, Run, RunStatus, Task

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
        self._busy: Counter[int] = Counter()

    def race(
        self,
        tasks: Sequence[Task],
        ends_race: EndsRace,
        given_up: GivenUp,
        ceiling: Ceiling = UNLIMITED,
    ) -> list[Run]:
        with self._lock:
            self._races += 1
            race = _Race(self.guards, self._races, ceiling)
        cores = [self._take_cores(task) for task in tasks]
        try:
            race.make_groups(tasks)
            for place, task in enumerate(tasks):
                race.start(place, task, cores[place])
            return race.run(ends_race, given_up)
        finally:
            race.remove_groups()
            with self._lock:
                for taken in cores:
                    self._busy.subtract(taken)

    def close(self) -> None:
        self.guards.close()

    def _take_cores(self, task: Task) -> list[int]:
        """The cores for an arm that is to be pinned: those that the fewest arms are pinned to."""
        if not task.limits.pin or not hasattr(os, "sched_getaffinity"):
            return []
        with self._lock:
            cores = sorted(os.sched_getaffinity(0), key=lambda core: (self._busy[core], core))
            taken = cores[: task.cores]
            self._busy.update(taken)
        return taken


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
        self.ending = ""
        self.reason = ""

    def stop(self, number: int, reason: str = "") -> None:
        """Ask the guard to end its arm; reason: a limit of the race that it exceeded."""
        if not self.ending:
            self.ending, self.reason = "stopped", reason
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

    def __init__(self, guards: Guards, number: int, ceiling: Ceiling) -> None:
        self.guards = guards
        self.number = number
        self.ceiling = ceiling
        self.group: Group | None = None
        self.groups: dict[int, Group] = {}
        self.guards_group = ""
        self.lanes: dict[int, _Lane] = {}
        self.selector = selectors.DefaultSelector()
        self.cpu_seconds = 0.0
        self.polled = time.monotonic()

    def make_groups(self, tasks: Sequence[Task]) -> None:
        """A control group for the race and one for each arm, if there are limits to keep to."""
        limited = any(each.limits_anything for each in (self.ceiling, *(t.limits for t in tasks)))
        home = self.guards.group() if limited else None
        if home is None:
            return
        try:
            self.guards_group = str(home.leaf("guards").path)
            self.group = home.inner(str(self.number), self.ceiling)
            for place, task in enumerate(tasks):
                self.groups[place] = self.group.inner(str(place), task.limits, whole=True)
        except OSError:  # somebody took our group away: poll
            self.remove_groups()

    def remove_groups(self) -> None:
        if self.group is not None:
            self.group.remove()
        self.group, self.groups = None, {}

    def start(self, place: int, task: Task, cores: list[int]) -> None:
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
                "cores": cores,
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
            while self.lanes:
                for run, place in self._ended():
                    runs[place] = run
                    judging = time.monotonic()
                    if ends_race(run):
                        self.stop_all()
                    # Guards that were not listened to, as an answer was checked, were not silent.
                    for lane in self.lanes.values():
                        lane.due += time.monotonic() - judging
                if self.lanes and given_up():
                    self.stop_all()
                if self.lanes and self.ceiling.limits_anything:
                    self._keep_to_ceiling()
        except BaseException:
            # Ctrl-C and the like: nothing may be left before anyone hears of it.
            self._abort()
            raise
        finally:
            self.selector.close()
        return [runs[place] for place in sorted(runs)]

    def stop_all(self) -> None:
        for lane in self.lanes.values():
            lane.stop(self.number)

    def _ended(self) -> list[tuple[Run, int]]:
        """Wait a little; the runs that ended, or had to."""
        step = limits.POLL_SECONDS if self.ceiling.limits_anything else PATIENCE
        due = min(lane.due for lane in self.lanes.values())
        found = []
        for key, _ in self.selector.select(max(0.0, min(step, due - time.monotonic()))):
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
        if lane.ending and not lane.reason:
            return Run(lane.task.arm, RunStatus.STOPPED, seconds=seconds)
        if seconds >= lane.task.deadline:
            return Run(lane.task.arm, RunStatus.TIMEOUT, seconds=seconds)
        return Run(lane.task.arm, RunStatus.FINISHED, seconds=seconds, reason=lane.reason or reason)

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
        if lane.reason:
            status, reason = RunStatus.FINISHED, lane.reason
        elif reason == limits.NO_MEMORY_LEFT and self.ceiling.memory_bytes:
            over = limits.excess(Ceiling(self.ceiling.memory_bytes), tree.Usage(1 << 62))
            reason = _together(over)
        self.cpu_seconds += float(report["cpu_seconds"])
        code = report["exit_code"]
        limited = self.ceiling.limits_anything or lane.task.limits.limits_anything
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

    def _keep_to_ceiling(self) -> None:
        """Stop the arm that uses most while all of them together use too much."""
        if time.monotonic() - self.polled < limits.POLL_SECONDS:
            return
        self.polled = time.monotonic()
        running = [lane for lane in self.lanes.values() if not lane.ending]
        if self.group is not None:
            over = limits.excess(self.ceiling, tree.Usage(cpu_seconds=self.group.cpu_seconds))
        else:
            pids = {lane.place: tree.descendants(lane.link.pid) for lane in running}
            together = [pid for each in pids.values() for pid in each]
            over = limits.polled(self.ceiling, together, self.cpu_seconds)
        if not over:
            return
        reason = _together(over)
        if self.group is None and not over.endswith("processor time"):
            running = [max(running, key=lambda lane: _weight(pids[lane.place], over))]
        for lane in running:
            lane.stop(self.number, reason)


def _together(over: str) -> str:
    return f"the arms of the race used {over} together"


def _weight(pids: list[int], over: str) -> float:
    return len(pids) if over.endswith("processes") else tree.usage(pids, exact=True).memory_bytes


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
