"""Guarded learners against adversaries that break the inner learner."""

from dataclasses import dataclass

import numpy as np
import pytest

from pickbest import theory
from pickbest.core import Choice, Learner
from pickbest.environments import Bernoulli, Chasing, Table
from pickbest.learners import (
    UCB,
    FPMLPartial,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    GuardedLast,
    Thompson,
)
from pickbest.simulation.games import play

N_ARMS, ROUNDS = 6, 4000


@dataclass(frozen=True)
class Foreseeing:
    """Arms that the inner learner picks now cost 1, and so do all others but the good arm.

    It runs the inner learner, on what the player's arms taught it, so a deterministic one is
    foreseen exactly; the good arm, too, costs 1 when that learner picks it.
    """

    inner: Learner
    rounds: int
    good: int = 0
    adaptive = True
    varies = True

    @property
    def n_arms(self):
        return self.inner.n_arms

    def start(self, replicates):
        return self.inner.start(replicates)

    def costs(self, state, round_index, rng):
        costs = np.ones((len(rng.keys), self.n_arms))
        costs[:, self.good] = 0.0
        np.put_along_axis(costs, self.inner.pick(state, rng).arms, 1.0, axis=1)
        return costs

    def react(self, state, arms, costs):
        seen = np.take_along_axis(costs, arms, axis=1)
        return self.inner.learn(state, Choice(arms, np.ones(arms.shape)), seen)


@dataclass(frozen=True)
class Luring:
    """All arms but the good one cost 1 in 10% of the rounds until the player is used to them,
    then in 70%; the good arm costs 1 in half of the rounds until then, and 0 from then on.

    patience: how many arms other than the good one are picked before the costs turn.
    """

    n_arms: int
    rounds: int
    patience: int
    good: int = 0
    adaptive = True
    varies = True

    def start(self, replicates):
        return {"lured": np.zeros(replicates, np.int64)}

    def costs(self, state, round_index, rng):
        turned = (state["lured"] >= self.patience)[:, None]
        is_good = np.arange(self.n_arms) == self.good
        chance = np.where(turned, np.where(is_good, 0.0, 0.7), np.where(is_good, 0.5, 0.1))
        return (rng.uniforms(self.n_arms) < chance).astype(float)

    def react(self, state, arms, costs):
        return {"lured": state["lured"] + (arms != self.good).sum(axis=1)}


def pseudo_regret(learner, world):
    """Mean cost paid, less that of the arm whose mean total cost is lowest."""
    run = play(learner, world, 30, seed=6, keep_table=False)
    return run.paid.sum(axis=1).mean() - run.totals.mean(axis=0).min()


def bound_at(epsilon, n_arms=N_ARMS, rounds=ROUNDS):
    """FPML-partial with exact weights: (H_N - 1) / ε + ε N T, whatever its budget.

    As partial_regret_bound_at, but E[Σ P(leader) · estimate²] ≤ N instead of a cap: the leader
    before a round stays it with probability e^(-ε estimate), and P(leader) ≤ P(picked).
    """
    return (theory.harmonic_number(n_arms) - 1) / epsilon + epsilon * n_arms * rounds


TUNED = theory.partial_epsilon(n_arms=N_ARMS, budget=1, rounds=ROUNDS, estimate_cap=N_ARMS)
PRACTICAL = theory.partial_epsilon_practical(n_arms=N_ARMS, slot_budget=1, rounds=ROUNDS)


def test_the_tuned_bound_is_the_one_of_theory():
    stated = theory.partial_regret_bound(
        n_arms=N_ARMS, budget=1, rounds=ROUNDS, estimate_cap=N_ARMS
    )
    assert 0.8 * stated <= bound_at(TUNED) <= stated


def own_arm(kind, epsilon, n_arms=N_ARMS, budget=3):
    """Of the budget, one arm is the guard's."""
    return Guarded(kind(n_arms, budget - 1), FPMLPartial(n_arms, 1, epsilon))


def two_own_arms(kind, epsilon):
    return Guarded(kind(N_ARMS, 1), FPMLPartial(N_ARMS, 2, epsilon))


def yields(kind, epsilon, n_arms=N_ARMS, budget=3):
    """The last arm of the budget yields to the guard."""
    return GuardedLast(kind(n_arms, budget), FPMLPartial(n_arms, 1, epsilon))


each_guard = pytest.mark.parametrize("guard", [own_arm, two_own_arms, yields])
each_epsilon = pytest.mark.parametrize("epsilon", [TUNED, PRACTICAL], ids=["tuned", "practical"])


@each_guard
@each_epsilon
@pytest.mark.parametrize("kind", [UCB, GreedyUCB])
def test_an_inner_learner_that_is_foreseen(kind, epsilon, guard):
    alone = kind(N_ARMS, 3)
    assert pseudo_regret(alone, Foreseeing(alone, ROUNDS)) >= 0.3 * ROUNDS
    guarded = guard(kind, epsilon)
    assert pseudo_regret(guarded, Foreseeing(guarded.inner, ROUNDS)) <= 0.5 * bound_at(epsilon)


@pytest.mark.parametrize("guard", [own_arm, yields])
@each_epsilon
@pytest.mark.parametrize("kind", [GreedyThompson, GreedyUCB])
def test_an_inner_learner_that_is_lured(kind, epsilon, guard):
    world = Luring(N_ARMS, ROUNDS, patience=2 * ROUNDS // 3)
    assert pseudo_regret(kind(N_ARMS, 2), world) >= 0.05 * ROUNDS
    assert pseudo_regret(guard(kind, epsilon, budget=2), world) <= 0.25 * bound_at(epsilon)


@each_guard
@pytest.mark.parametrize("kind", [Thompson, GreedyThompson, GreedyUCB, UCB])
def test_an_adversary_that_chases_the_whole_set(kind, guard):
    world = Chasing(N_ARMS, ROUNDS, width=3)
    assert pseudo_regret(guard(kind, TUNED), world) <= 0.5 * bound_at(TUNED)


def complementary_table(n_good):
    """Ten arms, of which the good ones solve different rounds."""
    rng = np.random.default_rng(5)
    solved = rng.random((1500, 10)) < 0.15
    for arm in range(n_good):
        solved[:, arm] |= np.arange(1500) % n_good == arm
    return rng.permutation(1.0 - solved)


@pytest.mark.parametrize("kind", [Thompson, GreedyThompson])
@pytest.mark.parametrize(
    ("world", "guard", "margin"),
    [
        (Bernoulli(10, 1500, tuple(np.linspace(0.4, 0.9, 10))), own_arm, 0.01),
        (Bernoulli(10, 1500, tuple(np.linspace(0.4, 0.9, 10))), yields, 0.01),
        (Table(complementary_table(3)), own_arm, 0.01),
        (Table(complementary_table(4)), yields, 0.045),
    ],
    ids=["own, bernoulli", "yields, bernoulli", "own, three kinds", "yields, four kinds"],
)
def test_a_guard_costs_little_where_the_inner_learner_is_right(world, guard, margin, kind):
    """With the same total budget of 4."""
    epsilon = theory.partial_epsilon_practical(n_arms=10, slot_budget=1, rounds=1500)
    alone, guarded = (
        play(learner, world, 60, seed=7).paid.mean()
        for learner in (kind(10, 4), guard(kind, epsilon, 10, 4))
    )
    assert guarded <= alone + margin
