"""The game's words: each round, pick `budget` of `n_arms` arms and pay the smallest cost.

Axis 0 of every array is replicates: a live run is one replicate, a simulation is many, and the
code is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from pickbest.core.arrays import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.core.errors import PickbestError
from pickbest.core.randomness import Draws

# What a learner or an environment knows; only itself looks inside. A learner's is a named tuple of
# arrays, which may hold further ones; `core.states` says how its fields declare what they are.
State = Any


class Feedback(Enum):
    """What a learner sees after a round: every cost, or those of the arms that it picked."""

    FULL = "full"
    PICKED = "picked"


# Not frozen: one is made in every round, in half of the time.
@dataclass(slots=True)
class Choice:
    """What `pick` returns and `learn` takes back, with all that was random in it.

    arms: (replicates, budget), in slot order.
    weights: (replicates, budget); the sum of the weights with which an arm occurs has
        expectation 1, so weight times cost is an unbiased estimate of the arm's cost (for
        most learners: 1 / P(arm picked)). None where the learner does not know them.
    watch: (replicates,) how likely the learner wants a race of these arms to be watched to its
        end, where losers are stopped. None: never.
    """

    arms: IntArray
    weights: FloatArray | None = None
    watch: FloatArray | None = None


class Seen(NamedTuple):
    """What is known of a round: of all arms with full feedback, else of those that were picked.

    low, high: (replicates, arms) bounds of each arm's cost, in the order of `Choice.arms` or of all
        arms; equal where the cost is known. A learner that knows no intervals uses `high`.
    times: (replicates, arms) when the arm answered, or how long it ran without an answer, as a
        share of the deadline; 1 where it is known never to answer. None where nobody measured.
    watch: (replicates,) the probability with which the round was to be watched to its end.
    watched: (replicates,) whether it was. None, both: it was, certainly.
    """

    low: FloatArray
    high: FloatArray
    times: FloatArray | None = None
    watch: FloatArray | None = None
    watched: BoolArray | None = None

    @classmethod
    def of(cls, costs: FloatArray) -> Seen:
        """Costs that are known."""
        return cls(costs, costs)


class Learner(Protocol):
    """A rule that picks arms. All randomness is in `pick`; `learn` is a deterministic fold.

    Two further attributes may be given, and are False where they are not:
    unbiased: whether the weights of a choice are exactly unbiased (see Choice).
    uses_features: whether `pick` and `learn` make use of features. Then `start` also takes how many
        there will be: start(replicates, n_features=0).
    """

    @property
    def n_arms(self) -> int: ...

    @property
    def budget(self) -> int: ...

    @property
    def feedback(self) -> Feedback: ...

    def start(self, replicates: int) -> State:
        """The state before the first round."""
        ...

    def pick(self, state: State, draws: Draws, features: FloatArray | None = None) -> Choice:
        """Choose arms; leaves the state as it is.

        features: (replicates, n_features), encoded (see `core.features`), of the round's problem;
            None where it has none. A round is learned with the features that it was picked with.
        """
        ...

    def learn(
        self, state: State, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> State:
        """Fold one round in. Takes the state over (it may be updated in place) and returns it."""
        ...


@runtime_checkable
class TableLearner(Protocol):
    """A learner that plays a whole table of costs in its own way."""

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        """(state, paid), equal bit for bit to picking and learning round by round.

        table: (replicates or 1, rounds, n_arms). lasting: (replicates,) keys of the run.
        paid: (replicates, rounds) costs of the best picked arm.
        """
        ...


class Plans(NamedTuple):
    """What runs in a round, and when: one arm for a while, then others instead.

    arms: (replicates, 1 + budget); the first runs alone before the others start, all of them at
        once; -1 where there is none.
    slices: (replicates,) for how long the first may run, as a share of the deadline; 0: none.
    """

    arms: IntArray
    slices: FloatArray


class Runs(NamedTuple):
    """What came of a plan, (replicates, 1 + budget) each.

    times: for how long each arm ran, as a share of the deadline. answered: whether it ended with
    an answer. ran: whether it was started at all.
    """

    times: FloatArray
    answered: BoolArray
    ran: BoolArray


@runtime_checkable
class Planner(Protocol):
    """A learner that decides how many arms run, and when; the budget is the most at a time."""

    @property
    def n_arms(self) -> int: ...

    @property
    def budget(self) -> int: ...

    def start(self, replicates: int) -> State: ...

    def plan(self, state: State, draws: Draws) -> Plans:
        """Choose; leaves the state as it is."""
        ...

    def learn_runs(self, state: State, plans: Plans, runs: Runs) -> State:
        """Fold a round in."""
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


# What must be there -------------------------------------------------------------------------------

NEEDED = ("n_arms", "budget", "feedback", "start", "pick", "learn")


def is_learner(thing: object) -> TypeGuard[Learner]:
    """Whether it has all that a learner needs."""
    return not isinstance(thing, type) and not _missing(thing)


def check_is_learner(thing: object) -> Learner:
    """A learner; the error names what is missing."""
    if isinstance(thing, type):
        raise PickbestError(f"expected a learner, got the class {thing.__name__}: make one of it")
    if is_learner(thing):
        return thing
    missing = ", ".join(f"`{name}`" for name in _missing(thing))
    raise PickbestError(
        f"{type(thing).__name__} has no {missing}: a learner needs "
        f"{', '.join(NEEDED)}; see pickbest.testing.learners.check_learner"
    )


def _missing(thing: object) -> list[str]:
    return [name for name in NEEDED if not hasattr(thing, name)]


def is_unbiased(learner: Learner) -> bool:
    """Whether its weights are exactly unbiased; a learner that does not say so claims nothing."""
    return bool(getattr(learner, "unbiased", False))


def uses_features(learner: Learner) -> bool:
    """Whether it makes use of features; a learner that does not say so does not."""
    return bool(getattr(learner, "uses_features", False))


def start_state(learner: Learner, replicates: int, n_features: int) -> State:
    """The state before the first round, of a game with this many features."""
    if not n_features:
        return learner.start(replicates)
    start: Callable[[int, int], State] = learner.start  # type: ignore[assignment]
    return start(replicates, n_features)


def keep_best(arms: IntArray, costs: FloatArray) -> FloatArray:
    """What the game charges: the smallest cost among the picked arms, for each replicate.

    >>> keep_best(np.array([[0, 2]]), np.array([[0.4, 0.1, 0.3]]))
    array([0.3])
    """
    best: FloatArray = np.take_along_axis(costs, arms, axis=1).min(axis=1)
    return best


def visible(learner: Learner, choice: Choice, costs: FloatArray) -> Seen:
    """What the learner may see of the costs (replicates, n_arms) of a round."""
    if learner.feedback is Feedback.FULL:
        return Seen.of(costs)
    return Seen.of(np.take_along_axis(costs, choice.arms, axis=1))
