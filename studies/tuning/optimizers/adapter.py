"""What an optimizer is, and what adapters share: parameters in a library's terms, a sandbox."""

import logging
import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from studies.tuning.space import Integer, Point, Space


class Optimizer(Protocol):
    """Proposes points one at a time and is told their losses: ask, tell, ask, tell, …

    The same seed and the same losses give the same points, in any process.
    """

    def ask(self) -> Point:
        """The next point to try, inside the space; a point may come again."""
        ...

    def tell(self, point: Point, loss: float) -> None:
        """The finite loss of the point that was asked last; lower is better.

        A failed evaluation is told as the worst loss of the run so far.
        """
        ...


Factory = Callable[[Space, int, int], Optimizer]
"""factory(space, seed, calls), calls being the number of evaluations that are planned."""


@dataclass(frozen=True)
class OptimizerEntry:
    """A named optimizer.

    label: the paper's label.
    packages: what it needs from the extra `tuning`, as named on PyPI.
    """

    name: str
    label: str
    factory: Factory
    packages: tuple[str, ...]


def entries(kind: Callable[..., Optimizer], *rows: tuple[Any, ...]) -> list[OptimizerEntry]:
    """Those of one library. rows: name, label, packages, and the kind's settings."""
    return [
        OptimizerEntry(name, label, partial(kind, *settings), tuple(packages.split()))
        for name, label, packages, *settings in rows
    ]


# A library knows numbers, but not our scales: integers go in as integers, and reals as coordinates
# between 0 and 1, which every library can search in the same way.


def dimensions(
    space: Space, integer: Callable[[Integer], Any], unit: Callable[[str], Any]
) -> list[Any]:
    """The parameters as a library has them. unit: a coordinate between 0 and 1, by its name."""
    return [integer(p) if isinstance(p, Integer) else unit(p.name) for p in space.parameters]


def decoded(space: Space, values: Iterable[Any]) -> Point:
    """The point for a library's values, given in the order of the parameters."""
    return {
        p.name: int(value) if isinstance(p, Integer) else p.from_unit(float(value))
        for p, value in zip(space.parameters, values, strict=True)
    }


# Many libraries draw from the generators of `random` and `numpy.random`. Each optimizer gets
# its own state of both, swapped in while the library runs: neither another optimizer nor the
# objective can disturb it, and it disturbs nobody.


def small_seed(seed: int) -> int:
    """A 32-bit seed for libraries that take no larger one."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


class Sandbox:
    """The generators' states of one optimizer."""

    def __init__(self, seed: int) -> None:
        self._python = random.Random(seed).getstate()
        self._numpy = np.random.RandomState(small_seed(seed)).get_state()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Within it the global generators are this optimizer's, and nothing is logged.

        Linear algebra uses one thread: its sums, and so the points, depend on their number.
        """
        from threadpoolctl import threadpool_limits

        outside = _swap(self._python, self._numpy)
        level = logging.root.manager.disable
        logging.disable()
        try:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                yield
        finally:
            logging.disable(level)
            self._python, self._numpy = _swap(*outside)


def _swap(python: Any, numpy: Any) -> tuple[Any, Any]:
    """Set the states of both global generators and return those that they had."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002
    return before
