"""Search spaces: named integers and reals, and their map from the unit cube."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import PickbestError

Value = int | float
Point = dict[str, Value]


class Warp(StrEnum):
    """The scale on which a real parameter is uniform."""

    LOG = "log"
    LOGIT = "logit"


@dataclass(frozen=True)
class Integer:
    """A whole number from low to high, both included.

    Each integer owns an interval of the unit line: a uniform coordinate is a uniform integer.

    >>> Integer("depth", 1, 4).from_unit(0.6)
    3
    """

    name: str
    low: int
    high: int

    def from_unit(self, coordinate: float) -> int:
        """The integer in whose interval the coordinate lies."""
        place = self.low - 0.5 + coordinate * (self.high - self.low + 1)
        return min(max(round(place), self.low), self.high)

    def check(self, value: object) -> None:
        """A plain int from low to high."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise PickbestError(
                f"{self.name} must be a plain int from {self.low} to {self.high}, got {value!r}"
            )


@dataclass(frozen=True)
class Real:
    """A number from low to high, both included, uniform on the scale of its warp.

    >>> round(Real("rate", 1e-4, 1.0, Warp.LOG).from_unit(0.5), 6)
    0.01
    """

    name: str
    low: float
    high: float
    warp: Warp

    def from_unit(self, coordinate: float) -> float:
        """The value at this place; 0 and 1 give the bounds exactly."""
        if coordinate <= 0.0 or coordinate >= 1.0:
            return self.low if coordinate <= 0.0 else self.high
        first, last = self._scale(self.low), self._scale(self.high)
        place = first + coordinate * (last - first)
        value = math.exp(place) if self.warp is Warp.LOG else 1.0 / (1.0 + math.exp(-place))
        return min(max(value, self.low), self.high)

    def check(self, value: object) -> None:
        """A plain float from low to high; NaN is none."""
        if type(value) is not float or not self.low <= value <= self.high:
            raise PickbestError(
                f"{self.name} must be a plain float from {self.low} to {self.high}, got {value!r}"
            )

    def _scale(self, value: float) -> float:
        return math.log(value) - (math.log1p(-value) if self.warp is Warp.LOGIT else 0.0)


Parameter = Integer | Real


@dataclass(frozen=True)
class Space:
    """A box of parameters with different names.

    >>> space = Space((Real("rate", 0.001, 1.0, Warp.LOG), Integer("depth", 1, 9)))
    >>> space.from_unit([0.0, 1.0])
    {'rate': 0.001, 'depth': 9}
    """

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def sample(self, rng: np.random.Generator) -> Point:
        """A point that is uniform on the scales of the parameters."""
        return self.from_unit(rng.random(len(self.parameters)))

    def from_unit(self, coordinates: ArrayLike) -> Point:
        """The point at a place in the unit cube; coordinates outside it are moved to its edge."""
        places = np.asarray(coordinates, dtype=np.float64)
        if places.shape != (len(self.parameters),) or np.isnan(places).any():
            raise PickbestError(
                f"a place needs {len(self.parameters)} numbers, one per parameter, got {places}"
            )
        inside = np.clip(places, 0.0, 1.0).tolist()
        return {p.name: p.from_unit(c) for p, c in zip(self.parameters, inside, strict=True)}

    def check(self, point: Point) -> None:
        """Exactly the parameters' names, each with a plain value inside its bounds."""
        if not isinstance(point, dict) or set(point) != set(self.names):
            raise PickbestError(f"a point must be a dict with the names {self.names}, got {point}")
        for parameter in self.parameters:
            parameter.check(point[parameter.name])
