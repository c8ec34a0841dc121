"""The seat: a learner at play, with its state and its randomness, for every entrance alike."""

from __future__ import annotations

import numpy as np

from pickbest.core.arrays import BoolArray, FloatArray, KeyArray
from pickbest.core.errors import PickbestError
from pickbest.core.features import Features, FeaturesError, encoded, feature_names
from pickbest.core.randomness import LEARNER_STREAM, Draws, replicate_keys, rng_for
from pickbest.core.states import arrays_of, restore_arrays
from pickbest.core.types import (
    Choice,
    Learner,
    Planner,
    Plans,
    Runs,
    Seen,
    State,
    TableLearner,
    check_is_learner,
    keep_best,
    start_state,
    uses_features,
    visible,
)

# Beside the streams of learners (1) and environments (2): which rounds are watched.
WATCH_STREAM = 3


class Seat:
    """Picks and learns for `Player`, `simulate`, `replay` and the portfolio, over replicates.

    learner, state: the state belongs to the seat, and is replaced as rounds are learned.
    names: of the features that problems come with; none before the first.
    """

    def __init__(
        self, learner: Learner, seed: int = 0, replicates: int = 1, first_replicate: int = 0
    ) -> None:
        self.learner = check_is_learner(learner)
        self.state: State = learner.start(replicates)
        self.names: tuple[str, ...] = ()
        self.replicates = replicates
        self._keys = replicate_keys(seed, replicates, first_replicate, LEARNER_STREAM)
        self._watch_keys = replicate_keys(seed, replicates, first_replicate, WATCH_STREAM)

    def expect(self, names: tuple[str, ...]) -> None:
        """From now on, problems that come with features come with these."""
        if names and not self.names:
            self.check_features()
            self.state = self._with_room(len(names))
            self.names = names

    def encoded(self, features: Features) -> FloatArray:
        """(replicates, n_features): the features of one problem, the same in all replicates."""
        self.check_features()
        names = self.names or feature_names(features)
        return np.repeat(encoded(features, names)[None], self.replicates, axis=0)

    def pick(self, number: int, features: FloatArray | None = None) -> Choice:
        """The arms of a round; changes nothing."""
        state = self.state if features is None else self.state_for(features)
        return self.learner.pick(state, rng_for(self._keys, number), features)

    def state_for(self, features: FloatArray | None) -> State:
        """The state to pick with: the first features that come need room."""
        if features is not None and not self.names:
            return self._with_room(features.shape[1])
        return self.state

    def watched(
        self, number: int, choice: Choice, most: float | None
    ) -> tuple[FloatArray, BoolArray]:
        """(how likely a race is watched to its end, whether it is): as the learner wants.

        most: the probability with which a race may be watched at most; None: all are.
        """
        if most is None:
            return np.ones(self.replicates), np.ones(self.replicates, np.bool_)
        asked = np.zeros(self.replicates) if choice.watch is None else choice.watch
        watch: FloatArray = np.minimum(asked, most)
        return watch, self.watch_draws(number) < watch

    def watch_draws(self, number: int) -> FloatArray:
        """(replicates,) uniform numbers of a round that decide whether it is watched."""
        return rng_for(self._watch_keys, number).uniforms(1)[:, 0]

    def learn(self, choice: Choice, seen: Seen, features: FloatArray | None = None) -> None:
        """Fold a round in; features: those of its pick."""
        self.state = self.learner.learn(self.state, choice, seen, features)

    def plan(self, number: int) -> Plans:
        """The plan of a round, of a learner that plans; changes nothing."""
        return self._planner().plan(self.state, rng_for(self._keys, number))

    def learn_runs(self, plans: Plans, runs: Runs) -> None:
        """Fold in what came of a plan."""
        self.state = self._planner().learn_runs(self.state, plans, runs)

    def draws(self, number: int) -> Draws:
        """The randomness of a round, for a learner that is asked in another way."""
        return rng_for(self._keys, number)

    def play_table(self, table: FloatArray, first_round: int) -> FloatArray:
        """Play a table of costs, in one compiled loop where the learner has one.

        table: (replicates or 1, rounds, n_arms). Returns the (replicates, rounds) costs paid.
        """
        learner, state, keys = self.learner, self.state, self._keys
        if isinstance(learner, TableLearner):
            self.state, paid = learner.play_table(state, table, keys, first_round)
        else:
            self.state, paid = play_rounds(learner, state, table, keys, first_round)
        return paid

    def _planner(self) -> Planner:
        if not isinstance(self.learner, Planner):
            raise PickbestError(f"{type(self.learner).__name__} makes no plans")
        return self.learner

    def _with_room(self, n_features: int) -> State:
        """What was learned without features, and room for what will be learned with them."""
        fresh = start_state(self.learner, self.replicates, n_features)
        known = arrays_of(self.state)
        arrays = {
            path: known[path] if path in known and known[path].shape == array.shape else array
            for path, array in arrays_of(fresh).items()
        }
        return restore_arrays(fresh, arrays)

    def check_features(self) -> None:
        """A learner that makes no use of features is told of none."""
        if not uses_features(self.learner):
            raise FeaturesError(
                f"{type(self.learner).__name__} uses no features: leave them out, or use auto"
            )


def play_rounds(
    learner: Learner, state: State, table: FloatArray, lasting: KeyArray, first_round: int
) -> tuple[State, FloatArray]:
    """(state, paid): play a table of costs round by round.

    table: (replicates or 1, rounds, n_arms). lasting: (replicates,) keys of the run.
    paid: (replicates, rounds) costs of the best picked arm.
    """
    replicates, rounds = len(lasting), table.shape[1]
    shape = (replicates, table.shape[2])
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs = np.ascontiguousarray(np.broadcast_to(table[:, t], shape))
        choice = learner.pick(state, rng_for(lasting, first_round + t))
        paid[:, t] = keep_best(choice.arms, costs)
        state = learner.learn(state, choice, visible(learner, choice, costs))
    return state, paid
