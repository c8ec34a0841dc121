"""Measuring: every optimizer on every task, each run in a process of its own, and kept.

A finished run is kept under a key of all that its losses depend on. So a measurement that was
killed goes on with the runs that are missing, one with more tasks or optimizers adds only theirs,
and one with another seed, other data or other versions of libraries finds nothing.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import MissingExtraError, PickbestError, check_count, check_seed, unknown_name
from pickbest.core.progress import Progress
from studies.cache import Cache, key_of
from studies.tuning.dataset import CAPS, Dataset, dataset_names, load_dataset
from studies.tuning.optimizers import OPTIMIZERS, make_optimizer
from studies.tuning.space import Point
from studies.tuning.task import MODELS, Task, evaluate, loss_of_frequencies

# Raised whenever the same settings would give other losses.
PROTOCOL = 1
# The random evaluations of a task, as if they were a run.
POOL = "pool"
# The same bits on every x86-64 machine: one thread, and no instructions that some lack.
PINNED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True)
class Settings:
    """What a measurement is made of. With other optimizers it grows; with anything else changed, it
    is another one."""

    optimizers: tuple[str, ...]
    calls: int = 20
    pool: int = 60
    seed: int = 0
    data: str = "embedded"

    def __post_init__(self) -> None:
        check_count("calls", self.calls)
        check_seed(self.seed)
        if self.pool < self.calls:
            raise PickbestError(
                f"pool must be at least calls={self.calls}, so that `rand` can be estimated, "
                f"got {self.pool}"
            )
        if not self.optimizers or len(set(self.optimizers)) != len(self.optimizers):
            raise PickbestError(f"optimizers must be different names, got {self.optimizers}")

    def fixed(self, optimizers: tuple[str, ...]) -> dict[str, Any]:
        """What the losses of these optimizers depend on."""
        return {
            "protocol": PROTOCOL,
            "seed": self.seed,
            "calls": self.calls,
            "caps": CAPS,
            "versions": versions(optimizers),
        }


@dataclass(frozen=True)
class Unit:
    """A run of an optimizer on a task (its calls in sequence), or the pool of the task."""

    task: Task
    optimizer: str
    calls: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.task.name}/{self.optimizer}"


@dataclass(frozen=True)
class Record:
    """What was tried at a call, and its loss; None with the reason where it failed."""

    point: Point | None
    loss: float | None
    reason: str = ""
    seconds: float = 0.0


Records = dict[str, list[Record]]
"""By the name of a unit: its calls in order."""


@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """Settings, tasks in the order of measuring, their data sets, and why sets were refused."""

    settings: Settings
    tasks: tuple[Task, ...]
    datasets: dict[str, Dataset]
    refused: dict[str, str]

    def units(self) -> Iterator[Unit]:
        """Task by task, so that an interrupted measurement has whole tasks first."""
        for task in self.tasks:
            yield from self.units_of(task)

    def units_of(self, task: Task) -> list[Unit]:
        """All runs of a task and its pool."""
        settings = self.settings
        runs = [Unit(task, name, settings.calls, settings.seed) for name in settings.optimizers]
        return [*runs, Unit(task, POOL, settings.pool, settings.seed)]

    def key(self, unit: Unit) -> str:
        """What the losses of a unit depend on."""
        # Of an optimizer's packages only its own matter.
        own = () if unit.optimizer == POOL else (unit.optimizer,)
        fixed = {**self.settings.fixed(own), "calls": unit.calls, "unit": unit.name}
        return key_of({**fixed, "data": self.datasets[unit.task.dataset].checksum()})


def make_plan(settings: Settings, names: Sequence[str], models: Sequence[str]) -> MeasurementPlan:
    """Load the data sets (all where none is named); those that cannot be used are listed."""
    for model in models:
        if model not in MODELS:
            raise unknown_name("model", model, MODELS)
    known = dataset_names(settings.data)
    for name in names:
        if name not in known:
            raise unknown_name("data set", name, known)
    if len(set(names)) != len(names) or len(set(models)) != len(models):
        raise PickbestError(f"data sets and models must be different, got {names} and {models}")
    versions(settings.optimizers)
    datasets: dict[str, Dataset] = {}
    refused: dict[str, str] = {}
    for name in names or known:
        try:
            datasets[name] = load_dataset(settings.data, name)
        except PickbestError as error:
            refused[name] = str(error)
    if not datasets:
        raise PickbestError(f"there is nothing to measure: {'; '.join(refused.values())}")
    tasks = tuple(Task(model, name, settings.data) for name in datasets for model in models)
    return MeasurementPlan(settings, tasks, datasets, refused)


@cache
def versions(optimizers: tuple[str, ...]) -> dict[str, str]:
    """Versions of the packages that matter; Python's own is not among them."""
    packages = ["numpy", "scipy", "scikit-learn"]
    for name in optimizers:
        if name not in OPTIMIZERS:
            raise unknown_name("optimizer", name, OPTIMIZERS)
        packages += OPTIMIZERS[name].packages
    found: dict[str, str] = {}
    for package in sorted(set(packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError as error:
            raise MissingExtraError(package, "tuning", "measuring") from error
    return found


def kept_records(plan: MeasurementPlan, folder: Path) -> Records:
    """The units of the plan that are finished."""
    found = {unit.name: _cache(folder).read(plan.key(unit)) for unit in plan.units()}
    return {name: records for name, records in found.items() if records is not None}


def measure(
    plan: MeasurementPlan, folder: Path, workers: int = 1, progress: Progress | None = None
) -> Records:
    """Measure what is not kept in the folder yet; returns all of it.

    Ctrl-C waits for the runs that are under way; what is finished stays.
    """
    check_count("workers", workers)
    records, kept = kept_records(plan, folder), _cache(folder)
    waiting = [unit for unit in plan.units() if unit.name not in records]
    total, pool = len(records) + len(waiting), ThreadPoolExecutor(workers)
    try:
        futures = {pool.submit(play_elsewhere, unit): unit for unit in waiting}
        for future in as_completed(futures):
            unit = futures[future]
            records[unit.name] = future.result()
            kept.keep(plan.key(unit), records[unit.name])
            if progress:
                progress(len(records), total, unit.name)
    finally:
        pool.shutdown(cancel_futures=True)
    return records


def play_elsewhere(unit: Unit) -> list[Record]:
    """Play a unit in a fresh process: libraries have global state. One that dies has failed."""
    done = subprocess.run(
        [sys.executable, "-m", "studies.tuning.measurement", json.dumps(asdict(unit))],
        env={**os.environ, **PINNED}, cwd=Path(__file__).parents[2], capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode == 0:
        return [Record(**record) for record in json.loads(done.stdout.splitlines()[-1])]
    if done.returncode > 0:
        last = (done.stderr.strip() or "no reason").splitlines()[-1]
        raise PickbestError(f"{unit.name}: {last}")
    return [_failed(f"process died (signal {-done.returncode})")] * unit.calls


def play(unit: Unit) -> list[Record]:
    """Play a unit in this process."""
    return list(_pool(unit) if unit.optimizer == POOL else _run(unit))


def stable_seed(*parts: str | int) -> int:
    """31 bits that depend on the parts alone, on every machine.

    >>> stable_seed(0, "mlp-iris", "random", 0)
    1485960399
    """
    digest = hashlib.sha256("\n".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _pool(unit: Unit) -> Iterator[Record]:
    """Independent random points."""
    for call in range(unit.calls):
        rng = np.random.default_rng(stable_seed(unit.seed, unit.task.name, POOL, call))
        yield _evaluated(unit.task, unit.task.space.sample(rng))


def _run(unit: Unit) -> Iterator[Record]:
    """Ask, evaluate, tell; what an optimizer that fails leaves undone are failures."""
    task, made = unit.task, 0
    # A failure is told as the worst loss so far.
    worst = loss_of_frequencies(task)
    try:
        own_seed = stable_seed(unit.seed, task.name, unit.optimizer, 0)
        optimizer = make_optimizer(unit.optimizer, task.space, own_seed, unit.calls)
        for _ in range(unit.calls):
            point = optimizer.ask()
            task.space.check(point)
            record = _evaluated(task, point)
            yield record
            made += 1
            worst = worst if record.loss is None else max(worst, record.loss)
            optimizer.tell(point, worst if record.loss is None else record.loss)
    except MissingExtraError:
        raise
    except Exception as error:
        reason = f"optimizer: {type(error).__name__}: {error}"
        yield from (_failed(reason) for _ in range(made, unit.calls))


def _evaluated(task: Task, point: Point) -> Record:
    result = evaluate(task, point)
    return Record(point, result.loss, result.reason, result.seconds)


def _failed(reason: str) -> Record:
    return Record(None, None, " ".join(reason.split())[:300])


def _cache(folder: Path) -> Cache[list[Record]]:
    return Cache(
        folder / "units",
        lambda records: json.dumps([asdict(record) for record in records], allow_nan=False),
        lambda text: [Record(**record) for record in json.loads(text)],
    )


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    # What libraries print is none of the measurer's output.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    played = play(Unit(**{**given, "task": Task(**given["task"])}))
    answer.write(json.dumps([asdict(record) for record in played]))
    answer.close()
