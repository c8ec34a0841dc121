"""States as 0.1.0 saved them: flat arrays whose prefixed names had to be known. Read only."""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pickbest.core import CompiledLearner, Learner, PickbestError, State
from pickbest.core.states import arrays_of, restore_arrays
from pickbest.kernels.integrals import POWERS
from pickbest.kernels.many_arms.buckets import N_BUCKETS, RING
from pickbest.kernels.pairs import PairsState
from pickbest.learners.auto import Auto, AutoState, GuardState, WearState
from pickbest.learners.contextual import CellsState, Contextual, ContextualState
from pickbest.learners.doubling import Doubling, DoublingState
from pickbest.learners.fpml_buckets import FPMLManyArms
from pickbest.learners.greedy import Greedy, GreedyState, start_slots
from pickbest.learners.guarded import Guarded, GuardedLast, GuardedState
from pickbest.learners.pairwise import Pairwise
from pickbest.learners.warm import Warm

Flat = Mapping[str, NDArray[Any]]


@singledispatch
def from_flat(learner: Learner, flat: Flat) -> State:
    """The state that 0.1.0's arrays stand for; raises where they do not fit the learner.

    Most learners have kept the names of their fields.
    """
    replicates = len(next(iter(flat.values()))) if flat else 1
    return restore_arrays(learner.start(replicates), flat)


@from_flat.register
def _(learner: Greedy, flat: Flat) -> State:
    return slots_from_flat(learner.inner, learner.slots, flat)


def slots_from_flat(inner: CompiledLearner, count: int, flat: Flat) -> GreedyState:
    """The state of online greedy, whose slots had numbers for prefixes."""
    slots = [from_flat(inner, _part(flat, str(slot))) for slot in range(count)]
    named = [arrays_of(slot) for slot in slots]
    stacked = {name: np.stack([slot[name] for slot in named], axis=1) for name in named[0]}
    replicates = len(next(iter(stacked.values())))
    return GreedyState(restore_arrays(start_slots(inner, replicates, count), stacked))


@from_flat.register
def _(learner: Doubling, flat: Flat) -> State:
    rest = dict(flat)
    learned = rest.pop("epoch_round")
    return DoublingState(from_flat(learner.after(int(learned[0])), rest), learned)


@from_flat.register(Guarded)
@from_flat.register(GuardedLast)
def _(learner: Guarded | GuardedLast, flat: Flat) -> State:
    inner = from_flat(learner.inner, _part(flat, "inner"))
    return GuardedState(inner, from_flat(learner.guard, _part(flat, "guard")))


@from_flat.register
def _(learner: Warm, flat: Flat) -> State:
    return from_flat(learner.inner, flat)


@from_flat.register
def _(learner: FPMLManyArms, flat: Flat) -> State:
    """Buckets were packed into two arrays, in which the places of the arms stood before the pool.

    0.1.0 did not count the rounds of this learner, whose picks do not depend on them: the count
    begins at 0.
    """
    n_arms, links, packed = learner.n_arms, flat["links"], flat["slots"]
    sizes = (1, 1, 1, 1, N_BUCKETS, N_BUCKETS, N_BUCKETS, RING * POWERS)
    if links.ndim != 2 or packed.shape[1:] != (sum(sizes),):
        raise PickbestError(
            "the saved state does not fit the learner: expected buckets of shape "
            f"(replicates, {sum(sizes)}), got {packed.shape}"
        )
    parts = np.split(packed, np.cumsum(sizes[:-1]), axis=1)
    base, reference, _, used, first, size, room, powers = parts
    replicates = len(packed)
    buckets = {
        "base": base[:, 0],
        "reference": reference[:, 0],
        "places": links[:, :n_arms],
        "pool": links[:, n_arms:],
        "used": used[:, 0] - n_arms,
        # 0 where a bucket never had a place in the pool.
        "first": np.maximum(first - n_arms, 0),
        "size": size,
        "room": room,
        "sums": powers.reshape(replicates, RING, POWERS),
    }
    arrays = {f"buckets/{name}": array for name, array in buckets.items()}
    arrays |= {"bits": flat["bits"], "round": np.zeros(replicates, np.int64)}
    return restore_arrays(learner.start(replicates), arrays)


@from_flat.register
def _(learner: Pairwise, flat: Flat) -> State:
    return _fitting(learner, flat, _pairs)


@from_flat.register
def _(learner: Auto, flat: Flat) -> State:
    return _fitting(learner, flat, _auto)


@from_flat.register
def _(learner: Contextual, flat: Flat) -> State:
    return _fitting(learner, flat, _contextual)


def _pairs(flat: Flat) -> PairsState:
    """Sums and numbers of arms and pairs lay side by side, a memory's numbers in columns."""
    *columns, errors = np.split(flat["memory"], range(1, 8), axis=-1)
    numbers = (column[..., 0] for column in columns)
    return PairsState._make([*_arms_and_pairs(flat), *numbers, errors])


def _arms_and_pairs(flat: Flat) -> tuple[NDArray[Any], ...]:
    return tuple(flat[name][:, :, side] for name in ("arms", "pairs") for side in (0, 1))


def _auto(flat: Flat) -> AutoState:
    wear, guard = np.moveaxis(flat["wear"], -1, 0), np.moveaxis(flat["guard"], -1, 0)
    return AutoState(
        _pairs(flat),
        WearState._make([*wear, flat["use"]]),
        GuardState._make([flat["costs"], *guard]),
    )


def _contextual(flat: Flat) -> ContextualState:
    lead = np.moveaxis(flat["lead"], -1, 0)
    return ContextualState(
        _auto(_part(flat, "all")), CellsState._make([*_arms_and_pairs(flat), *lead])
    )


def _fitting(learner: Learner, flat: Flat, unpacked: Callable[[Flat], State]) -> State:
    """The unpacked state as a contiguous copy; raises where it does not fit the learner."""
    try:
        arrays = arrays_of(unpacked(flat))
        start = learner.start(len(next(iter(arrays.values()))))
    except (LookupError, TypeError, ValueError) as error:
        raise PickbestError(
            f"the saved state does not fit {type(learner).__name__}: got {', '.join(flat)}"
        ) from error
    return restore_arrays(start, arrays)


def _part(flat: Flat, name: str) -> Flat:
    """The arrays of one part, without its prefix."""
    prefix = f"{name}/"
    return {
        path.removeprefix(prefix): array for path, array in flat.items() if path.startswith(prefix)
    }
