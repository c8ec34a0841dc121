"""Records that cannot have been written: each is refused, and what is at the edge is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import Run, RunStatus
from pickbest.portfolio.store.records import Finished, Picked, check_finished, check_picked

PICKED = Picked(4, ("a", "b"), None, expires=9.0)
RUNS = (Run("a", RunStatus.FINISHED, 0.25, 1.0), Run("b", RunStatus.STOPPED, None, 1.0))
SOUND = Finished(4, RUNS, (0.25, 0.25), (0.25, 1.0), (0.25, 0.25), winner="a", cost=0.25)


@pytest.mark.parametrize(
    "result", [SOUND, replace(SOUND, low=(0.0, 0.0), high=(0.0, 1.0), cost=None, winner=None)]
)
def test_sound_results_pass(result: Finished) -> None:
    check_finished(result, PICKED)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"runs": RUNS[::-1]}, "picked a, b; told were b, a"),
        ({"runs": (replace(RUNS[0], cost=1.5), RUNS[1])}, "costs must be between 0 and 1"),
        ({"runs": (replace(RUNS[0], seconds=-1.0), RUNS[1])}, "seconds must be at least 0"),
        ({"cost": -0.1}, "costs must be between 0 and 1"),
        ({"winner": "c"}, "'c' did not take part"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PickbestError, match=complaint):
        check_finished(replace(SOUND, **change), PICKED)


@pytest.mark.parametrize(
    "change",
    [
        {"low": (0.25, float("nan"))},
        {"high": (0.25, 1.1)},
        {"high": (0.2, 1.0)},
        {"times": (0.25,)},
        {"times": (-0.1, 0.25)},
    ],
)
def test_intervals_that_are_none_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PickbestError, match="intervals and times between 0 and 1"):
        check_finished(replace(SOUND, **change), PICKED)


ARMS = ("a", "b", "c")
STAGED = Picked(4, ("a", "b", "c"), None, expires=9.0, until=(0.5, 1.0, 1.0))


@pytest.mark.parametrize(
    "picked", [STAGED, replace(STAGED, arms=("c",), until=(1.0,)), replace(PICKED, watch=0.5)]
)
def test_sound_picks_pass(picked: Picked) -> None:
    check_picked(picked, ARMS, 2)


@pytest.mark.parametrize("arms", [("a",), ("a", "a"), ("a", "b", "c")])
def test_a_pick_has_as_many_different_arms_as_the_budget_says(arms: tuple[str, ...]) -> None:
    with pytest.raises(PickbestError, match="round 4 must have 2 different arms"):
        check_picked(replace(PICKED, arms=arms), ARMS, 2)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"until": (0.5, 1.0)}, "cannot run"),
        ({"arms": ("a", "b", "b")}, "at most 2 different arms"),
        ({"until": (1.0, 1.0, 1.0)}, "at most 2 different arms"),
        ({"arms": ("a",), "until": (0.5,)}, "at most 2 different arms"),
        ({"until": (-0.5, 1.0, 1.0)}, "between 0 and 1"),
        ({"until": (1.0, 0.5, 1.0)}, "cannot run"),
        ({"costs": (0.5,)}, "between 0 and 1"),
        ({"arms": ("a", "b", "d")}, "'d', which is not there"),
        ({"watch": -0.1}, "between 0 and 1"),
        ({"watch": 0.0, "watched": True}, "had no chance"),
        ({"weights": (1.0, 1.0)}, "finite weights"),
        ({"weights": (1e300, 1.0, 1.0)}, "finite weights"),
    ],
)
def test_picks_that_cannot_be_are_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PickbestError, match=complaint):
        check_picked(replace(STAGED, **change), ARMS, 2)
