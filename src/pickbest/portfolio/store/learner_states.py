"""A learner's state when arms come and go: what is known of an arm goes with its name.

Every field of a state declares which of its axes are arms, and what kind its numbers are (see
core.states). Then:

- An arm that stays keeps its numbers.
- An arm that comes is charged for the time that it was away (a new arm: for all rounds so
  far) what the arms that would be picked now were charged on average in that time. This is
  the rule for sleeping experts (Freund, Schapire, Singer and Warmuth 1997): it starts fairly,
  level with the arms that are trusted (or as far from them as when it left), neither ahead of
  them for want of a record nor buried under rounds that it never saw.
- This is for sums of estimates. Counts of what was seen need no charge: an arm comes back with
  its counts, and a new one has none, which is what their theory asks for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pickbest.core import FloatArray, Learner, State, replicate_keys, rng_for
from pickbest.core.states import (
    AnyArray,
    Kind,
    copy_state,
    fields,
    known_arrays,
    refreshed,
    repeat_state,
)
from pickbest.core.types import start_state

# Picks that are drawn, from keys of their own, to see which arms a learner would pick: fewer
# where there are more than 50 arms, because they run as Python while a journal is folded.
PROBES, PROBED_ARMS = 128, 6_400
PROBE_SEED = 20_270_131

MakeLearner = Callable[[int], Learner]


@dataclass(frozen=True)
class LastSeen:
    """Everything that was known when an arm left: arrays by their path in the state."""

    arms: tuple[str, ...]
    arrays: Mapping[str, AnyArray]

    def at(self, path: str, axes: tuple[int, ...], arms: Sequence[str]) -> Any:
        """What an array says of an arm, or of several where it has several axes of arms."""
        return self.arrays[path][_index(axes, [self.arms.index(arm) for arm in arms])]

    def keeps(self, path: str) -> bool:
        """Whether the array holds anything: a learner of very many arms may keep no pairs."""
        return self.arrays[path].size > 0


# What was known last of each arm that is away.
Archive = dict[str, LastSeen]


def pick_shares(learner: Learner, state: State) -> FloatArray:
    """How often each arm would be picked now, in a fixed sample of picks: sums to the budget."""
    probes = max(1, min(PROBES, PROBED_ARMS // learner.n_arms))
    draws = rng_for(replicate_keys(PROBE_SEED, probes), 0)
    choice = learner.pick(repeat_state(state, probes), draws)
    counts = np.bincount(choice.arms.ravel(), minlength=learner.n_arms)
    shares: FloatArray = counts / probes
    return shares


def carried(
    make: MakeLearner,
    state: State,
    old_arms: Sequence[str],
    new_arms: Sequence[str],
    archive: Archive,
    n_features: int = 0,
) -> State:
    """The state of a learner for `new_arms` that knows what `state` knew of `old_arms`.

    Updates the archive. make(n_arms) gives the learner for that many arms.
    n_features: how many features problems come with.
    """
    old, new = make(len(old_arms)), make(len(new_arms))
    shares = dict(zip(old_arms, pick_shares(old, state).tolist(), strict=True))
    now = LastSeen(tuple(old_arms), known_arrays(copy_state(state)))
    beginning = LastSeen(now.arms, known_arrays(start_state(old, 1, n_features)))
    known = start_state(new, 1, n_features)
    if known_arrays(known).keys() != now.arrays.keys():
        return start_state(
            new, 1, n_features
        )  # The learner is another one for this many arms: begin again.
    for path, array, field in fields(known):
        axes = field.arm_axes
        if field.kind is Kind.DERIVED:
            continue
        if not axes:
            array[...] = now.arrays[path]
            continue
        if not array.size:
            continue
        charged = field.kind is Kind.SUM and len(axes) == 1
        for places in product(range(len(new_arms)), repeat=len(axes)):
            arms = [new_arms[place] for place in places]
            away = [arm for arm in arms if arm not in now.arms]
            source = now if not away else archive.get(away[0], beginning)
            if source.keeps(path) and all(arm in source.arms for arm in arms):
                array[_index(axes, places)] = source.at(path, axes, arms)
            if away and charged:
                array[_index(axes, places)] += _charge(source, now, path, axes, shares)
    for arm in new_arms:
        archive.pop(arm, None)
    archive.update({arm: now for arm in old_arms if arm not in new_arms})
    return refreshed(new, known)


def _charge(
    then: LastSeen, now: LastSeen, path: str, axes: tuple[int, ...], shares: Mapping[str, float]
) -> Any:
    """What the arms that would be picked now were charged since then, on average."""
    common = [arm for arm in now.arms if arm in then.arms]
    total = sum(shares[arm] for arm in common)
    if total <= 0.0:
        return 0.0
    return sum(
        shares[arm] / total * (now.at(path, axes, [arm]) - then.at(path, axes, [arm]))
        for arm in common
    )


def _index(axes: tuple[int, ...], places: Sequence[int]) -> tuple[Any, ...]:
    """The index of places along axes that are counted from the end."""
    index: list[Any] = [slice(None)] * -min(axes)
    for axis, place in zip(axes, places, strict=True):
        index[axis] = place
    return (..., *index)
