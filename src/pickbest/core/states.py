"""What a learner knows: a named tuple of arrays, whose fields say what they are.

    class FPMLState(NamedTuple):
        costs: Annotated[FloatArray, sums(-1)]    cumulative estimated costs; the last axis is arms
        round: Annotated[IntArray, counts()]      rounds learned

A field may be a named tuple itself (the state of a part), in which every array may have further
axes behind the replicates; so arm axes are counted from the end. Code that changes or saves arms
reads the declarations, and guesses nothing.
"""

import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pickbest.core.errors import PickbestError
from pickbest.core.types import Learner, State

AnyArray = NDArray[Any]


class Kind(Enum):
    """What a field's numbers are.

    SUM: sums of estimates over all rounds: an arm that comes must be charged for those it missed.
    COUNT: sums over what was seen of an arm itself: one that comes has seen nothing.
    DERIVED: follows from the other fields (see `Refreshing`).
    """

    SUM = "sum"
    COUNT = "count"
    DERIVED = "derived"


@dataclass(frozen=True)
class Field:
    """The declaration of an array: its kind, and which axes, counted from the end, are arms.

    Where a learner keeps nothing for that many arms (pairs of very many), these axes have length 0.
    signed: whether what was seen may be negative.
    """

    kind: Kind
    arm_axes: tuple[int, ...] = ()
    signed: bool = False


def sums(*arm_axes: int) -> Field:
    """Sums of estimates over all rounds."""
    return Field(Kind.SUM, arm_axes)


def counts(*arm_axes: int, signed: bool = False) -> Field:
    """Numbers of what was seen itself."""
    return Field(Kind.COUNT, arm_axes, signed)


def derived(*arm_axes: int) -> Field:
    """Numbers that follow from the other fields."""
    return Field(Kind.DERIVED, arm_axes)


@runtime_checkable
class Refreshing(Protocol):
    """A learner whose state has derived fields."""

    def refreshed(self, state: State) -> State:
        """The state with derived fields that follow from the others."""
        ...


def refreshed(learner: Learner, state: State) -> State:
    """A state whose numbers were changed from without, as the learner needs it."""
    return learner.refreshed(state) if isinstance(learner, Refreshing) else state


def fields(state: State) -> Iterator[tuple[str, AnyArray, Field]]:
    """(path, array, declaration) of every array, parts in depth first."""
    kind: type = type(state)
    declared = _declarations(kind)
    for name, value in zip(_names(state), state, strict=True):
        if isinstance(value, tuple):
            for path, array, field in fields(value):
                yield f"{name}/{path}", array, field
        else:
            yield name, value, declared[name]


def arrays_of(state: State) -> dict[str, AnyArray]:
    """Every array by its path, as a save file has them."""
    return {path: array for path, array, _ in fields(state)}


def known_arrays(state: State) -> dict[str, AnyArray]:
    """Every array by its path that does not follow from others."""
    return {path: array for path, array, field in fields(state) if field.kind is not Kind.DERIVED}


def map_state(change: Callable[[AnyArray], AnyArray], state: State) -> State:
    """The same named tuples around changed arrays."""
    parts = (map_state(change, v) if isinstance(v, tuple) else change(v) for v in state)
    return type(state)(*parts)


def restore_arrays(pattern: State, arrays: Mapping[str, AnyArray]) -> State:
    """A state shaped like `pattern` from arrays by path; raises where they do not fit."""
    expected = arrays_of(pattern)
    if arrays.keys() != expected.keys() or any(
        arrays[path].shape != array.shape or arrays[path].dtype.kind != array.dtype.kind
        for path, array in expected.items()
    ):
        raise PickbestError(
            "the saved state does not fit the learner: "
            f"expected {_shapes(expected)}, got {_shapes(arrays)}"
        )
    ordered = iter([arrays[path].astype(array.dtype) for path, array in expected.items()])
    return map_state(lambda _: next(ordered), pattern)


@runtime_checkable
class Checked(Protocol):
    """A part of a state that compiled code trusts, and which a file may have wrong."""

    def check(self) -> None:
        """Raise a PickbestError where its numbers do not fit each other."""
        ...


def check_state(state: State) -> State:
    """A state that came from a file, checked: finite numbers, no negative count, parts sound."""
    for path, array, field in fields(state):
        if not array.size:
            continue
        low, high = array.min(), array.max()
        counted = field.kind is Kind.COUNT
        least = -MOST_COUNTED if field.signed else 0
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise PickbestError(f"the saved state has no finite numbers in {path}")
        most = MOST_ROUNDS if array.dtype.kind == "i" else MOST_COUNTED
        if counted and not (least <= low and high <= most):
            raise PickbestError(f"{path}: counts must be between {least:g} and {most:g}")
    _check_parts(state)
    return state


def _check_parts(state: State) -> None:
    if isinstance(state, Checked):
        state.check()
    for part in state:
        if isinstance(part, tuple):
            _check_parts(part)


# Discounted counts are kept in growing units; squares of these must not overflow.
MOST_COUNTED = 1e100
MOST_ROUNDS = 2**53


def copy_state(state: State) -> State:
    """An independent copy."""
    return map_state(np.ndarray.copy, state)


def repeat_state(state: State, times: int) -> State:
    """Every replicate `times` times, side by side."""
    return map_state(lambda array: np.repeat(array, times, axis=0), state)


def same_state(first: State, second: State) -> bool:
    """Whether two states are equal bit for bit."""
    return same_layout(first, second) and all(
        np.array_equal(one, other)
        for (_, one, _), (_, other, _) in zip(fields(first), fields(second), strict=True)
    )


def same_layout(first: State, second: State) -> bool:
    """Whether two states have the same fields and shapes."""
    one, other = arrays_of(first), arrays_of(second)
    return one.keys() == other.keys() and all(one[path].shape == other[path].shape for path in one)


def _names(state: State) -> tuple[str, ...]:
    if not hasattr(type(state), "_fields"):
        raise PickbestError(
            f"a learner's state must be a typing.NamedTuple of arrays, got {type(state).__name__}"
        )
    names: tuple[str, ...] = type(state)._fields
    return names


@cache
def _declarations(kind: type) -> dict[str, Field]:
    """The declaration of every field; a plain array is a count without arms, of any sign."""
    hints, plain = typing.get_type_hints(kind, include_extras=True), counts(signed=True)
    return {
        name: next(
            (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Field)), plain
        )
        for name, hint in hints.items()
    }


def _shapes(arrays: Mapping[str, AnyArray]) -> dict[str, tuple[int, ...]]:
    return {path: array.shape for path, array in arrays.items()}
