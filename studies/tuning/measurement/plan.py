"""What is measured: settings, tasks, and the units of work in their order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pickbest.core import MissingExtraError, PickbestError, check_count, check_seed, unknown_name
from pickbest.core.codec import plain
from studies.tuning.measurement.units import POOL, Unit
from studies.tuning.optimizers import OPTIMIZERS
from studies.tuning.tasks import MODELS, Caps, Dataset, Task, dataset_names, load_dataset
from studies.tuning.tasks.dataset import DEFAULT_CAPS
from studies.tuning.tasks.task import load_objective, load_space, source_checksum

POOL_CHUNK = 20
# Raised whenever the same settings would give other losses.
PROTOCOL = 1


@dataclass(frozen=True)
class Settings:
    """What a measurement is made of.

    seed, calls, caps, data and label cannot change once it has begun; the rest may grow.
    objective, space: `module:function` and `module:SPACE` of the user's own, instead of data.
    """

    optimizers: tuple[str, ...]
    calls: int = 20
    pool: int = 60
    repetitions: int = 1
    seed: int = 0
    data: str = "embedded"
    label: str = "target"
    caps: Caps = DEFAULT_CAPS
    objective: str = ""
    space: str = ""

    def __post_init__(self) -> None:
        if bool(self.objective) != bool(self.space):
            raise PickbestError(
                "an objective of your own needs its space, and a space its objective: give both, "
                f"each as module:NAME, got {self.objective!r} and {self.space!r}"
            )
        check_count("calls", self.calls)
        check_count("repetitions", self.repetitions)
        check_seed(self.seed)
        if self.pool < self.calls:
            raise PickbestError(
                f"pool must be at least calls={self.calls}, so that `rand` can be estimated, "
                f"got {self.pool}"
            )
        if not self.optimizers or len(set(self.optimizers)) != len(self.optimizers):
            raise PickbestError(f"optimizers must be different names, got {self.optimizers}")

    def fixed(self) -> dict[str, Any]:
        """What a journal that goes on must agree with."""
        return {
            "protocol": PROTOCOL,
            "seed": self.seed,
            "calls": self.calls,
            "caps": plain(self.caps),
            "label": self.label,
            "versions": versions(self.optimizers),
            **({"objective": self.objective, "space": self.space} if self.objective else {}),
        }


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
        runs = [
            Unit(task, optimizer, repetition, settings.calls)
            for repetition in range(settings.repetitions)
            for optimizer in settings.optimizers
        ]
        chunks = [
            Unit(task, POOL, part, min(first + POOL_CHUNK, settings.pool), first)
            for part, first in enumerate(range(0, settings.pool, POOL_CHUNK))
        ]
        return runs + chunks

    def checksums(self) -> dict[str, str]:
        """Of each data set, or of the file of the objective."""
        own = self.settings.objective
        if own:
            return {name: source_checksum(name) for name in (own, self.settings.space)}
        return {name: dataset.checksum() for name, dataset in self.datasets.items()}

    @property
    def evaluations(self) -> int:
        settings = self.settings
        runs = len(settings.optimizers) * settings.repetitions * settings.calls
        return len(self.tasks) * (runs + settings.pool)


def make_plan(
    settings: Settings, names: Sequence[str], models: Sequence[str], most: int | None = None
) -> MeasurementPlan:
    """Load the data sets; those that cannot be used are listed with the reason.

    names: data sets in the order of measuring, none for all; of an objective of the user's the
    jobs that it is called with, none for a single one without a name. most: the most tasks.
    """
    if settings.objective:
        return _own_plan(settings, names or [""], most)
    for model in models:
        if model not in MODELS:
            raise unknown_name("model", model, MODELS)
    known = dataset_names(settings.data)
    for name in names:
        if name not in known:
            raise unknown_name("data set", name, known)
    if len(set(names)) != len(names) or len(set(models)) != len(models):
        raise PickbestError(f"data sets and models must be different, got {names} and {models}")
    datasets: dict[str, Dataset] = {}
    refused: dict[str, str] = {}
    tasks: list[Task] = []
    for name in names or known:
        if most is not None and len(tasks) >= most:
            break
        try:
            datasets[name] = load_dataset(settings.data, name, settings.label, settings.caps)
        except PickbestError as error:
            refused[name] = str(error)
            continue
        tasks += [Task(m, name, settings.data, settings.label, settings.caps) for m in models]
    if not tasks:
        reasons = "; ".join(refused.values())
        raise PickbestError(f"there is nothing to measure{': ' if reasons else ''}{reasons}")
    return MeasurementPlan(settings, tuple(tasks[:most]), datasets, refused)


def _own_plan(settings: Settings, jobs: Sequence[str], most: int | None) -> MeasurementPlan:
    load_objective(settings.objective)
    load_space(settings.space)
    if len(set(jobs)) != len(jobs):
        raise PickbestError(f"jobs must be different, got {jobs}")
    name, fields = settings.objective.partition(":")[2], (settings.objective, settings.space)
    tasks = [Task(name, job, "", "", settings.caps, *fields) for job in jobs]
    return MeasurementPlan(settings, tuple(tasks[:most]), {}, {})


def versions(optimizers: Sequence[str]) -> dict[str, str]:
    """Versions of the packages that matter; Python's own is not among them."""
    packages = ["numpy", "scipy", "scikit-learn"]
    for name in optimizers:
        if ":" not in name and name not in OPTIMIZERS:
            raise unknown_name("optimizer", name, OPTIMIZERS)
        packages += OPTIMIZERS[name].packages if name in OPTIMIZERS else ()
    found: dict[str, str] = {}
    for package in sorted(set(packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError as error:
            raise MissingExtraError(package, "tuning", "measuring") from error
    return found
