"""Every learner of the catalog, and one that a user registers, passes the conformance suite."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import (
    LearnerEntry,
    environment_names,
    learner_names,
    learners,
    make_environment,
    make_learner,
    register_learner,
)
from pickbest.core import Choice, Feedback, TableLearner
from pickbest.environments import OneGoodArm
from pickbest.learners import FPMLManyArms, FPMLPartial
from pickbest.simulation.games import deal_all, play_dealt
from pickbest.testing.learners import (
    check_bound,
    check_learner,
    check_learns,
    check_long_run,
    check_pick_is_pure,
    check_picks,
    check_replayed_learning,
    check_split_replicates,
    check_unbiased,
)

LEARN_NOTHING = {"uniform", "fixed", "schedule"}
SINGLE = {"hedge", "exp3"}


def variants():
    """(label, name, options) of every catalog entry and of its choices that change the law."""
    for name in learner_names():
        yield name, name, {}
    yield "fpml anytime", "fpml", {"tuning": "anytime"}
    yield "fpml fixed", "fpml", {"perturbations": "fixed"}
    for weights in ("geometric", "explore"):
        yield f"fpml-partial {weights}", "fpml-partial", {"weights": weights}
    yield "fpml-partial explore .3", "fpml-partial", {"weights": "explore", "explore": 0.3}
    yield "og full", "og", {"feedback": "full"}
    yield "og-hybrid 2", "og-hybrid", {"slot_budget": 2}
    yield "og-hybrid full", "og-hybrid", {"feedback": "full", "slot_budget": 2}


VARIANTS = list(variants())
each_variant = pytest.mark.parametrize(
    ("name", "options"), [v[1:] for v in VARIANTS], ids=[v[0] for v in VARIANTS]
)


@each_variant
def test_catalog_learner_conforms(name, options):
    budget = 1 if name in SINGLE else 4
    learner = make_learner(name, n_arms=9, budget=budget, rounds=3000, **options)
    check_learner(learner, learns=name not in LEARN_NOTHING)


@each_variant
def test_budget_of_all_arms(name, options):
    if name in SINGLE:
        pytest.skip("picks one arm")
    learner = make_learner(name, n_arms=4, budget=4, rounds=100, **options)
    check_learner(learner, learns=False)


@each_variant
def test_a_million_rounds(name, options):
    budget = 1 if name in SINGLE else 2
    learner = make_learner(name, n_arms=5, budget=budget, rounds=1_000_000, **options)
    # Rounds that are not compiled take 20 to 70 µs each. Whoever plays such ones keeps no numbers,
    # adds plain costs up, or holds learners that go through the million themselves.
    compiled = isinstance(learner, TableLearner)
    check_long_run(learner, rounds=1_000_000 if compiled else 20_000)


def test_independent_slots_conform_but_for_distinctness():
    for name in ("og", "og-hybrid"):
        learner = make_learner(name, n_arms=6, budget=3, rounds=3000, slots="independent")
        check_learner(learner, distinct=False)


def test_many_arms_conform():
    """By default another class serves many arms; it passes the same checks."""
    learner = make_learner("fpml-partial", 200, budget=3, rounds=400)
    assert isinstance(learner, FPMLManyArms)
    for check in (check_picks, check_pick_is_pure, check_split_replicates, check_replayed_learning):
        check(learner)
    # A small epsilon: every arm must be met in 4000 picks for its mean to be judged.
    check_unbiased(make_learner("fpml-partial", 200, 3, 400, epsilon=0.002), replicates=4000)
    check_long_run(learner, rounds=3000)


def test_many_arms_have_the_law_of_few():
    """Selection from groups and in one pass: the same mean cost of a game."""
    paid = [
        play_dealt(kind(40, 3, 0.2), deal_all(OneGoodArm(40, 150), 400, seed), 400, seed).paid.mean(
            axis=1
        )
        for seed, kind in enumerate((FPMLPartial, FPMLManyArms))
    ]
    error = np.hypot(*(p.std() / 20 for p in paid))
    assert abs(paid[0].mean() - paid[1].mean()) < 5 * error


def test_two_arms_of_budget_explore_still_lead():
    """With explore, all but the last arm are the perturbed leaders, so it still learns."""
    check_learns(make_learner("fpml-partial", 6, 2, 3000, weights="explore"))


class Turn(NamedTuple):
    turn: np.ndarray


@dataclass(frozen=True)
class EveryOther:
    """A user's own learner: the arm after the last one, no weights."""

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = False

    def start(self, replicates):
        return Turn(np.zeros(replicates, np.int64))

    def pick(self, state, draws, features=None):
        return Choice((state.turn[:, None] + np.arange(self.budget)) % self.n_arms)

    def learn(self, state, choice, seen, features=None):
        return Turn(state.turn + 1)


def test_a_registered_learner_conforms_and_is_known_everywhere():
    register_learner(LearnerEntry("every-other", "takes turns", EveryOther))
    try:
        assert "every-other" in learner_names()
        learner = make_learner("every-other", n_arms=5, budget=2)
        check_learner(learner, learns=False)
        check_long_run(learner, rounds=1000)
    finally:
        learners._ENTRIES.pop("every-other")


class Broken(EveryOther):
    """Picks the same arm twice."""

    def pick(self, state, draws, features=None):
        return Choice(np.zeros((len(state.turn), self.budget), np.int64))


def test_the_suite_can_fail():
    with pytest.raises(AssertionError, match="picked twice"):
        check_learner(Broken(5, 2), learns=False)
    with pytest.raises(AssertionError, match="random arms cost"):
        check_learns(make_learner("uniform", n_arms=9, budget=4))


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
@pytest.mark.parametrize("name", environment_names())
def test_fpml_stays_under_theorem_2(name, budget):
    environment = make_environment(name)
    game = {"n_arms": environment.n_arms, "budget": budget, "rounds": environment.rounds}
    bound = theory.fpml_regret_bound(**game)
    check_bound(make_learner("fpml", **game), environment, bound)
    anytime = make_learner("fpml", environment.n_arms, budget, rounds=None)
    check_bound(anytime, environment, theory.anytime_regret_bound(**game))
