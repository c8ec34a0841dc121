"""Auto: complementary sets that forget when it pays, behind a guard, for any costs.

The set of `kernels.pairs` is the proposal C: its first half (rounded down) comes from the anchor,
which remembers everything, the rest from the memory that has predicted best lately. So it
follows the latest problems, and is insured against the next. Where arms get worse the more they
were used lately, somebody chases the player, and C is a uniform set.

With probability `share`, the last arm of C gives way to the leader f of an FPML with one arm (the
guard), unless f is in C. Given C, the arms before the last are certain, the last one stays with
probability 1 - share + share P(f in C), and any other arm comes with share · P(f is that arm):
so all weights are exact, and the guard's estimates are unbiased whatever the proposals are.

The guard's own expected cost is known the same way. Where the costs paid exceed its sum by more
than chance explains, the share doubles; at 1 the guard's arm is always among those picked.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from pickbest.core import (
    ContextLearner,
    Feedback,
    FloatArray,
    IntArray,
    State,
    check_budget,
    check_positive,
)
from pickbest.core.states import counts, sums
from pickbest.kernels.compiled import allocating, inlined, interpreted, part
from pickbest.kernels.first_leader import (
    first_probability,
    first_slack,
    many_arms,
    rate_of,
    shortfall,
    spread_leader,
)
from pickbest.kernels.pairs import (
    SHARPNESS,
    PairsState,
    build_set,
    highest,
    learn_memories,
    memory_in_use,
    share_of_arms,
    start_pairs,
)
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import ByRule, Pick, Rule, Told

# The discounts of the memories; the anchor comes last (see kernels.pairs).
MEMORIES = (1.0, 0.97, 0.88, 1.0)
# Wear is measured over about 1 / (1 - WINDOW) rounds, use over 1 / (1 - USE).
WINDOW, USE = 0.99, 0.9
# Standard deviations; with one arm a round there is less to see, and less harm in a false alarm.
CLEARLY, CLEARLY_ALONE = 3.0, 2.5
FEWEST_PLAYS = 2.0
# The more arms there are, the less can be learned of each: the trials that a result counts as
# grow with the arms beyond FEW, at most by the factor MOST.
FEW, MOST = 9, 4.0
# The guard's share of the rounds in the beginning.
FIRST_SHARE = 1.0 / 32.0
# Chance stays below the test's bound with probability 1 - exp(-DOUBT) (Freedman 1975).
DOUBT = 6.0


class WearState(NamedTuple):
    """A test for worlds that punish use: do arms get worse the more they were used lately?

    total, squares: of the products of an arm's use, centred, and of how far its reward was above
        its mean. Where costs do not react to the player, the total stays around 0.
    uses, number: the sum and number of the uses that the products are centred by.
    use: the recent use of each arm.
    """

    total: Annotated[FloatArray, counts()]
    squares: Annotated[FloatArray, counts()]
    uses: Annotated[FloatArray, counts()]
    number: Annotated[FloatArray, counts()]
    use: Annotated[FloatArray, counts(-1)]


class GuardState(NamedTuple):
    """costs: cumulative estimated costs; slack: see `kernels.first_leader`.

    share: the probability that the last arm gives way to the guard's leader.
    excess, variance: by how much the costs paid exceed the guard's own since the share changed,
        and a bound on that sum's variance.
    """

    costs: Annotated[FloatArray, sums(-1)]
    slack: Annotated[FloatArray, sums()]
    share: Annotated[FloatArray, counts()]
    excess: Annotated[FloatArray, sums()]
    variance: Annotated[FloatArray, sums()]


class AutoState(NamedTuple):
    """What the proposals come from, the test for wear, and the guard."""

    pairs: PairsState
    wear: WearState
    guard: GuardState


class Law(NamedTuple):
    """discounts: MEMORIES; sharpness: see `Auto`; many: see `first_leader.many_arms`."""

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


# What is long is compiled by itself, the rest are parts. With parts only, or none, the first round
# takes longer: Numba copies a part at every link of a chain, and optimises a kernel once more in
# each kernel that calls it.


@part
def pick_row(law: Law, state: AutoState, row: int, work: Work, pick: Pick) -> None:
    """The proposal, whose last arm may give way to the guard's leader."""
    propose(law, state, row, work, pick)
    guard_last(law, state, row, work, pick)


