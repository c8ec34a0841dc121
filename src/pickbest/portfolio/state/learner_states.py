"""All that looks inside a learner's state: comparing it, and taking it along to other arms.

When arms come and go, what is known of an arm goes with its name.

The arrays of a learner's state have axes that count arms; they are found by asking how the
arrays of a new learner grow with its number of arms. Then:

- An arm that stays keeps its numbers.
- An arm that comes is charged for the time that it was away (a new arm: for all rounds so
  far) what the arms that would be picked now were charged on average in that time. This is
  the rule for sleeping experts (Freund, Schapire, Singer and Warmuth 1997): it starts fairly,
  level with the arms that are trusted (or as far from them as when it left), neither ahead of
  them for want of a record nor buried under rounds that it never saw.
- This is for estimated sums of costs or rewards, of learners whose picks have weights. Counts
  of what was seen need no charge: an arm comes back with its counts, and a new
  one has none, which is what their theory asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pickbest.core import (
    FloatArray,
    Learner,
    State,
    replicate_keys,
    rng_for,
)

# Picks that are drawn, from keys of their own, to see which arms a learner would pick.
PROBES = 512
PROBE_SEED = 20_270_131

# Arrays that hold no sums of estimates, in the states of learners that have weights.
COUNTS = frozenset({"arms", "use"})

MakeLearner = Callable[[int], Learner]


@dataclass(frozen=True)
class Snapshot:
    """Everything that was known when an arm left."""

    arms: tuple[str, ...]
    state: State


# The last snapshot of each arm that is away.
Archive = dict[str, Snapshot]


def pick_shares(learner: Learner, state: State, probes: int = PROBES) -> FloatArray:
    """How often each arm would be picked now, in a fixed sample of picks: sums to the budget."""
    repeated = {name: np.repeat(array, probes, axis=0) for name, array in state.items()}
    choice = learner.pick(repeated, rng_for(replicate_keys(PROBE_SEED, probes), 0))
    counts = np.bincount(choice.arms.ravel(), minlength=learner.n_arms)
    shares: FloatArray = counts / probes
    return shares


def same_state(first: State, second: State) -> bool:
    """Whether two states are equal bit for bit."""
    return same_shape(first, second) and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def same_shape(first: State, second: State) -> bool:
    """Whether two states have the same arrays with the same shapes."""
    return first.keys() == second.keys() and all(
        first[name].shape == second[name].shape for name in first
    )


def carried(
    make: MakeLearner,
    state: State,
    old_arms: Sequence[str],
    new_arms: Sequence[str],
    archive: Archive,
) -> State:
    """The state of a learner for `new_arms` that knows what `state` knew of `old_arms`.

    Updates the archive. make(n_arms) gives the learner that is used for so many arms.
    """
    old, new = make(len(old_arms)), make(len(new_arms))
    now = Snapshot(tuple(old_arms), {name: array.copy() for name, array in state.items()})
    draws = rng_for(replicate_keys(PROBE_SEED, 1), 0)
    sums = old.pick(state, draws).weights is not None
    shares = dict(zip(old_arms, pick_shares(old, state).tolist(), strict=True))
    axes = _arm_axes(make, len(old_arms))
    fresh = new.start(1)
    if any(name not in now.state or name not in axes for name in fresh):
        return fresh  # The learner is shaped otherwise for this many arms: begin again.
    beginning = Snapshot(now.arms, old.start(1))
    for name, array in fresh.items():
        if not axes[name]:
            array[...] = now.state[name]
            continue
        charged = (
            sums
            and name not in COUNTS
            and len(axes[name]) == 1
            and np.issubdtype(array.dtype, np.floating)
        )
        for places in product(range(len(new_arms)), repeat=len(axes[name])):
            arms = tuple(new_arms[place] for place in places)
            where = _at(array.ndim, axes[name], places)
            away = [arm for arm in arms if arm not in now.arms]
            source = now if not away else archive.get(away[0], beginning)
            if all(arm in source.arms for arm in arms):
                array[where] = _value(source, name, axes[name], arms)
            if away and charged:
                array[where] += _charge(source, now, name, axes[name], shares)
    for arm in new_arms:
        archive.pop(arm, None)
    archive.update({arm: now for arm in old_arms if arm not in new_arms})
    return fresh


def _value(source: Snapshot, name: str, axes: tuple[int, ...], arms: Sequence[str]) -> Any:
    array = source.state[name]
    return array[_at(array.ndim, axes, tuple(source.arms.index(arm) for arm in arms))]


def _charge(
    then: Snapshot, now: Snapshot, name: str, axes: tuple[int, ...], shares: Mapping[str, float]
) -> Any:
    """What the arms that would be picked now were charged since then, on average."""
    common = [arm for arm in now.arms if arm in then.arms]
    total = sum(shares[arm] for arm in common)
    if total <= 0.0:
        return 0.0
    return sum(
        shares[arm] / total * (_value(now, name, axes, [arm]) - _value(then, name, axes, [arm]))
        for arm in common
    )


def _arm_axes(make: MakeLearner, n_arms: int) -> dict[str, tuple[int, ...]]:
    """Which axes of each state array count arms: those that grow with the number of arms."""
    small, large = make(n_arms).start(1), make(n_arms + 1).start(1)
    return {
        name: tuple(
            axis
            for axis, (before, after) in enumerate(zip(array.shape, large[name].shape, strict=True))
            if after == before + 1
        )
        for name, array in small.items()
        if name in large and array.ndim == large[name].ndim
    }


def _at(
    dimensions: int, axes: tuple[int, ...], places: tuple[int, ...]
) -> tuple[int | slice[None, None, None], ...]:
    index: list[int | slice[None, None, None]] = [slice(None)] * dimensions
    for axis, place in zip(axes, places, strict=True):
        index[axis] = place
    return tuple(index)
