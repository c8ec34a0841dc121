"""Units of work, and how one is played: a stream of messages, what is tried and what came out."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import MissingExtraError
from pickbest.core.codec import plain
from studies.tuning.optimizers import make_optimizer
from studies.tuning.space import Point
from studies.tuning.tasks import Task, evaluate
from studies.tuning.tasks.task import loss_of_frequencies

POOL = "pool"

Message = dict[str, Any]


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
        """As it stands in the journal."""
        return f"{self.task.name}/{self.optimizer}/{self.part}"

    @property
    def calls(self) -> range:
        return range(self.first, self.stop)

    @property
    def is_pool(self) -> bool:
        """Whether the evaluations are independent of each other."""
        return self.optimizer == POOL


@dataclass(frozen=True)
class Known:
    """What came out of a call before."""

    call: int
    point: Point | None
    loss: float | None


@dataclass(frozen=True)
class Request:
    """A unit to be played, and what is known of it."""

    unit: Unit
    seed: int
    past: tuple[Known, ...] = ()


def play(request: Request) -> Iterator[Message]:
    """Play a unit in this process."""
    past = {known.call: known for known in request.past}
    yield from (play_pool if request.unit.is_pool else play_run)(request.unit, request.seed, past)


def stable_seed(*parts: str | int) -> int:
    """31 bits that depend on the parts alone, on every machine.

    >>> stable_seed(0, "mlp-iris", "random", 0)
    1485960399
    """
    digest = hashlib.sha256("\n".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def play_pool(unit: Unit, seed: int, past: Mapping[int, Known]) -> Iterator[Message]:
    """Evaluate the points of a chunk of the pool that are still unknown."""
    for call in unit.calls:
        if call not in past:
            rng = np.random.default_rng(stable_seed(seed, unit.task.name, unit.optimizer, call))
            yield from _try(unit.task, call, unit.task.space.sample(rng))


def play_run(unit: Unit, seed: int, past: Mapping[int, Known]) -> Iterator[Message]:
    """Ask, evaluate, tell; what is past is told again instead of being evaluated.

    An optimizer that asks for another point than it did before is no longer the same run: the
    message `mismatch` says so, and nothing follows.
    """
    task = unit.task
    worst = loss_of_frequencies(task)
    reached = 0
    try:
        own_seed = stable_seed(seed, task.name, unit.optimizer, unit.part)
        optimizer = make_optimizer(unit.optimizer, task.space, own_seed, len(unit.calls))
        for call in unit.calls:
            point = optimizer.ask()
            task.space.check(point)
            if call in past:
                if past[call].point != point:
                    yield {"mismatch": call}
                    return
                loss = past[call].loss
            else:
                loss = None
                for message in _try(task, call, point):
                    loss = message.get("loss")
                    yield message
            reached = call + 1
            if loss is not None:
                worst = max(worst, loss)
            optimizer.tell(point, worst if loss is None else loss)
    except MissingExtraError:
        raise
    except Exception as error:
        yield from _given_up(unit, reached, past, f"optimizer: {type(error).__name__}: {error}")


def _try(task: Task, call: int, point: Point) -> Iterator[Message]:
    yield {"started": call, "point": point}
    result = evaluate(task, point)
    yield {"call": call, "point": point, **plain(result)}


def _given_up(
    unit: Unit, reached: int, past: Mapping[int, Known], reason: str
) -> Iterator[Message]:
    """Failures for all calls that are left."""
    text = " ".join(reason.split())[:300]
    for left in range(reached, unit.stop):
        if left not in past:
            yield {"call": left, "point": None, "loss": None, "reason": text, "seconds": 0.0}
