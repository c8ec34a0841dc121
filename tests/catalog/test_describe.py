"""Learners as plain data and back."""

import json

import pytest

from pickbest.catalog import describe, learner_entry, learner_names, make_learner, rebuild
from pickbest.core import PickbestError


@pytest.mark.parametrize("name", learner_names())
def test_every_learner_survives_its_description(name):
    budget = 1 if learner_entry(name).single_arm else 2
    learner = make_learner(name, 5, budget, rounds=50)
    assert rebuild(json.loads(json.dumps(describe(learner)))) == learner


GAME = {"n_arms": 5, "budget": 2}
NESTED: dict = {"kind": "Uniform", **GAME}
for _ in range(3000):
    NESTED = {"kind": "Greedy", "inner": NESTED, "slots": 2}


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"kind": "Nothing"}, "unknown kind of learner"),
        ({"kind": "FPML", "arms": 3}, "FPML cannot be rebuilt"),
        (3, "not the description of a learner"),
        ({"kind": ["FPML"]}, "unknown kind of learner"),
        ({"kind": "FPMLPartial", **GAME, "epsilon": 1, "weights": "x"}, "not a valid Weights"),
        ({"kind": "FPML", **GAME, "epsilon": "x"}, "epsilon must be a number above 0, got 'x'"),
        ({"kind": "Greedy", "inner": 3, "slots": 2}, "int cannot fill a slot"),
        (NESTED, "cannot be rebuilt from its description|unknown kind"),
    ],
)
def test_what_describes_no_learner_gets_one_sentence(described, message):
    with pytest.raises(PickbestError, match=message):
        rebuild(described)
