"""The game and its words: each round, pick `budget` of `n_arms` arms and pay the smallest cost.

Everything here is plain NumPy. Axis 0 of every array is replicates: a live run is one
replicate, a simulation is many, and the code is the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
KeyArray = NDArray[np.uint64]
State = dict[str, NDArray[Any]]


class PickbestError(ValueError):
    """Bad input: the message says what must hold, what came, and what to do."""


class MissingExtraError(ImportError):
    """An optional package is absent: the message names it and the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'pickbest[{extra}]'")


class Feedback(Enum):
    """What a learner sees after a round: every cost, or those of the arms that it picked."""

    FULL = "full"
    PICKED = "picked"


@dataclass(frozen=True, slots=True)
class Choice:
    """What `pick` returns and `learn` takes back, with all that was random in it.

    arms: (replicates, budget), in slot order.
    weights: (replicates, budget); the sum of the weights with which an arm occurs has
        expectation 1, so weight times cost is an unbiased estimate of the arm's cost (for
        most learners: 1 / P(arm picked)). None where the learner does not know them.
    """

    arms: IntArray
    weights: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Draws:
    """The randomness of one round: one 64-bit key a replicate, nothing else.

    Keys are a pure function of (seed, stream, replicate, round), so a replicate draws the
    same numbers alone, in a batch, on any worker, and after a restart.

    keys: (replicates,), different in every round.
    lasting: (replicates,), the same in every round (for perturbations that stay fixed).
    """

    keys: KeyArray
    lasting: KeyArray

    def uniforms(self, count: int) -> FloatArray:
        """(replicates, count) independent uniforms in (0, 1)."""
        return _uniforms(self.keys, count)

    def lasting_uniforms(self, count: int) -> FloatArray:
        """(replicates, count) uniforms that are the same in every round."""
        return _uniforms(self.lasting, count)

    def child(self, index: int) -> Draws:
        """Independent randomness for part `index` of the round; part 0 is the round's own."""
        if index == 0:
            return self
        offset = np.uint64(mix(index * MIX_1))
        return Draws(self.keys ^ offset, self.lasting ^ offset)

    def generator(self, replicate: int) -> np.random.Generator:
        """A NumPy generator for one replicate of this round, for learners that want one."""
        return np.random.default_rng(int(self.keys[replicate]))


@runtime_checkable
class Learner(Protocol):
    """A rule that picks arms. All randomness is in `pick`; `learn` is a deterministic fold."""

    @property
    def n_arms(self) -> int: ...

    @property
    def budget(self) -> int: ...

    @property
    def feedback(self) -> Feedback: ...

    @property
    def unbiased(self) -> bool:
        """Whether the weights of a choice are exactly unbiased (see Choice)."""
        ...

    def start(self, replicates: int) -> State:
        """The state before the first round."""
        ...

    def pick(self, state: State, rng: Draws) -> Choice:
        """Choose arms; leaves the state as it is."""
        ...

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        """Fold one round in. Takes the state over (it may be updated in place) and returns it.

        seen: (replicates, n_arms) with full feedback, else (replicates, budget), in the
        order of choice.arms.
        """
        ...


@runtime_checkable
class SlotLearner(Learner, Protocol):
    """A learner that can fill one slot of OG or OG_hybrid: it can leave taken arms out."""

    def pick_free(self, state: State, rng: Draws, taken: BoolArray) -> Choice:
        """As pick, over the arms that are not taken (replicates, n_arms); weights likewise."""
        ...


@runtime_checkable
class OpenLearner(Learner, Protocol):
    """A learner that may be able to learn of arms that others ran in its rounds."""

    @property
    def learns_any(self) -> bool:
        """Whether `learn` takes any number of arms: its own in slot order, then the others.

        The weights are then those of all arms together (see Choice).
        """
        ...


@runtime_checkable
class TableLearner(Learner, Protocol):
    """A learner that can play a whole table of costs in one compiled loop."""

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        """(state, paid), equal bit for bit to picking and learning round by round.

        table: (replicates or 1, rounds, n_arms). lasting: (replicates,) keys of the run.
        paid: (replicates, rounds) costs of the best picked arm.
        """
        ...


@runtime_checkable
class TableSlotLearner(SlotLearner, Protocol):
    """A learner that can fill every slot of OG or OG_hybrid in one compiled loop."""

    def play_slots(
        self,
        states: list[State],
        table: FloatArray,
        lasting: KeyArray,
        first_round: int,
        distinct: bool,
        shared: bool = False,
    ) -> FloatArray:
        """Costs paid (replicates, rounds); states, one per slot, are updated in place."""
        ...


