"""Names, tunings and options; what is unknown is refused with the nearest name."""

import sys
import types

import pytest

from pickbest import theory
from pickbest.catalog import (
    LearnerEntry,
    Spec,
    learner_entry,
    learner_names,
    make_learner,
    register_learner,
)
from pickbest.core import PickbestError
from pickbest.learners import FPML, Exp3, FPMLPartial, Greedy, Hedge, Thompson, Uniform, Weights

GAME = {"n_arms": 9, "budget": 3, "rounds": 368}


@pytest.mark.parametrize("name", learner_names())
def test_every_tuning_of_every_learner_builds(name):
    entry = learner_entry(name)
    for tuning in entry.tunings:
        options = {}
        if tuning in {"standard", "theorem_2", "anytime"} and name.startswith("og"):
            options["feedback"] = "full"
        if tuning == "proposition_5":
            options["weights"] = "geometric"
        budget = 2 if tuning == "constant" else 1
        make_learner(name, 5, budget, 100, tuning, **options)


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


def test_fpml_without_the_number_of_rounds_is_anytime():
    assert make_learner("fpml", 9, 3).decay == pytest.approx(1 / 4)
    assert make_learner("uniform", 9, 3) == Uniform(9, 3)


HAND_SET = {
    "fpml-partial:epsilon=0.2": FPMLPartial(9, 3, 0.2),
    "fpml-partial:epsilon=0.2,weights=explore": FPMLPartial(9, 3, 0.2, Weights.EXPLORE),
    "hedge:rate=0.4": Hedge(9, 0.4),
    "exp3:gamma=0.2": Exp3(9, 0.2),
    "og:gamma=0.2": Greedy(Exp3(9, 0.2), 3),
    "og:feedback=full,rate=0.4": Greedy(Hedge(9, 0.4), 3),
    "og-hybrid:epsilon=0.2": Greedy(FPMLPartial(9, 1, 0.2), 3),
}


@pytest.mark.parametrize("text", HAND_SET)
def test_rates_by_hand_need_no_rounds(text):
    expected = HAND_SET[text]
    assert make_learner(text, 9, expected.budget) == expected


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("fpml-partial", "epsilon"),
        ("hedge", "rate"),
        ("exp3", "gamma"),
        ("og", "gamma"),
        ("og-hybrid", "epsilon"),
        ("fpml-partial:epsilon=0.2,tuning=as_run", "resamples"),
        ("fpml-partial:epsilon=0.2,weights=geometric", "resamples"),
    ],
)
def test_what_still_depends_on_the_rounds_is_named(text, missing):
    with pytest.raises(PickbestError, match=f"give {missing}, or rounds"):
        make_learner(text, 9, 1)


@pytest.mark.parametrize(
    "text",
    ["fpml:epsilon=0", "fpml-partial:epsilon=0", "fpml-partial:resamples=0", "hedge:rate=0",
     "exp3:gamma=0", "og:gamma=0", "og:feedback=full,rate=0", "og-hybrid:epsilon=0"],
)  # fmt: skip
def test_zero_by_hand_is_zero_and_refused_where_it_makes_no_sense(text):
    with pytest.raises(PickbestError, match=r"must be .*got 0"):
        make_learner(text, 9, 1, 100)


def test_none_means_choose_for_me():
    chosen = make_learner("og-hybrid", **GAME)
    nones = dict.fromkeys(learner_entry("og-hybrid").options)
    del nones["slot_budget"], nones["feedback"], nones["explore"]
    assert make_learner("og-hybrid", **GAME, tuning=None, **nones) == chosen


# Specs --------------------------------------------------------------------------------------


def test_text_table_spec_and_options_say_the_same():
    expected = make_learner("og", **GAME, tuning="as_run", slots="distinct")
    text = "og:tuning=as_run,slots=distinct"
    assert make_learner(text, **GAME) == expected
    assert make_learner({"name": "og", "tuning": "as_run", "slots": "distinct"}, **GAME) == expected
    assert make_learner(Spec.parse(text), **GAME) == expected
    assert (
        make_learner("og:slots=independent", **GAME, tuning="as_run", slots="distinct") == expected
    )


