"""Slots that share their feedback: unbiased weights, less variance, and better learning."""

import itertools
import math

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    PickbestError,
    Seen,
    replicate_keys,
    rng_for,
)
from pickbest.environments import Bernoulli, Task1
from pickbest.learners import FPML, Exp3, FPMLPartial, Greedy, Weights
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner, check_long_run

COSTS = np.array([0.1, 0.8, 0.4, 0.9, 0.6])
GAMMA = 0.3
GAINS = np.array([[0.0, 9.0, 3.0, 6.0, 1.0], [5.0, 1.0, 0.0, 2.0, 9.0], [2.0, 0.0, 8.0, 4.0, 6.0]])


def exp3_law(gains, free):
    """P(arm) of Exp3, given that the arm is free."""
    shares = np.exp(GAMMA / 5 * gains)
    law = ((1 - GAMMA) * shares / shares.sum() + GAMMA / 5) * free
    return law / law.sum()


def all_rounds(slots, distinct):
    """Every (arms, probabilities of the picks) that slots of one arm can come to."""
    for arms in itertools.product(range(5), repeat=slots):
        free, law = np.ones(5), []
        for slot, arm in enumerate(arms):
            law.append(exp3_law(GAINS[slot], free)[arm])
            free[arm] = not distinct
        if all(law):
            yield arms, np.array(law)


def estimates(learner, choice):
    """(slots, replicates, n_arms) of what every slot adds to the gains or costs of its arms."""
    name = "gains" if isinstance(learner.inner, Exp3) else "costs"
    state = learner.learn(learner.start(len(choice.arms)), choice, Seen.of(COSTS[choice.arms]))
    return getattr(state.slots, name).swapaxes(0, 1)


def true_costs(arms_before):
    """One minus what every arm adds to the best of the slots before, (rows, n_arms)."""
    lowest = COSTS[arms_before].min(axis=1, initial=1.0)[:, None]
    return 1 - np.maximum(lowest - COSTS, 0)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("slots", [2, 3])
def test_exp3_slots_are_unbiased_by_enumeration(slots, distinct):
    """Σ P(round) · estimate = gain for every slot and arm, given the picks of the slots before."""
    learner = Greedy(Exp3(5, GAMMA), slots, distinct, shared=True)
    rounds = list(all_rounds(slots, distinct))
    arms, law = (np.array(column) for column in zip(*rounds, strict=True))
    added = estimates(learner, Choice(arms, 1 / law))
    assert math.isclose(law.prod(axis=1).sum(), 1.0)
    for slot in range(slots):
        for before in set(map(tuple, arms[:, :slot])):
            rows = np.all(arms[:, :slot] == before, axis=1)
            mean = law[rows, slot:].prod(axis=1) @ added[slot, rows]
            assert np.allclose(mean, 1 - true_costs(np.array([before], int))[0], atol=1e-12)


def test_the_law_above_is_that_of_the_learner():
    learner = Greedy(Exp3(5, GAMMA), 3, shared=True)
    state = learner.start(2000)
    for slot in range(3):
        state.slots.gains[:, slot] = GAINS[slot]
    choice = learner.pick(state, rng_for(replicate_keys(0, 2000), 0))
    laws = dict(all_rounds(3, True))
    expected = [laws[tuple(arms)] for arms in choice.arms.tolist()]
    assert np.allclose(choice.weights, 1 / np.array(expected))