@runtime_checkable
class Environment(Protocol):
    """Where costs come from. Adaptive ones fold what the player did into their state."""

    @property
    def n_arms(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def adaptive(self) -> bool:
        """Whether costs depend on the player's past choices."""
        ...

    @property
    def varies(self) -> bool:
        """Whether costs differ between replicates."""
        ...

    def start(self, replicates: int) -> State: ...

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        """(replicates, n_arms) costs in [0, 1] of round `round_index`, counted from 0."""
        ...

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        """Fold in what the player picked; oblivious environments return the state as it is."""
        ...


def keep_best(arms: IntArray, costs: FloatArray) -> FloatArray:
    """What the game charges: the smallest cost among the picked arms, for each replicate.

    >>> keep_best(np.array([[0, 2]]), np.array([[0.4, 0.1, 0.3]]))
    array([0.3])
    """
    best: FloatArray = np.take_along_axis(costs, arms, axis=1).min(axis=1)
    return best


def play_table(
    learner: Learner, state: State, table: FloatArray, lasting: KeyArray, first_round: int
) -> tuple[State, FloatArray]:
    """(state, paid): play a table in one compiled loop where the learner has one."""
    if isinstance(learner, TableLearner):
        return learner.play_table(state, table, lasting, first_round)
    if isinstance(learner, TableSlotLearner):
        # A single slot is the learner itself.
        return state, learner.play_slots([state], table, lasting, first_round, distinct=True)
    return play_rounds(learner, state, table, lasting, first_round)


def play_rounds(
    learner: Learner, state: State, table: FloatArray, lasting: KeyArray, first_round: int
) -> tuple[State, FloatArray]:
    """(state, paid): play a table round by round. See TableLearner for the arguments."""
    replicates, rounds = len(lasting), table.shape[1]
    shape = (replicates, table.shape[2])
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs = np.ascontiguousarray(np.broadcast_to(table[:, t], shape))
        choice = learner.pick(state, rng_for(lasting, first_round + t))
        paid[:, t] = keep_best(choice.arms, costs)
        state = learner.learn(state, choice, visible(learner, choice, costs))
    return state, paid


def learns_any(learner: Learner) -> bool:
    """Whether the learner can learn of arms that others ran in its rounds (see OpenLearner)."""
    return isinstance(learner, OpenLearner) and learner.learns_any


def visible(learner: Learner, choice: Choice, costs: FloatArray) -> FloatArray:
    """What the learner may see of the costs (replicates, n_arms) of a round."""
    if learner.feedback is Feedback.FULL:
        return costs
    return np.take_along_axis(costs, choice.arms, axis=1)


# Randomness ---------------------------------------------------------------------------------

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
_MASK = (1 << 64) - 1
LEARNER_STREAM, ENVIRONMENT_STREAM = 1, 2


def mix(value: int) -> int:
    """SplitMix64's finalizer: a bijection of 64-bit words that scatters neighbours."""
    value &= _MASK
    value = ((value ^ (value >> 30)) * MIX_1) & _MASK
    value = ((value ^ (value >> 27)) * MIX_2) & _MASK
    return value ^ (value >> 31)


def mix_array(values: KeyArray) -> KeyArray:
    """`mix` for arrays."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(MIX_1)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(MIX_2)
    return values ^ (values >> np.uint64(31))


def replicate_keys(
    seed: int, replicates: int, first: int = 0, stream: int = LEARNER_STREAM
) -> KeyArray:
    """(replicates,) keys that last a whole run, for replicates first, first + 1, …"""
    root = mix(mix(check_seed(seed) + GOLDEN) ^ (stream * MIX_1))
    index = np.arange(first, first + replicates, dtype=np.uint64)
    return mix_array(np.uint64(root) + index * np.uint64(GOLDEN))


def rng_for(lasting: KeyArray, round_index: int) -> Draws:
    """The randomness of one round, from keys that last a run.

    >>> keys = replicate_keys(seed=0, replicates=2)
    >>> bool(np.all(rng_for(keys, 5).uniforms(3) == rng_for(keys, 5).uniforms(3)))
    True
    """
    # Both words are well mixed, and every draw mixes its counter again: xor is enough.
    return Draws(lasting ^ np.uint64(mix(round_index + GOLDEN)), lasting)


def _uniforms(keys: KeyArray, count: int) -> FloatArray:
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    words = mix_array(keys[:, None] + steps[None, :])
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


# Input checks -------------------------------------------------------------------------------


def check_seed(seed: int) -> int:
    """A seed is a whole number from 0 to 2^64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _MASK:
        raise PickbestError(f"seed must be a whole number between 0 and 2^64 - 1, got {seed!r}")
    return int(seed)


def check_count(name: str, value: int, least: int = 1) -> int:
    """A whole number that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise PickbestError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_budget(budget: int, n_arms: int) -> int:
    """The budget is between 1 and the number of arms."""
    check_count("n_arms", n_arms)
    whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
    if not whole or not 1 <= budget <= n_arms:
        raise PickbestError(f"budget must be between 1 and n_arms={n_arms}, got {budget!r}")
    return int(budget)


def check_positive(name: str, value: float) -> float:
    """A finite number above 0."""
    number = isinstance(value, int | float | np.floating | np.integer)
    if not number or isinstance(value, bool) or not 0 < value < np.inf:
        raise PickbestError(f"{name} must be a number above 0, got {value!r}")
    return float(value)


def check_costs(costs: ArrayLike, shape: tuple[int, ...], name: str = "costs") -> FloatArray:
    """Finite numbers in [0, 1] of the given shape, as a float64 array."""
    try:
        array = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{name} must be numbers, got {costs!r}") from error
    if array.shape != shape:
        raise PickbestError(f"{name} must have shape {shape}, got {array.shape}")
    if not _in_unit_interval(array):
        bad = ~((array >= 0.0) & (array <= 1.0))
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        value = array[where]
        place = where[0] if len(where) == 1 else where
        if not np.isfinite(value):
            raise PickbestError(f"{name} must be finite numbers, got {value} at index {place}")
        raise PickbestError(
            f"{name} must be between 0 and 1, got {value:g} at index {place} "
            "(for rewards, pass 1 - reward)"
        )
    return array


def _in_unit_interval(array: FloatArray) -> bool:
    """Whether all values are in [0, 1]; NaN is not."""
    if array.ndim == 1 and array.size <= 32:
        # A live player's few costs: a plain loop is quicker than two reductions.
        return all(0.0 <= value <= 1.0 for value in array.tolist())
    return array.size == 0 or bool(array.min() >= 0.0 and array.max() <= 1.0)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> PickbestError:
    """The error for a name that is not known, with the nearest one suggested."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return PickbestError(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")
