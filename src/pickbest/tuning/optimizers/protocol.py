"""What every black-box optimizer offers, and what is said of one that has a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pickbest.tuning.space import Point, Space


@runtime_checkable
class Optimizer(Protocol):
    """Proposes points one at a time and is told their losses: ask, tell, ask, tell, …

    The same seed and the same losses give the same points, in any process. What else must hold
    is checked by `pickbest.testing.optimizers`.
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

    label: the paper's label for its nine, else a short label of the same kind.
    packages: what it needs from the extra `tuning`, as named on PyPI.
    """

    name: str
    label: str
    factory: Factory
    packages: tuple[str, ...]
    paper: bool
    says: str
