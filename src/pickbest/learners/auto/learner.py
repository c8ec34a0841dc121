"""Auto: complementary sets that forget when it pays, behind a guard, for any costs.

`auto.sets` proposes a set of arms, `auto.guard` lets the leader of an FPML into it at times, and
with features, `auto.features` draws the set from past problems like this one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import ContextLearner, Feedback, FloatArray, State, check_budget
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.learners.auto.guard import (
    GuardState,
    guard_last,
    learn_guard,
    many_arms,
    start_guard,
)
from pickbest.learners.auto.sets import (
    FEW,
    MEMORIES,
    MOST,
    SHARPNESS,
    PairsState,
    learn_memories,
    memory_in_use,
    propose,
    share_of_arms,
    start_pairs,
)


class AutoState(NamedTuple):
    """What the proposals come from, and the guard."""

    pairs: PairsState
    guard: GuardState


class Law(NamedTuple):
    """discounts: MEMORIES; sharpness: trials that a result counts as; many: see `many_arms`."""

    discounts: FloatArray
    sharpness: float
    many: bool | None


class Work(NamedTuple):
    """Scratch of length n_arms."""

    scores: FloatArray
    spread: FloatArray


@allocating
def new_work(law: Law, state: AutoState, budget: int) -> Work:
    n_arms = state.guard.costs.shape[1]
    return Work(np.empty(n_arms), np.empty(n_arms))


@inlined
def pick_row(law: Law, state: AutoState, row: int, work: Work, pick: Pick) -> None:
    """The proposal, whose last arm may give way to the guard's leader."""
    propose(state.pairs, row, law.sharpness, pick.key, pick.arms, work.scores)
    guard_last(state.guard, row, law.many, work.spread, pick)


@inlined
def learn_row(law: Law, state: AutoState, row: int, work: Work, told: Told) -> None:
    learn_guard(state.guard, row, law.many, work.spread, told)
    learn_memories(state.pairs, row, law.discounts, told.arms, told.costs)


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class Auto(CompiledLearner[Law, AutoState, Work]):
    """The learner to start with: nothing to set, any number of rounds, any costs.

    It follows the top B or builds a complementary set as the data show, forgets when that
    predicts better (in half of a set, where there are several arms), and is guarded by FPML: its
    expected regret against the single best arm is O(sqrt(T N ln N)) for any costs
    (`theory.auto_bound`). Where problems come with features, it becomes `AutoInContext`.
    docs/learners.md has the derivation.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = Auto(n_arms=4, budget=2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    @cached_property
    def law(self) -> Law:
        sharpness = SHARPNESS * min(max(self.n_arms / FEW, 1.0), MOST)
        return Law(np.array(MEMORIES), sharpness, many_arms(self.n_arms))

    def start(self, replicates: int) -> AutoState:
        pairs = start_pairs(replicates, self.n_arms, len(MEMORIES))
        return AutoState(pairs, start_guard(replicates, self.n_arms))

    def with_features(
        self, names: tuple[str, ...], state: AutoState
    ) -> tuple[ContextLearner, State]:
        """The learner that goes on with features of these names (`AutoInContext`)."""
        from pickbest.learners.auto.features import AutoInContext

        learner = AutoInContext(self.n_arms, self.budget, names)
        return learner, learner.taking_over(state)

    def mode(self, state: AutoState) -> str:
        """What it does differently at the moment, in words; "" where it forgets nothing."""
        memory = memory_in_use(state.pairs, 0, share_of_arms(self.budget, self.n_arms))
        if memory == 0:
            return ""
        rounds = 1.0 / (1.0 - MEMORIES[memory])
        return f"forgetting: what is older than about {rounds:.0f} rounds counts little"
