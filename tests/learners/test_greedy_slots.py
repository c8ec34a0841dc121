"""Greedy slots by Thompson sampling and by bounds, against plain Python twins."""

import math

import numpy as np
import pytest

from pickbest.core import (
    Choice,
    PickbestError,
    replicate_keys,
    rng_for,
)
from pickbest.environments import Bernoulli, RegimeChange, Task1
from pickbest.kernels.random import gamma_from
from pickbest.learners import Thompson
from pickbest.learners.greedy_slots import GreedyThompson, GreedyUCB
from pickbest.simulation.simulate import play
from pickbest.testing.learners import check_learner, check_long_run

each_kind = pytest.mark.parametrize("kind", [GreedyThompson, GreedyUCB])
each_discount = pytest.mark.parametrize("discount", [1.0, 0.9])
TABLE = np.random.default_rng(0).random((80, 5)).round(2)


class Twin:
    """One replicate, which keeps every result with its round."""

    def __init__(self, n_arms, budget, discount):
        self.n_arms, self.budget, self.discount = n_arms, budget, discount
        self.results = {(i, a): [] for i in range(budget) for a in range(n_arms)}
        self.round = 0

    def sums(self, slot, arm):
        """(gains, plays), each result discounted by its age."""
        results = self.results[slot, arm]
        weights = [self.discount ** (self.round - t) for t, _ in results]
        return sum(w * gain for w, (_, gain) in zip(weights, results, strict=True)), sum(weights)

    def pick(self, scores_of):
        """The best unused arm of every slot; scores_of(slot, free arms), ties: the first."""
        arms = []
        for slot in range(self.budget):
            free = [a for a in range(self.n_arms) if a not in arms]
            arms.append(free[int(np.argmax(scores_of(slot, free)))])
        return arms

    def learn(self, arms, costs):
        self.round += 1
        for slot in range(self.budget):
            before = min([1.0, *(costs[a] for a in arms[:slot])])
            for arm in arms[slot:]:
                gain = max(before - costs[arm], 0.0)
                self.results[slot, arm].append((self.round, gain))


def check_twin(learner, scores_for):
    """Play TABLE with both; scores_for(twin, rng) gives the twin's scores_of."""
    twin = Twin(5, learner.budget, learner.discount)
    state, keys = learner.start(1), replicate_keys(3, 1)
    for t, costs in enumerate(TABLE):
        rng = rng_for(keys, t)
        choice = learner.pick(state, rng)
        arms = choice.arms[0].tolist()
        assert arms == twin.pick(scores_for(twin, rng)), f"round {t}"
        state = learner.learn(state, choice, costs[choice.arms])
        twin.learn(arms, costs)
    for (slot, arm), _ in twin.results.items():
        sums = state["gains"][0, slot, arm], state["plays"][0, slot, arm]
        assert sums == pytest.approx(twin.sums(slot, arm))


@each_discount
@pytest.mark.parametrize("budget", [1, 3, 5])
def test_thompson_equals_its_twin(budget, discount):
    learner = GreedyThompson(5, budget, prior=0.7, discount=discount, sharpness=2.0)

    def scores_for(twin, rng):
        def scores_of(slot, free):
            counter, scores = rng.child(slot).keys[0], []
            for arm in free:
                gains, plays = twin.sums(slot, arm)
                counter, hit = gamma_from(np.uint64(counter), 0.7 + 2 * gains)
                counter, miss = gamma_from(np.uint64(counter), 0.7 + 2 * max(plays - gains, 0.0))
                scores.append(hit - miss)
            return scores

        return scores_of

    check_twin(learner, scores_for)


@each_discount
@pytest.mark.parametrize("budget", [1, 3, 5])
def test_ucb_equals_its_twin(budget, discount):
    learner = GreedyUCB(5, budget, width=0.3, discount=discount)

    def scores_for(twin, rng):
        rounds = sum(discount**age for age in range(twin.round))

        def score(slot, arm):
            gains, plays = twin.sums(slot, arm)
            if plays == 0:
                return math.inf
            return gains / plays + math.sqrt(0.3 * math.log(1 + rounds) / plays)

        return lambda slot, free: [score(slot, arm) for arm in free]

    check_twin(learner, scores_for)


