"""What is measured: settings, tasks, and the units of work in their order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pickbest.core import MissingExtraError, PickbestError, check_count, check_seed, unknown_name
from pickbest.core.codec import plain
from studies.tuning.measurement.units import POOL, Unit
from studies.tuning.optimizers import OPTIMIZERS
from studies.tuning.tasks import MODELS, Caps, Dataset, Task, dataset_names, load_dataset
from studies.tuning.tasks.dataset import DEFAULT_CAPS

POOL_CHUNK = 20
# Raised whenever the same settings would give other losses.
PROTOCOL = 1


@dataclass(frozen=True)
class Settings:
    """What a measurement is made of.

    With other optimizers, a larger pool or more repetitions, a measurement grows; with anything
    else changed, it is another one.
    """

    optimizers: tuple[str, ...]
    calls: int = 20
    pool: int = 60
    repetitions: int = 1
    seed: int = 0
    data: str = "embedded"
    caps: Caps = DEFAULT_CAPS

    def __post_init__(self) -> None:
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
        """What all losses depend on."""
        return {
            "protocol": PROTOCOL,
            "seed": self.seed,
            "calls": self.calls,
            "caps": plain(self.caps),
            "versions": versions(self.optimizers),
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
        """Of each data set."""
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

    names: data sets in the order of measuring, none for all. most: the most tasks.
    """
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
            datasets[name] = load_dataset(settings.data, name, settings.caps)
        except PickbestError as error:
            refused[name] = str(error)
            continue
        tasks += [Task(m, name, settings.data, settings.caps) for m in models]
    if not tasks:
        reasons = "; ".join(refused.values())
        raise PickbestError(f"there is nothing to measure{': ' if reasons else ''}{reasons}")
    return MeasurementPlan(settings, tuple(tasks[:most]), datasets, refused)


@cache
def versions(optimizers: tuple[str, ...]) -> dict[str, str]:
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