@part
def propose(law: Law, state: AutoState, row: int, work: Work, pick: Pick) -> None:
    """Fills pick.arms with the set C."""
    if wears_off(state.wear, row, pick.arms.shape[0]):
        _spread_out(pick.key, pick.arms, work.scores)
    else:
        _build(law.sharpness, state.pairs, row, pick.key, pick.arms, work.scores)


@part
def guard_last(law: Law, state: AutoState, row: int, work: Work, pick: Pick) -> None:
    """Let the last arm of C give way to the guard's leader at times; fills pick.weights."""
    key, arms, weights = pick.key, pick.arms, pick.weights
    rate = rate_of(work.spread.shape[0], state.guard.slack[row])
    least = spread_leader(state.guard.costs[row], rate, work.spread)
    last, share = arms.shape[0] - 1, state.guard.share[row]
    counter = slot_key(key, 2) + STEP
    yields = uniform_at(counter) < share
    leader, lowest = 0, np.inf
    for a in range(work.spread.shape[0]):
        counter += STEP
        value = uniform_at(counter) * work.spread[a]
        if value < lowest:
            leader, lowest = a, value
    for j in range(last + 1):
        yields = yields and arms[j] != leader
        weights[j] = 1.0
    certain, first = 1.0 - share, 0
    if yields:
        arms[last] = leader
        certain, first = 0.0, last
    # P(the guard's leader is what the last place now has, or any arm of C if that is C's).
    inside = 0.0
    for j in range(first, last + 1):
        inside += first_probability(work.spread, least, arms[j], law.many)
    weights[last] = 1.0 / (certain + share * min(inside, 1.0))


@part
def learn_row(law: Law, state: AutoState, row: int, work: Work, told: Told) -> None:
    learn_seen(law, state, row, work, told, 1.0)


@part
def learn_seen(law: Law, state: AutoState, row: int, work: Work, told: Told, spread: float) -> None:
    """As learn_row, with weights that vary `spread` times as much (see learners.intervals)."""
    _learn_guard(law, state.guard, row, told.arms, told.weights, told.costs, work, spread)
    _watch_wear(state.wear, state.pairs, row, told.arms, told.costs)
    learn_memories(state.pairs, row, law.discounts, told.arms, told.costs)


# The proposals ----------------------------------------------------------------------------------