@each_kind
@pytest.mark.parametrize(("n_arms", "budget"), [(9, 4), (5, 1), (4, 4), (1, 1)])
@pytest.mark.parametrize("discount", [1.0, 0.98])
def test_conforms(kind, n_arms, budget, discount):
    check_learner(kind(n_arms, budget, discount=discount))


@each_kind
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_a_million_rounds(kind, discount):
    check_long_run(kind(5, 2, discount=discount))


@each_kind
def test_one_round_is_shared_with_the_slots_before(kind):
    learner = kind(n_arms=4, budget=3)
    choice = Choice(np.array([[2, 0, 3]]))
    state = learner.learn(learner.start(1), choice, np.array([[0.5, 0.2, 0.4]]))
    assert np.allclose(state["gains"], [[[0.8, 0, 0.5, 0.6], [0.3, 0, 0, 0.1], [0, 0, 0, 0]]])
    assert state["plays"].tolist() == [[[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]]]


@each_kind
def test_slots_see_as_many_arms_as_are_pulled_from_them_on(kind):
    learner = kind(5, 3)
    state, _ = learner.play_table(learner.start(4), TABLE[None], replicate_keys(1, 4), 0)
    assert np.all(state["plays"].sum(axis=2) == [240, 160, 80])


@each_kind
def test_one_slot_is_discounted_in_every_round(kind):
    learner = kind(2, 1, discount=0.5)
    state = learner.start(1)
    for arm, cost in ((0, 0.2), (1, 0.6), (1, 0.0)):
        state = learner.learn(state, Choice(np.array([[arm]])), np.array([[cost]]))
    assert np.allclose(state["gains"], [[[0.2, 0.2 + 1.0]]])
    assert np.allclose(state["plays"], [[[0.25, 1.5]]])


def test_one_slot_of_unit_sharpness_is_thompson_in_law():
    world = Bernoulli(5, 300, (0.3, 0.5, 0.6, 0.7, 0.8))
    paid = [
        play(learner, world, 400, seed).paid.mean(axis=1)
        for seed, learner in enumerate((GreedyThompson(5, 1, sharpness=1.0), Thompson(5, 1)))
    ]
    error = math.hypot(*(p.std() / 20 for p in paid))
    assert abs(paid[0].mean() - paid[1].mean()) <= 5 * error


@each_kind
@pytest.mark.parametrize(("budget", "margin"), [(2, 0.012), (4, 0.035)])
def test_complementary_arms_are_found(kind, budget, margin):
    """Task 1: the top B arms are good in the same rounds, a greedy set is not."""
    top, greedy = (
        play(learner, Task1(), 100, seed=2).paid.mean()
        for learner in (Thompson(15, budget), kind(15, budget))
    )
    assert greedy <= top - margin


@each_kind
def test_discounting_mends_a_change_of_regime(kind):
    world = RegimeChange(Bernoulli(6, 2000, (0.1, 0.3, 0.7, 0.8, 0.9, 0.95)))
    kept, discounted = (
        play(kind(6, 1, discount=discount), world, 40, seed=3).paid[:, 1000:].mean()
        for discount in (1.0, 0.98)
    )
    assert discounted <= kept - 0.05


@each_kind
def test_bad_parameters_are_refused(kind):
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=3, got 4"):
        kind(3, 4)
    for discount in (0.0, 1.1, math.nan):
        with pytest.raises(PickbestError, match="discount must be above 0 and at most 1"):
            kind(3, 2, discount=discount)


def test_other_parameters_are_above_zero():
    with pytest.raises(PickbestError, match="prior must be a number above 0"):
        GreedyThompson(3, 2, prior=0.0)
    with pytest.raises(PickbestError, match="sharpness must be a number above 0"):
        GreedyThompson(3, 2, sharpness=-1.0)
    with pytest.raises(PickbestError, match="width must be a number above 0"):
        GreedyUCB(3, 2, width=0.0)
