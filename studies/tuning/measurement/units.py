"""Units of work, and how one is played: every call with its point and what came out."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pickbest.core import MissingExtraError, PickbestError
from studies.tuning.optimizers import make_optimizer
from studies.tuning.space import Point
from studies.tuning.tasks import Task, evaluate
from studies.tuning.tasks.task import loss_of_frequencies

POOL = "pool"


@dataclass(frozen=True)
class Unit:
    """A run of an optimizer (its calls in sequence), or a chunk of the pool of a task.

    part: the repetition of a run, or the number of the chunk. first, stop: of its calls.
    """

    task: Task
    optimizer: str
    part: int
    stop: int
    first: int = 0

    @property
    def name(self) -> str:
        return f"{self.task.name}/{self.optimizer}/{self.part}"

    @property
    def calls(self) -> range:
        return range(self.first, self.stop)


@dataclass(frozen=True)
class Record:
    """What was tried at a call, and its loss; None with the reason where it failed."""

    point: Point | None
    loss: float | None
    reason: str = ""
    seconds: float = 0.0


def failed(reason: str) -> Record:
    """A call that was not made."""
    return Record(None, None, " ".join(reason.split())[:300])


def play(unit: Unit, seed: int) -> Iterator[Record]:
    """Play a unit in this process, which should be a fresh one: libraries have global state."""
    return (_play_pool if unit.optimizer == POOL else _play_run)(unit, seed)


def stable_seed(*parts: str | int) -> int:
    """31 bits that depend on the parts alone, on every machine.

    >>> stable_seed(0, "mlp-iris", "random", 0)
    1485960399
    """
    digest = hashlib.sha256("\n".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _play_pool(unit: Unit, seed: int) -> Iterator[Record]:
    """Independent random points."""
    for call in unit.calls:
        rng = np.random.default_rng(stable_seed(seed, unit.task.name, POOL, call))
        yield _evaluated(unit.task, unit.task.space.sample(rng))


def _play_run(unit: Unit, seed: int) -> Iterator[Record]:
    """Ask, evaluate, tell; what an optimizer that fails leaves undone are failures."""
    task, made = unit.task, 0
    # A failure is told as the worst loss so far.
    worst = loss_of_frequencies(task)
    try:
        own_seed = stable_seed(seed, task.name, unit.optimizer, unit.part)
        optimizer = make_optimizer(unit.optimizer, task.space, own_seed, len(unit.calls))
        for _ in unit.calls:
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
        if made == 0 and isinstance(error, PickbestError):
            raise
        reason = f"optimizer: {type(error).__name__}: {error}"
        yield from (failed(reason) for _ in range(made, len(unit.calls)))


def _evaluated(task: Task, point: Point) -> Record:
    result = evaluate(task, point)
    return Record(point, result.loss, result.reason, result.seconds)