def turns(n_arms: int, budget: int, rounds: int | None = None, step: int = 1) -> Uniform:
    """Made by a function."""
    assert rounds is None or rounds > 0
    return Uniform(n_arms, min(budget, step))


def not_a_learner(n_arms: int) -> int:
    return n_arms


@pytest.fixture
def own(monkeypatch):
    module = types.ModuleType("own_learners")
    module.turns, module.not_a_learner, module.number = turns, not_a_learner, 3
    module.mine = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "own_learners", module)


def test_a_learner_of_a_module(own):
    assert make_learner("pickbest.learners:Thompson:prior=0.5", 9, 3) == Thompson(9, 3, 0.5)
    assert make_learner("pickbest.learners:Hedge:rate=0.5", 9) == Hedge(9, 0.5)
    assert make_learner("own_learners:turns", 9, 3, 10, step=2) == Uniform(9, 2)
    assert learner_entry("own_learners:turns").summary == "Made by a function."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_learners:absent", "unknown learner 'own_learners:absent'"),
        ("no_such_module:Name", "not a class or function of a module that can be imported"),
        ("own_learners:number", "must be a class or function with the parameters n_arms, got 3"),
        ("os:system", "must be a class or function with the parameters n_arms"),
        ("own_learners:not_a_learner", "int has no `n_arms`"),
        ("own_learners:turns:stop=2", "unknown option of own_learners:turns 'stop'; did you mean"),
        ("pickbest.learners:Hedge", "pickbest.learners:Hedge needs the option rate"),
        ("og:distinct", "options of a learner must be key=value, got 'distinct' in 'og:distinct'"),
        ("..:x", "unknown learner '..:x'"),
    ],
)
def test_a_module_without_the_learner(own, name, message):
    with pytest.raises(PickbestError, match=message):
        make_learner(name, 9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_learner("fmpl", 9), "unknown learner 'fmpl'; did you mean 'fpml'"),
        (lambda: make_learner("fpml", 9, 10), "budget must be between 1 and n_arms=9, got 10"),
        (lambda: make_learner("fpml", 9, 0), "budget must be between 1 and n_arms=9, got 0"),
        (lambda: make_learner("exp3", 9, 2), "exp3 picks one arm per round"),
        (lambda: make_learner("fpml", 9, 2, 0), "rounds must be a whole number"),
        (lambda: make_learner("fpml", 9, 2, 5, "theorem"), "did you mean 'theorem_2'"),
        (lambda: make_learner("thompson", 9, 2, 5, "as_run"), "thompson has nothing to tune"),
        (lambda: make_learner("fpml", 9, 2, 5, epsilom=1), "did you mean 'epsilon'"),
        (lambda: make_learner("fpml-partial", 9, 2, 5, weights="exakt"), "did you mean 'exact'"),
        (lambda: make_learner("og-hybrid", 9, 4, 5, slot_budget=3), "3 does not divide 4"),
        (lambda: make_learner("og-hybrid", 9, 4, 5, slot_budget=0), "budget must be between 1"),
        (lambda: make_learner("og", 9, 4, 5, slots="indep"), "did you mean 'independent'"),
        (lambda: make_learner("og", 9, 4, 5, "auer", feedback="full"), "unknown tuning of og"),
        (lambda: make_learner("og:rate=1", 9, 4, 5), "og with feedback of picked arms has no rate"),
        (lambda: make_learner("fpml-partial", 9, 2, 5, "proposition_5"), "bounded estimates"),
        (lambda: make_learner("fixed", 9, 2, 5, arms=(1,)), "arms must name budget=2 arms"),
        (lambda: make_learner("fpml", 9, 2, None, "theorem_2"), "needs the number of rounds"),
        (
            lambda: register_learner(LearnerEntry("fpml", "again", lambda *_: None)),
            "registered already",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(PickbestError, match=message):
        call()
