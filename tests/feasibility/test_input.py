"""Bad input ends in one clear sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from pickbest.core import MissingExtraError, PickbestError
from pickbest.feasibility import (
    Answer,
    AnyLaw,
    Box,
    FeasibilityStatus,
    Polytope,
    Simplex,
    solve_feasibility,
    solve_game,
)
from pickbest.learners import FPML

GOOD_A, GOOD_B, BOX = [[1.0, 1.0], [-1.0, 0.0]], [1.0, -0.8], Box.cube(2)
INF, NAN = float("inf"), float("nan")

CASES: dict[str, tuple[Callable[[], object], str]] = {
    "shape of b": (lambda: solve_feasibility(GOOD_A, [1.0], BOX, 0.1), "each of the 2 rows"),
    "A is a vector": (lambda: solve_feasibility([1.0], [1.0], BOX, 0.1), "A must be a matrix"),
    "A is ragged": (lambda: solve_feasibility([[1.0], [1, 2]], GOOD_B, BOX, 0.1), "A must be num"),
    "no rows": (lambda: solve_feasibility(np.empty((0, 2)), [], BOX, 0.1), "A must be a matrix"),
    "A has NaN": (lambda: solve_feasibility([[NAN, 1], [1, 1]], GOOD_B, BOX, 0.1), "A must hold"),
    "b is infinite": (lambda: solve_feasibility(GOOD_A, [1, INF], BOX, 0.1), "b must hold"),
    "P's dimension": (lambda: solve_feasibility(GOOD_A, GOOD_B, Box.cube(3), 0.1), "dimension 3"),
    "epsilon": (lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, 0.0), "epsilon must be"),
    "epsilon NaN": (lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, NAN), "epsilon must be"),
    "budget": (lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1, 3), "constraints, 2, got 3"),
    "max_calls": (lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1, max_calls=0), "max_calls"),
    "learner's name": (
        lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1, learner="x"),
        "unknown learner",
    ),
    "learner": (
        lambda: solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1, learner=FPML(3, 1, 0.1)),
        "n_arms=2 and budget=1, got n_arms=3",
    ),
    "oracle": (lambda: solve_feasibility(GOOD_A, GOOD_B, "box", 0.1), "oracle must be"),  # type: ignore[arg-type]
    "empty box": (lambda: Box(np.zeros(2), np.array([1.0, -1.0])), "box is empty: variable 1"),
    "infinite box": (lambda: Box(np.zeros(2), np.array([1.0, INF])), "must be finite"),
    "empty simplex": (lambda: Simplex(2, -1.0), "simplex is empty"),
    "empty polytope": (lambda: Polytope([[1.0]], np.array([-1.0]), 0.0, 1.0), "P is empty"),
    "unbounded polytope": (
        lambda: Polytope([[1.0, 1.0]], np.ones(1), 0.0, np.inf),
        "must be 2 finite numbers",
    ),
    "polytope's bounds": (
        lambda: Polytope([[1.0, 1.0]], np.ones(1), np.zeros(3), 1.0),
        "bounds of a polytope",
    ),
    "tiny entries": (lambda: Polytope([[1e-10, 1.0]], np.ones(1), 0.0, 1.0), "in other units"),
    "payoffs": (lambda: solve_game([1.0, 2.0], 0.1), "payoffs must be a table"),
    "payoffs NaN": (lambda: solve_game([[NAN]], 0.1), "payoffs must be a table"),
    "game's epsilon": (lambda: solve_game([[1.0]], -1.0), "epsilon must be"),
    "game's budget": (lambda: solve_game([[1.0, 2.0]], 0.1, 3), "constraints, 2, got 3"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_one_clear_sentence(case: str) -> None:
    act, says = CASES[case]
    with pytest.raises(PickbestError, match=says):
        act()


class Liar:
    """An oracle that promises more than its answer holds."""

    def __init__(self, width: float) -> None:
        self._width = width

    def width(self) -> float:
        return self._width

    def answer(self, law: AnyLaw) -> Answer:
        return Answer(np.zeros(2), 0.5, np.array([1.0, 0.0]))

    def bound(self, multipliers: np.ndarray) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("width", "says"),
    [(2.0, "negative expected smallest slack"), (0.1, "width must bound .* above 0.1")],
)
def test_an_oracle_that_does_not_keep_its_promise(width: float, says: str) -> None:
    with pytest.raises(PickbestError, match=says):
        solve_feasibility(GOOD_A, [1.5, 0.2], Liar(width), 0.1)


@pytest.mark.parametrize("package", ["highspy", "scipy.sparse"])
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"needs the package .*pickbest\[lp\]"):
        solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1, 2)


def test_budget_one_needs_no_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert solve_feasibility(GOOD_A, GOOD_B, BOX, 0.1).status is FeasibilityStatus.FEASIBLE
