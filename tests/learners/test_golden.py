"""Learners pick as they did when `python -m tests.learners.golden` was run last."""

import json

import pytest

from pickbest.catalog import learner_names
from tests.learners.golden import FILE, played

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


def test_every_learner_is_recorded():
    assert sorted(RECORDED) == sorted(learner_names())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_learner_picks_as_recorded(name):
    assert played(name) == RECORDED[name]
