"""Names, tunings and options; what is unknown is refused with the nearest name."""

import pytest

from pickbest import theory
from pickbest.catalog import (
    LearnerEntry,
    describe,
    learner_entry,
    learner_names,
    make_learner,
    rebuild,
    register_learner,
)
from pickbest.core import PickbestError
from pickbest.learners import FPML, Doubling, Exp3, FPMLPartial, Greedy, Hedge, Uniform, Weights

GAME = {"n_arms": 9, "budget": 3, "rounds": 368}


def test_the_names_of_the_contract_exist():
    contract = {"fpml", "fpml-partial", "hedge", "exp3", "og", "og-hybrid", "uniform", "thompson"}
    assert contract <= set(learner_names())


@pytest.mark.parametrize("name", learner_names())
def test_every_learner_survives_its_description(name):
    budget = 1 if learner_entry(name).single_arm else 2
    for rounds in (50, None):
        learner = make_learner(name, 5, budget, rounds)
        assert rebuild(describe(learner)) == learner


@pytest.mark.parametrize("name", learner_names())
def test_every_tuning_of_every_learner_builds(name):
    entry = learner_entry(name)
    for tuning in entry.tunings:
        options = {}
        if tuning in {"standard", "theorem_2", "anytime"} and name.startswith("og"):
            options["feedback"] = "full"
        if tuning == "proposition_5":
            options["weights"] = "geometric"
        make_learner(name, 5, 1, 100, tuning, **options)


def test_tunings_are_those_of_theory():
    assert make_learner("fpml", **GAME).epsilon == theory.fpml_epsilon(**GAME)
    game = {"n_arms": 9, "slot_budget": 3, "rounds": 368}
    run = make_learner("fpml-partial", **GAME, tuning="as_run")
    assert run.epsilon == theory.partial_epsilon_as_run(**game)
    assert run.resamples == theory.partial_resamples_as_run(**game)
    assert run.weights is Weights.GEOMETRIC
    written = make_learner("fpml-partial", **GAME, tuning="as_written")
    assert written.epsilon == theory.partial_epsilon_as_written(**game)
    assert make_learner("fpml-partial", **GAME).weights is Weights.EXACT
    exact = make_learner("fpml-partial", **GAME, tuning="as_run", weights="exact")
    assert (exact.weights, exact.epsilon) == (Weights.EXACT, run.epsilon)
    og = make_learner("og", **GAME, tuning="as_run")
    assert og == Greedy(Exp3(9, theory.exp3_gamma_as_run(n_arms=9, rounds=368)), 3, distinct=False)
    assert make_learner("og", **GAME).distinct
    full = make_learner("og", **GAME, feedback="full")
    assert full == Greedy(Hedge(9, theory.hedge_rate(n_arms=9, rounds=368)), 3)


def test_slots_of_a_hybrid_are_tuned_for_their_own_budget():
    hybrid = make_learner("og-hybrid", 9, 6, 368, "as_run", slot_budget=3)
    box = make_learner("fpml-partial", 9, 3, 368, "as_run")
    assert hybrid == Greedy(box, 2, distinct=False)


def test_parameters_by_hand_win():
    assert make_learner("fpml", **GAME, epsilon=0.5) == FPML(9, 3, 0.5)
    by_hand = make_learner("fpml-partial", **GAME, weights="geometric", epsilon=0.5, resamples=7)
    assert by_hand == FPMLPartial(9, 3, 0.5, Weights.GEOMETRIC, 7)
    assert make_learner("exp3", 9, 1, 368, gamma=0.2) == Exp3(9, 0.2)


def test_unknown_rounds_mean_anytime_or_doubling():
    assert make_learner("fpml", 9, 3).decay == pytest.approx(1 / 4)
    assert isinstance(make_learner("exp3", 9), Doubling)
    assert make_learner("uniform", 9, 3) == Uniform(9, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_learner("fmpl", 9), "unknown learner 'fmpl'; did you mean 'fpml'"),
        (lambda: make_learner("fpml", 9, 10), "budget must be between 1 and n_arms=9, got 10"),
        (lambda: make_learner("fpml", 9, 0), "budget must be between 1 and n_arms=9, got 0"),
        (lambda: make_learner("exp3", 9, 2), "exp3 picks one arm a round"),
        (lambda: make_learner("fpml", 9, 2, 0), "rounds must be a whole number"),
        (lambda: make_learner("fpml", 9, 2, 5, "theorem"), "did you mean 'theorem_2'"),
        (lambda: make_learner("ucb", 9, 2, 5, "as_run"), "ucb has nothing to tune"),
        (lambda: make_learner("fpml", 9, 2, 5, epsilom=1), "did you mean 'epsilon'"),
        (lambda: make_learner("fpml-partial", 9, 2, 5, weights="exakt"), "did you mean 'exact'"),
        (lambda: make_learner("og-hybrid", 9, 4, 5, slot_budget=3), "3 does not divide 4"),
        (lambda: make_learner("og-hybrid", 9, 4, 5, slot_budget=0), "budget must be between 1"),
        (lambda: make_learner("og", 9, 4, 5, slots="indep"), "did you mean 'independent'"),
        (lambda: make_learner("og", 9, 4, 5, "auer", feedback="full"), "unknown tuning of og"),
        (lambda: make_learner("fpml-partial", 9, 2, 5, "proposition_5"), "bounded estimates"),
        (lambda: make_learner("fixed", 9, 2, 5, arms=(1,)), "arms must name budget=2 arms"),
        (lambda: make_learner("fpml", 9, 2, None, "theorem_2"), "needs the number of rounds"),
        (lambda: rebuild({"kind": "Nothing"}), "unknown kind of learner"),
        (lambda: rebuild({"kind": "FPML", "arms": 3}), "FPML cannot be rebuilt"),
        (lambda: rebuild(3), "not the description of a learner"),
        (
            lambda: register_learner(LearnerEntry("fpml", "again", lambda *_: None)),
            "registered already",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(PickbestError, match=message):
        call()
