"""Every learner plays as 0.1.0 did: picks, weights, paid costs and final state."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.golden_assets import FOLDER, Unpacker, digest, make_table, read_json
from tests.golden.replay import assert_same

from pickbest.catalog import make_learner, rebuild
from pickbest.core import play_table, replicate_keys, rng_for, visible
from pickbest.core.states import arrays_of
from pickbest.learners import AdaHedge, Contextual
from pickbest.learners.states_0_1 import from_flat

ASSETS = read_json(FOLDER / "learners.json.gz")
ARRAYS = Unpacker(FOLDER / "learners.npz")
CONTEXTUAL = [case for case in ASSETS["cases"] if case["name"] == "contextual"]


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
    expected = arrays_of(from_flat(learner, ARRAYS.get_all(case["state"])))
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
    for final in (arrays_of(state), arrays_of(whole)):
        assert final.keys() == expected.keys(), case["described"]
        for name, array in final.items():
            if name.endswith("round") and "links" in case["state"]:
                continue  # 0.1.0 did not count the rounds of FPMLManyArms.
            assert_same(array, expected[name], (case["described"], name))


@pytest.mark.parametrize("case", CONTEXTUAL, ids=lambda case: case["id"])
def test_contextual_plays_as_it_did(case):
    fields = {name: value for name, value in case["described"].items() if name != "kind"}
    centers = tuple(tuple(center) for center in fields.pop("centers"))
    learner = Contextual(centers=centers, **fields)
    table, features = ARRAYS.get(case["costs"]), ARRAYS.get(case["features"])
    picks, weights = ARRAYS.get(case["picks"]), ARRAYS.get(case["weights"])
    replicates = case["replicates"]
    keys, state = replicate_keys(case["seed"], replicates), learner.start(replicates)
    for t in range(case["played"]):
        choice = learner.pick_in(state, rng_for(keys, t), features[t])
        assert np.array_equal(choice.arms, picks[t]), t
        assert_same(choice.weights, weights[t], t)
        costs = np.broadcast_to(table[:, t], (replicates, learner.n_arms))
        state = learner.learn_in(state, choice, visible(learner, choice, costs), features[t])
    expected = arrays_of(from_flat(learner, ARRAYS.get_all(case["state"])))
    assert arrays_of(state).keys() == expected.keys()
    for name, array in arrays_of(state).items():
        assert_same(array, expected[name], name)