@part
def _build(
    sharpness: float,
    pairs: PairsState,
    row: int,
    key: np.uint64,
    arms: IntArray,
    scores: FloatArray,
) -> None:
    """The set C; its first arms are the anchor's."""
    budget = arms.shape[0]
    # A plain 0 is a type of its own to Numba: build_set would be compiled for it, and again.
    begin: Any = np.int64(0)
    memory, own = pairs.unit.shape[1] - 1, slot_key(key, 3)
    for end in (budget // 2, budget):
        if end > begin:
            build_set(pairs, row, memory, sharpness, own, begin, end, arms, scores)
        begin, own = end, key
        memory = memory_in_use(pairs, row, share_of_arms(budget, scores.shape[0]))


@part
def _spread_out(key: np.uint64, arms: IntArray, scores: FloatArray) -> None:
    """A uniform set."""
    counter = key
    for a in range(scores.shape[0]):
        counter += STEP
        scores[a] = uniform_at(counter)
    for j in range(arms.shape[0]):
        arms[j] = highest(scores)
        scores[arms[j]] = -1.0


# Wear -------------------------------------------------------------------------------------------


@part
def wears_off(wear: WearState, row: int, budget: int) -> bool:
    """Whether use clearly makes arms worse."""
    clearly = CLEARLY_ALONE if budget == 1 else CLEARLY
    return bool(wear.total[row] < -clearly * math.sqrt(wear.squares[row]))


@inlined
def _watch_wear(
    wear: WearState, pairs: PairsState, row: int, arms: IntArray, seen: FloatArray
) -> None:
    """Fold a round in; pairs: from before the round."""
    use, rewards, plays = wear.use[row], pairs.rewards[row, 0], pairs.plays[row, 0]
    uses, number, product = WINDOW * wear.uses[row], WINDOW * wear.number[row], 0.0
    for j in range(arms.shape[0]):
        arm = arms[j]
        if plays[arm] >= FEWEST_PLAYS:
            usual = uses / number if number > 0.0 else 0.0
            product += (use[arm] - usual) * (1.0 - seen[j] - rewards[arm] / plays[arm])
            uses += use[arm]
            number += 1.0
    wear.uses[row], wear.number[row] = uses, number
    wear.total[row] = WINDOW * wear.total[row] + product
    wear.squares[row] = WINDOW * wear.squares[row] + product * product
    for a in range(use.shape[0]):
        use[a] *= USE
    for j in range(arms.shape[0]):
        use[arms[j]] += 1.0


# The guard --------------------------------------------------------------------------------------


@inlined
def _learn_guard(
    law: Law,
    guard: GuardState,
    row: int,
    arms: IntArray,
    weights: FloatArray,
    seen: FloatArray,
    work: Work,
    spread: float,
) -> None:
    """Add the weighted costs, and hold what was paid against what the guard would have paid."""
    rate = rate_of(work.spread.shape[0], guard.slack[row])
    least = spread_leader(guard.costs[row], rate, work.spread)
    own, certain, lowest = 0.0, 0.0, 1.0
    for j in range(arms.shape[0]):
        chance = first_probability(work.spread, least, arms[j], law.many)
        cost = weights[j] * seen[j]
        own += chance * cost
        guard.slack[row] += shortfall(chance, cost, rate)
        guard.costs[row, arms[j]] += cost
        lowest = min(lowest, seen[j])
        if j < arms.shape[0] - 1:
            certain += chance
    share = guard.share[row]
    if share >= 1.0:
        return
    guard.excess[row] += lowest - own
    guard.variance[row] += spread * (1.0 + max(1.0 - certain, 0.0) / share)
    chance = math.sqrt(2.0 * DOUBT * guard.variance[row]) + DOUBT / (3.0 * share)
    if guard.excess[row] > chance:
        guard.share[row] = min(2.0 * share, 1.0)
        guard.excess[row] = guard.variance[row] = 0.0


RULE = Rule(__name__, new_work, pick_row, learn_row)


@dataclass(frozen=True)
class Auto(ByRule):
    """The learner to start with: nothing to set, any number of rounds, any costs.

    It follows the top B or builds a complementary set as the data show (see `Pairwise`),
    forgets when that predicts better (in half of a set, where there are several arms), spreads
    its picks where arms wear off with use, and is guarded by FPML: its expected regret against
    the single best arm is O(sqrt(T N ln N)) for any costs (`theory.auto_bound`).
    Where problems come with features, it becomes `AutoInContext`.
    docs/learners.md has the derivation.

    sharpness: how many trials a result counts as, if rewards are 0 or 1; None: 4, and more from
        ten arms on.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = Auto(n_arms=4, budget=2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    sharpness: float | None = None
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.sharpness is not None:
            check_positive("sharpness", self.sharpness)

    @cached_property
    def law(self) -> Law:
        sharpness = self.sharpness
        if sharpness is None:
            sharpness = SHARPNESS * min(max(self.n_arms / FEW, 1.0), MOST)
        return Law(np.array(MEMORIES), float(sharpness), many_arms(self.n_arms))

    def start(self, replicates: int) -> AutoState:
        arms = (replicates, self.n_arms)
        return AutoState(
            start_pairs(replicates, self.n_arms, len(MEMORIES)),
            WearState._make([*np.zeros((4, replicates)), np.zeros(arms)]),
            GuardState(
                costs=np.zeros(arms),
                slack=np.full(replicates, first_slack(self.n_arms)),
                share=np.full(replicates, FIRST_SHARE),
                excess=np.zeros(replicates),
                variance=np.zeros(replicates),
            ),
        )

    def with_features(
        self, names: tuple[str, ...], state: AutoState
    ) -> tuple[ContextLearner, State]:
        """The learner that goes on with features of these names (`AutoInContext`)."""
        from pickbest.learners.auto_in_context import AutoInContext

        learner = AutoInContext(self.n_arms, self.budget, names, self.sharpness)
        return learner, learner.taking_over(state)

    def mode(self, state: AutoState) -> str:
        """What it does differently at the moment, in words; "" where it builds its sets."""
        if interpreted(wears_off)(state.wear, 0, self.budget):
            return "spreading its picks: arms get worse with use"
        share = interpreted(share_of_arms)(self.budget, self.n_arms)
        memory = interpreted(memory_in_use)(state.pairs, 0, share)
        if MEMORIES[memory] < 1.0:
            rounds = 1.0 / (1.0 - MEMORIES[memory])
            return f"forgetting: what is older than about {rounds:.0f} rounds counts little"
        return ""
