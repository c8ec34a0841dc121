"""Measuring: every unit of a plan played to its end, each evaluation in the journal."""

import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pickbest.core import check_count
from studies.tuning.measurement.journal import Journal, Record, open_journal
from studies.tuning.measurement.plan import MeasurementPlan
from studies.tuning.measurement.processes import Processes
from studies.tuning.measurement.units import Known, Message, Request, Unit

MOST_DEATHS = 3

Progress = Callable[[int, int, str], None]
"""progress(done, total, last unit), in evaluations."""


def measure(
    plan: MeasurementPlan,
    folder: Path,
    workers: int = 1,
    progress: Progress | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Journal:
    """Measure what the journal in the folder does not hold yet, and return it, closed.

    KeyboardInterrupt (also for SIGTERM) leaves a journal with which the same call goes on.
    """
    check_count("workers", workers)
    journal = open_journal(folder, plan.settings.fixed(), plan.checksums())
    try:
        work = _Work(plan, journal, warn)
        if work.todo:
            with _stoppable():
                players = Processes(min(workers, len(work.todo)), plan.settings.optimizers)
                try:
                    _loop(work, players, progress)
                finally:
                    players.close()
    finally:
        journal.close()
    return journal


def _loop(work: "_Work", players: Processes, progress: Progress | None) -> None:
    while work.todo or work.playing:
        while work.todo and players.free:
            players.submit(work.next())
        for name, message in players.wait(1.0):
            work.handle(name, message)
            if progress and "call" in message:
                progress(work.done, work.plan.evaluations, name)


class _Work:
    """What is left to do, and what becomes of messages."""

    def __init__(
        self, plan: MeasurementPlan, journal: Journal, warn: Callable[[str], None]
    ) -> None:
        self.plan, self.journal, self.warn = plan, journal, warn
        self.todo = deque(unit for unit in plan.units() if self._missing(unit))
        self.playing: dict[str, Unit] = {}
        self.done = sum(len(self._past(unit)) for unit in plan.units())
        self._started: dict[str, Message] = {}
        self._deaths: Counter[tuple[str, int]] = Counter()

    def next(self) -> Request:
        unit = self.todo.popleft()
        self.playing[unit.name] = unit
        past = tuple(
            Known(call, record.point, record.loss) for call, record in self._past(unit).items()
        )
        return Request(unit, self.plan.settings.seed, past)

    def handle(self, name: str, message: Message) -> None:
        unit = self.playing[name]
        if "started" in message:
            self._started[name] = message
        elif "call" in message:
            self._started.pop(name, None)
            told = dict(message)
            self._record(unit, told.pop("call"), Record(**told))
        elif "mismatch" in message:
            self.warn(
                f"{name} asks for another point than before at call {message['mismatch'] + 1}: "
                "it starts again from its beginning"
            )
            self.done -= len(self._past(unit))
            self.journal.restart(name)
        elif "died" in message:
            if missing := self._missing(unit):
                self._died(unit, message["died"], missing)
            self._end(unit)
        elif "finished" in message:
            self._end(unit)

    def _end(self, unit: Unit) -> None:
        del self.playing[unit.name]
        if self._missing(unit):
            self.todo.appendleft(unit)

    def _died(self, unit: Unit, reason: str, missing: list[int]) -> None:
        """Deaths at the same place make a failure, of the evaluation or of the optimizer."""
        started = self._started.pop(unit.name, None)
        call = started["started"] if started else missing[0]
        self._deaths[unit.name, call] += 1
        self.warn(f"{unit.name}: {reason} at call {call + 1}")
        if self._deaths[unit.name, call] < MOST_DEATHS:
            return
        if started:
            self._record(unit, call, Record(started["point"], None, reason))
        else:
            for left in missing:
                self._record(unit, left, Record(None, None, f"optimizer: {reason}"))

    def _record(self, unit: Unit, call: int, record: Record) -> None:
        self.journal.append(unit.name, call, record)
        self.done += 1

    def _past(self, unit: Unit) -> dict[int, Record]:
        past = self.journal.records.get(unit.name, {})
        return {call: record for call, record in past.items() if call in unit.calls}

    def _missing(self, unit: Unit) -> list[int]:
        past = self.journal.records.get(unit.name, {})
        return [call for call in unit.calls if call not in past]


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM is a KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
