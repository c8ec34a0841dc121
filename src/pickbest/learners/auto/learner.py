"""Auto: complementary sets that forget when it pays, behind a guard, for any costs.

`auto.sets` proposes a set of arms, `auto.guard` lets the leader of an FPML into it at times, and
with features, `auto.features` predicts what each arm will earn on this problem.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    PickbestError,
    Seen,
    check_budget,
)
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told, weights_of
from pickbest.learners.auto.features import (
    FeaturesState,
    blend_row,
    followed,
    learn_features,
    start_features,
)
from pickbest.learners.auto.guard import GuardState, guard_last, learn_guard, many_arms, start_guard
from pickbest.learners.auto.sets import PairsState, learn_pairs, propose, start_pairs


class SetsState(NamedTuple):
    """What the proposals come from, and the guard."""

    pairs: PairsState
    guard: GuardState


class AutoState(NamedTuple):
    """What all rounds have taught, and what those with features have."""

    sets: SetsState
    features: FeaturesState


class Law(NamedTuple):
    """many: see `many_arms`."""

    many: bool | None


@allocating
def new_work(law: Law, state: SetsState, budget: int) -> FloatArray:
    """Scratch of length n_arms."""
    return np.empty(state.guard.costs.shape[1])


@inlined
def pick_row(law: Law, state: SetsState, row: int, work: FloatArray, pick: Pick) -> None:
    """The proposal, whose last arm may give way to the guard's leader."""
    propose(state.pairs, row, pick.key, pick.arms, work)
    guard_last(state.guard, row, law.many, work, pick)


@inlined
def learn_row(law: Law, state: SetsState, row: int, work: FloatArray, told: Told) -> None:
    learn_guard(state.guard, row, law.many, work, told)
    learn_pairs(state.pairs, row, told.arms, told.costs)


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class GuardedSets(CompiledLearner[Law, SetsState, FloatArray]):
    """Auto without features: what plays rounds and tables."""

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    @cached_property
    def law(self) -> Law:
        return Law(many_arms(self.n_arms))

    def start(self, replicates: int) -> SetsState:
        pairs = start_pairs(replicates, self.n_arms)
        return SetsState(pairs, start_guard(replicates, self.n_arms))


@dataclass(frozen=True)
class Auto:
    """The learner to start with: nothing to set, any number of rounds, any costs.

    It follows the top B or builds a complementary set as the data show, forgets while that
    predicts better, and is guarded by FPML: its expected regret against the single best arm is
    O(sqrt(T N ln N)) for any costs (`theory.auto_bound`). docs/learners.md explains its parts.

    Where problems come with features, a regression on them replaces what all rounds say of the
    arms, unless it predicts worse. The guard, which knows no features, sees the same as ever:
    weights are exact, and the bound holds for any features. Rounds without features are played as
    if there were none.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = Auto(n_arms=4, budget=2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    uses_features = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    @cached_property
    def sets(self) -> GuardedSets:
        """What picks and learns where there are no features."""
        return GuardedSets(self.n_arms, self.budget)

    def start(self, replicates: int, n_features: int = 0) -> AutoState:
        known = start_features(replicates, self.n_arms, n_features)
        return AutoState(self.sets.start(replicates), known)

    def pick(self, state: AutoState, draws: Draws, features: FloatArray | None = None) -> Choice:
        free = self.sets.pick(state.sets, draws)
        if features is None:
            return free
        known, rows = self._checked(state, features), followed(state.features)
        blended = start_pairs(len(known), self.n_arms)
        for row in rows:
            blend_row(state.features, state.sets.pairs, row, known[row], blended)
        near = self.sets.pick(state.sets._replace(pairs=blended), draws)
        arms, weights = free.arms.copy(), weights_of(free).copy()
        arms[rows], weights[rows] = near.arms[rows], weights_of(near)[rows]
        return Choice(arms, weights)

    def learn(
        self, state: AutoState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> AutoState:
        if features is not None:
            known = self._checked(state, features)
            learn_features(state.features, state.sets.pairs, choice.arms, seen.high, known)
        return state._replace(sets=self.sets.learn(state.sets, choice, seen))

    def play_table(
        self, state: AutoState, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[AutoState, FloatArray]:
        """See core.TableLearner."""
        sets, paid = self.sets.play_table(state.sets, table, lasting, first_round)
        return state._replace(sets=sets), paid

    def _checked(self, state: AutoState, features: FloatArray) -> FloatArray:
        """The features of a round, which must be encoded."""
        shape = state.features.number.shape
        if features.shape != shape:
            raise PickbestError(
                f"features must have shape {shape}, got {features.shape}: start with n_features"
            )
        if not np.isfinite(features).all():
            raise PickbestError("features must be encoded: see core.features.encoded")
        return features
