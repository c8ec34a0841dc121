"""What every black-box optimizer offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from pickbest.tuning.space import Point, Space


@runtime_checkable
class Optimizer(Protocol):
    """Proposes points one at a time and is told their losses: ask, tell, ask, tell, …

    The same seed and the same losses give the same points, in any process.
    """

    def ask(self) -> Point:
        """The next point to try, inside the space."""
        ...

    def tell(self, point: Point, loss: float) -> None:
        """The finite loss of the point that was asked last; lower is better."""
        ...


Factory = Callable[[Space, int, int], Optimizer]
"""factory(space, seed, calls), calls being the number of evaluations that are planned."""
