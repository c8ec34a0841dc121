"""Measuring: every unit of a plan played to its end in a process of its own, and kept.

A finished unit is kept under a key of all that its losses depend on. So a measurement that was
killed goes on with the units that are missing, one with more tasks or optimizers adds only
theirs, and one with another seed, other data or other versions of libraries finds nothing.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from pickbest.core import MissingExtraError, PickbestError, check_count
from pickbest.core.progress import Progress
from studies.cache import Cache, key_of
from studies.tuning.measurement.plan import MeasurementPlan, versions
from studies.tuning.measurement.units import POOL, Record, Unit, failed, play

# The same bits on every x86-64 machine: one thread, and no instructions that some lack.
PINNED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "PYTHONHASHSEED": "0",
}
# What every process needs is imported once, before any is forked.
PRELOADED = [
    "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "sklearn.multiclass",
    "sklearn.neural_network", "studies.tuning.measurement.units",
]  # fmt: skip
# A unit whose process died so often has failed.
MOST_DEATHS = 3

Records = dict[str, list[Record]]
"""By the name of a unit: its calls in order."""


def kept_records(plan: MeasurementPlan, folder: Path) -> Records:
    """The units of the plan that are finished."""
    cache, checksums = _cache(folder), plan.checksums()
    found = {unit.name: cache.read(_key(plan, checksums, unit)) for unit in plan.units()}
    return {name: records for name, records in found.items() if records is not None}


def measure(
    plan: MeasurementPlan,
    folder: Path,
    workers: int = 1,
    progress: Progress | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Records:
    """Measure what is not kept in the folder yet; returns all of it.

    KeyboardInterrupt (also for SIGTERM) ends all processes; what is finished stays.
    """
    check_count("workers", workers)
    records, cache, checksums = kept_records(plan, folder), _cache(folder), plan.checksums()
    waiting = deque(unit for unit in plan.units() if unit.name not in records)
    done = sum(map(len, records.values()))
    playing: dict[Connection, _Playing] = {}
    deaths: dict[Unit, int] = {}
    if not waiting:
        return records
    with _stoppable():
        context = _fork_server()
        try:
            while waiting or playing:
                while waiting and len(playing) < workers:
                    one = _Playing(context, waiting.popleft(), plan.settings.seed)
                    playing[one.told] = one
                for told in wait(list(playing)):
                    one = playing[told]  # type: ignore[index]
                    if one.receive():
                        continue
                    del playing[one.told]
                    unit, found = one.unit, one.records
                    if len(found) < len(unit.calls):
                        deaths[unit] = deaths.get(unit, 0) + 1
                        warn(f"{unit.name}: {one.died} at call {len(found) + 1}")
                        if deaths[unit] < MOST_DEATHS:
                            waiting.appendleft(unit)
                            continue
                        found += [failed(one.died)] * (len(unit.calls) - len(found))
                    cache.keep(_key(plan, checksums, unit), found)
                    records[unit.name] = found
                    done += len(found)
                    if progress:
                        progress(done, plan.evaluations, unit.name)
        finally:
            for one in playing.values():
                one.process.kill()
                one.process.join()
    return records


class _Playing:
    """A unit in its process, and what it has told so far."""

    def __init__(
        self, context: multiprocessing.context.ForkServerContext, unit: Unit, seed: int
    ) -> None:
        self.unit, self.records = unit, list[Record]()
        self.told, theirs = context.Pipe(duplex=False)
        self.process: ForkServerProcess = context.Process(
            target=_play, args=(unit, seed, theirs), daemon=True
        )
        self.process.start()
        theirs.close()

    def receive(self) -> bool:
        """Take one message in; False where the process has ended."""
        try:
            message = self.told.recv()
        except (EOFError, OSError):
            self.process.join()
            return False
        if isinstance(message, BaseException):
            raise message
        self.records.append(message)
        return True

    @property
    def died(self) -> str:
        code = self.process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"process died ({how})"


def _play(unit: Unit, seed: int, told: Connection) -> None:
    # Ctrl-C is for the measurer, who then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What libraries print is none of the measurer's output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        for record in play(unit, seed):
            told.send(record)
    except (PickbestError, MissingExtraError) as error:
        told.send(PickbestError(str(error)))
    except Exception as error:
        told.send(PickbestError(f"{unit.name}: {error!r}"))


def _fork_server() -> multiprocessing.context.ForkServerContext:
    """Whose processes have the pinned environment, and what all need already imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    before = {name: os.environ.get(name) for name in PINNED}
    os.environ.update(PINNED)
    try:
        forkserver.ensure_running()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return context


def _cache(folder: Path) -> Cache[list[Record]]:
    return Cache(
        folder / "units",
        lambda records: json.dumps([asdict(record) for record in records], allow_nan=False),
        lambda text: [Record(**record) for record in json.loads(text)],
    )


def _key(plan: MeasurementPlan, checksums: Mapping[str, str], unit: Unit) -> str:
    # Of an optimizer's packages only its own matter.
    own = () if unit.optimizer == POOL else (unit.optimizer,)
    return key_of({
        **plan.settings.fixed(),
        "versions": versions(own),
        "unit": unit.name,
        "calls": [unit.first, unit.stop],
        "data": checksums[unit.task.dataset],
    })  # fmt: skip


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
