"""The game's words: each round, pick `budget` of `n_arms` arms and pay the smallest cost.

Axis 0 of every array is replicates: a live run is one replicate, a simulation is many, and the
code is the same.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from pickbest.core.arrays import FloatArray, IntArray, KeyArray
from pickbest.core.randomness import Draws

# What a learner or an environment knows. A learner's is a named tuple of arrays, which may hold
# further ones; `core.states` says how its fields declare what they are.
State = Any


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
class ContextLearner(Learner, Protocol):
    """A learner that can use features of a round which are known before it picks.

    features: (n_features,), the same in all replicates, or (replicates, n_features). A round
    that is picked with features is learned with the same ones; one without, without.
    """

    def pick_in(self, state: State, rng: Draws, features: ArrayLike) -> Choice:
        """As `pick`, in a round with these features."""
        ...

    def learn_in(
        self, state: State, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> State:
        """As `learn`, of a round that had these features."""
        ...

    def without_features(self, state: State) -> tuple[Learner, State]:
        """The learner that rounds without features are left to, and its part of the state."""
        ...


@runtime_checkable
class FeatureLearner(Learner, Protocol):
    """A learner that becomes another one when problems come with features."""

    def with_features(self, names: tuple[str, ...], state: State) -> tuple[ContextLearner, State]:
        """Who plays on from `state` (which it takes over), and its state then.

        names: of the features, encoded as in `core.features`.
        """
        ...


@runtime_checkable
class TableLearner(Learner, Protocol):
    """A learner that plays a whole table of costs in its own way."""

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        """(state, paid), equal bit for bit to picking and learning round by round.

        table: (replicates or 1, rounds, n_arms). lasting: (replicates,) keys of the run.
        paid: (replicates, rounds) costs of the best picked arm.
        """
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
