"""Every learner plays as 0.1.0 did: picks, weights, paid costs and final state.

What is meant to differ: a parameter that is set by hand is never doubled (`defect`), and `auto`
has another default (`auto_of_0_1`).
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from pickbest.catalog import describe, make_learner, rebuild
from pickbest.core import PickbestError, play_table, replicate_keys, rng_for, visible
from pickbest.learners import AdaHedge, Doubling
from tests.golden.golden_assets import FOLDER, Unpacker, digest, make_table, read_json
from tests.golden.replay import (
    assert_same,
    assert_same_data,
    assert_same_state,
    of_today,
    plain,
    with_names_of_today,
)

pytestmark = pytest.mark.usefixtures("auto_of_0_1")
ASSETS = read_json(FOLDER / "learners.json.gz")
ARRAYS = Unpacker(FOLDER / "learners.npz")
DEFECTS = [case for case in ASSETS["cases"] if case["defect"]]
CONTEXTUAL = [case for case in ASSETS["cases"] if case["name"] == "contextual"]
# What is refused with other words, by the recorded ones; None: what is no longer refused.
REWORDED = {
    # fpml has Gumbel noise, too, at a constant rate.
    "unknown tuning of fpml 'practical' (known: anytime, theorem_2)": (
        "unknown tuning of fpml 'practical' (known: anytime, constant, theorem_2)"
    ),
    "unknown option of fpml 'epsilom'; did you mean 'epsilon'? "
    "(known: epsilon, perturbations, selection)": (
        "unknown option of fpml 'epsilom'; did you mean 'epsilon'? "
        "(known: epsilon, noise, perturbations, selection)"
    ),
    # hedge draws any number of arms.
    "hedge picks one arm a round: budget must be 1, got 2 "
    "(og fills every slot of a larger budget with such a learner)": None,
}
# With unknown rounds, what is left to tune beside the parameter set by hand must be set, too.
STILL_TUNED = {
    ("fpml-partial", "epsilon", "as_run"): "resamples",
    ("fpml-partial", "epsilon", "as_written"): "resamples",
    ("exp3-ix", "rate", None): "implicit",
    ("exp3-ix", "rate", "neu"): "implicit",
    ("exp3-ix", "implicit", None): "rate",
    ("exp3-ix", "implicit", "neu"): "rate",
}


def learner_of(case):
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in (case.get("options") or {}).items()
    }
    if case["described"].get("kind") == "AdaHedge":
        return AdaHedge(case["described"]["n_arms"])
    if case["name"] is None:
        return rebuild(case["described"])
    return make_learner(
        case["name"], case["n_arms"], case["budget"], case["rounds"], case["tuning"], **options
    )


def groups():
    """Cases by learner: one test each, so that a failure names it."""
    found = {}
    for case in ASSETS["cases"]:
        if case["name"] != "contextual" and not case["defect"]:
            kind = case["name"] or case["described"]["kind"]
            found.setdefault(kind, []).append(case)
    return found


@pytest.mark.parametrize("kind", groups())
def test_learners_are_made_as_they_were(kind):
    for case in groups()[kind]:
        learner = learner_of(case)
        assert_same_data(plain(describe(learner)), of_today(case["described"]), case["id"])
        assert learner.feedback.value == case["feedback"], case["described"]
        assert bool(learner.unbiased) == case["unbiased"], case["described"]


@pytest.mark.parametrize("kind", groups())
def test_learners_play_as_they_did(kind):
    for case in groups()[kind]:
        replay(case)


def replay(case):
    learner = learner_of(case)
    table = make_table(**case["table"])
    assert digest(table) == case["table_digest"]
    replicates, played = case["replicates"], case["played"]
    keys = replicate_keys(case["seed"], replicates)
    picks = ARRAYS.get(case["picks"])
    weights = None if case["weights"] is None else ARRAYS.get(case["weights"])
    state, paid = learner.start(replicates), np.empty((replicates, played))
    for t in range(played):
        costs = np.ascontiguousarray(np.broadcast_to(table[:, t], (replicates, learner.n_arms)))
        choice = learner.pick(state, rng_for(keys, t))
        assert np.array_equal(choice.arms, picks[t]), (case["described"], t)
        assert (choice.weights is None) == (weights is None), case["described"]
        if weights is not None:
            assert_same(choice.weights, weights[t], case["described"])
        paid[:, t] = np.take_along_axis(costs, choice.arms, axis=1).min(axis=1)
        state = learner.learn(state, choice, visible(learner, choice, costs))
    assert digest(paid) == case["paid"], case["described"]
    whole, played_at_once = play_table(
        learner, learner.start(replicates), np.ascontiguousarray(table[:, :played]), keys, 0
    )
    assert np.array_equal(paid, played_at_once), case["described"]
    for final in (state, whole):
        assert_same_state(learner, final, ARRAYS.get_all(case["state"]), case["described"])


@pytest.mark.parametrize("case", DEFECTS, ids=lambda case: case["id"])
def test_a_parameter_set_by_hand_is_not_doubled(case):
    missing = STILL_TUNED.get((case["name"], "+".join(case["options"]), case["tuning"]))
    if missing:
        with pytest.raises(PickbestError, match=f"{missing} is tuned for the number of rounds"):
            learner_of(case)
        return
    learner = learner_of(case)
    assert not isinstance(learner, Doubling)
    set_by_hand = {**vars(learner), **vars(getattr(learner, "inner", learner))}
    for name in ("epsilon", "gamma", "rate", "implicit"):
        assert set_by_hand.get(name) == case["options"].get(name)


@pytest.mark.parametrize("case", CONTEXTUAL, ids=lambda case: case["id"])
def test_contextual_plays_as_it_did(case):
    learner = rebuild(case["described"])
    assert plain(describe(learner)) == case["described"]
    replicates, features = case["replicates"], ARRAYS.get(case["features"])
    table, picks, weights = (ARRAYS.get(case[name]) for name in ("costs", "picks", "weights"))
    keys, state = replicate_keys(case["seed"], replicates), learner.start(replicates)
    for t in range(case["played"]):
        choice = learner.pick_in(state, rng_for(keys, t), features[t])
        assert np.array_equal(choice.arms, picks[t]), t
        assert_same(choice.weights, weights[t], t)
        costs = np.broadcast_to(table[:, t], (replicates, learner.n_arms))
        state = learner.learn_in(state, choice, visible(learner, choice, costs), features[t])
    assert_same_state(learner, state, ARRAYS.get_all(case["state"]), case["id"])


def test_what_was_refused_is_refused_with_the_same_words():
    for case in ASSETS["refused"]:
        now = REWORDED.get(case["message"], with_names_of_today(case["message"]))
        with nullcontext() if now is None else pytest.raises(PickbestError) as refusal:
            learner_of({**case, "described": {}}).start(1)
        assert now is None or str(refusal.value) == now, case
