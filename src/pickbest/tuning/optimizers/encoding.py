"""How parameters go into a library that knows numbers and choices but not our scales.

Integers go in as integers and categories as choices; reals and integers on the log scale as
coordinates between 0 and 1, which every library can search in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

from pickbest.tuning.space import Categorical, Integer, Parameter, Point, Space, Value


def plain_integer(parameter: Parameter) -> TypeGuard[Integer]:
    """Whether the parameter goes in as an integer."""
    return isinstance(parameter, Integer) and not parameter.log


def decoded(space: Space, values: Iterable[Any]) -> Point:
    """The point for a library's values, given in the order of the parameters."""
    return {p.name: _value(p, v) for p, v in zip(space.parameters, values, strict=True)}


def _value(parameter: Parameter, value: Any) -> Value:
    if isinstance(parameter, Categorical):
        return str(value)
    if plain_integer(parameter):
        return int(value)
    return parameter.from_unit(float(value))