def drawn(learner, replicates):
    """A choice from states in which arms differ, for every slot in another way."""
    state = learner.start(replicates)
    for slot in range(learner.slots):
        state.slots.costs[:, slot] = np.roll([0.0, 0.5, 1.0, 1.5, 2.0], 2 * slot)
    return learner.pick(state, rng_for(replicate_keys(slot, replicates), 0))


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize(("slots", "slot_budget"), [(2, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("weights", [Weights.EXACT, Weights.EXPLORE])
def test_fpml_slots_are_unbiased(weights, slots, slot_budget, distinct):
    learner = Greedy(FPMLPartial(5, slot_budget, 0.7, weights), slots, distinct, shared=True)
    choice = drawn(learner, 200_000)
    added = estimates(learner, choice)
    for slot in range(slots):
        # What is estimated depends on the picks before: the mean error over all of them is 0.
        errors = added[slot] - true_costs(choice.arms[:, : slot * slot_budget])
        limit = 6 * errors.std(axis=0) / math.sqrt(len(errors)) + 1e-12
        assert np.all(np.abs(errors.mean(axis=0)) <= limit)


@pytest.mark.parametrize(("slots", "slot_budget"), [(2, 1), (3, 1), (2, 2)])
def test_sharing_lowers_the_variance(slots, slot_budget):
    """Of what the first slot estimates, summed over the arms, to three quarters or less."""
    alone, shared = (
        Greedy(FPMLPartial(5, slot_budget, 0.7), slots, True, shared) for shared in (False, True)
    )
    choice = drawn(alone, 50_000)
    spread = [estimates(learner, choice)[0].var(axis=0).sum() for learner in (alone, shared)]
    assert spread[1] <= 0.75 * spread[0]


def test_weights_of_a_round_by_hand():
    learner = Greedy(FPMLPartial(4, 1, 1.0), 3, shared=True)
    choice = Choice(np.array([[2, 0, 3]]), np.array([[3.0, 5.0, 2.0]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.5, 0.2, 0.4]])))
    first = [0.2 * (5 + 1) / 3, 0, 0.5 * (3 + 2) / 3, 0.4 * 2 / 3]
    assert np.allclose(state.slots.costs[:, 0], [first])
    assert np.allclose(state.slots.costs[:, 1], [[0.7 * (5 + 1) / 2, 0, 1, 0.9 * 2 / 2]])
    assert np.allclose(state.slots.costs[:, 2], [[1, 0, 1, 2]])


def test_an_arm_that_repeats_counts_once():
    learner = Greedy(FPMLPartial(4, 1, 1.0), 2, distinct=False, shared=True)
    choice = Choice(np.array([[2, 2]]), np.array([[3.0, 5.0]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.5, 0.5]])))
    assert np.allclose(state.slots.costs[:, 0], [[0, 0, 0.5 * (3 + 1) / 2, 0]])
    assert np.allclose(state.slots.costs[:, 1], [[0, 0, 1, 0]])


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize(
    "inner",
    [
        Exp3(6, 0.2),
        FPMLPartial(6, 1, 0.3),
        FPMLPartial(6, 2, 0.3),
        FPMLPartial(6, 1, 0.3, Weights.GEOMETRIC, 10),
        FPMLPartial(6, 2, 0.3, Weights.EXPLORE),
    ],
    ids=["exp3", "fpml", "fpml of two", "geometric", "explore"],
)
def test_conforms(inner, distinct):
    learner = Greedy(inner, 3, distinct, shared=True)
    check_learner(learner, distinct=distinct)
    check_long_run(learner, rounds=10_000)


def test_one_slot_has_nobody_to_share_with():
    world = Bernoulli(5, 100, 0.5)
    paid = [play(Greedy(FPMLPartial(5, 2, 0.3), 1, True, s), world, 3, 0).paid for s in (0, 1)]
    assert np.array_equal(*paid)


@pytest.mark.parametrize("budget", [2, 4])
def test_complementary_arms_are_found_sooner(budget):
    alone, shared = (
        play(make_learner("og-hybrid", 15, budget, 300, shared=s), Task1(), 300, seed=2).paid.mean()
        for s in (False, True)
    )
    assert shared <= alone - 0.003


def test_defaults_of_the_catalog():
    """Shared where it was seen to pay; never in the paper's own settings."""
    game = {"n_arms": 6, "budget": 2, "rounds": 50}
    assert make_learner("og-hybrid", **game).shared
    assert make_learner("og", **game, shared=1).shared
    for options in (
        {"tuning": "as_run"},
        {"tuning": "as_written", "weights": "exact", "slots": "distinct"},
        {"slots": "independent"},
        {"feedback": "full"},
        {"weights": "geometric"},
        {"shared": 0},
    ):
        assert not make_learner("og-hybrid", **game, **options).shared
    for tuning in ("auer", "as_run", "as_written"):
        assert not make_learner("og", **game, tuning=tuning).shared


def test_bad_input_is_refused():
    with pytest.raises(PickbestError, match="shared needs slots that see picked arms only"):
        Greedy(FPML(5, 1, 0.1), 2, shared=True)
    with pytest.raises(PickbestError, match="shared must be true or false"):
        make_learner("og", 5, 2, 50, shared="yes")
