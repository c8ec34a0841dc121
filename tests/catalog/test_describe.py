"""Learners as plain data and back, also as 0.1.0 wrote them."""

import gzip
import json
from pathlib import Path

import pytest
from tests.golden.replay import auto_of_0_1 as auto_of_0_1

from pickbest.catalog import describe, learner_entry, learner_names, make_learner, rebuild
from pickbest.catalog.describe import FIXED_IN_0_1
from pickbest.catalog.learners import RENAMED_KINDS
from pickbest.core import PickbestError

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded(part):
    return json.loads(gzip.decompress((GOLDEN / f"{part}.json.gz").read_bytes()))


def renamed(described):
    """A description of 0.1.0 in today's names of classes."""
    text = json.dumps(described)
    for old, new in RENAMED_KINDS.items():
        text = text.replace(f'"kind": "{old}"', f'"kind": "{new}"')
    return json.loads(text)


@pytest.mark.parametrize("name", learner_names())
def test_every_learner_survives_its_description(name):
    budget = 1 if learner_entry(name).single_arm else 2
    for rounds in (50, None):
        learner = make_learner(name, 5, budget, rounds)
        assert rebuild(json.loads(json.dumps(describe(learner)))) == learner


# Fields that came later, with the values under which the learner is what it was.
LATER = {
    **FIXED_IN_0_1,
    "FPML": {"noise": "exponential"},
    "FPMLFullManyArms": {"noise": "exponential"},
    "Hedge": {"budget": 1, "prior": None},
}


def as_then(described):
    """A description without the fields that came later."""
    if isinstance(described, list):
        return [as_then(item) for item in described]
    if not isinstance(described, dict):
        return described
    later = LATER.get(described.get("kind"), {})
    assert all(described[name] == value for name, value in later.items())
    return {name: as_then(value) for name, value in described.items() if name not in later}


def test_learners_saved_by_the_first_version_are_rebuilt():
    saved = [save["described"] for save in recorded("saves")]
    assert len(saved) > 30
    for described in saved:
        assert as_then(describe(rebuild(described))) == renamed(described)


@pytest.mark.usefixtures("auto_of_0_1")
def test_names_make_what_they_made_in_the_first_version():
    cases = [case for case in recorded("learners")["cases"] if "n_arms" in case]
    kept = [case for case in cases if not case["defect"]]
    assert len(kept) > 800
    for case in kept:
        game = (case["name"], case["n_arms"], case["budget"], case["rounds"], case["tuning"])
        made = as_then(describe(make_learner(*game, **case["options"])))
        assert made == renamed(case["described"])


GAME = {"n_arms": 5, "budget": 2}
NESTED: dict = {"kind": "Uniform", **GAME}
for _ in range(3000):
    NESTED = {"kind": "Warm", "inner": NESTED, "table": [[0.0] * 5]}


def retuned(name):
    return {"kind": "Retuned", "name": name, **GAME, "tuning": None, "options": []}


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
        ({"kind": "Doubling", "for_rounds": {"kind": "Uniform", **GAME}}, "cannot be rebuilt"),
        ({"kind": "Doubling", "for_rounds": retuned("os:system")}, "to be tuned anew 'os:system'"),
        ({"kind": "Doubling", "for_rounds": retuned("guarded")}, "to be tuned anew 'guarded'"),
        ({"kind": "Doubling", "for_rounds": retuned("exp3")}, "exp3 picks one arm a round"),
        (NESTED, "cannot be rebuilt from its description|unknown kind"),
    ],
)
def test_what_describes_no_learner_gets_one_sentence(described, message):
    with pytest.raises(PickbestError, match=message):
        rebuild(described)
