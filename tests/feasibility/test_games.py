"""Zero-sum games through the same loop, beside their exact value."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.feasibility import solve_game
from studies.linear_programs.generated_problems import exact_value


@pytest.mark.parametrize(
    ("budget", "tuning"), [(1, None), (1, "proposition_8"), (2, None), (3, None)]
)
@pytest.mark.parametrize("shape", [(3, 3), (12, 7), (5, 40)])
def test_value_lies_between_the_bounds(
    shape: tuple[int, int], budget: int, tuning: str | None
) -> None:
    payoffs = np.random.default_rng(shape[0]).uniform(-2.0, 3.0, shape)
    game = solve_game(payoffs, 0.1, budget, tuning=tuning)
    value = exact_value(payoffs)
    assert game.solved
    assert game.upper - game.lower <= 0.1
    assert game.lower - 1e-9 <= value <= game.upper + 1e-9
    assert game.value == pytest.approx(value, abs=0.05 + 1e-9)
    for strategy in (game.rows, game.columns):
        assert strategy.min() >= -1e-12
        assert strategy.sum() == pytest.approx(1.0, abs=1e-9)
    assert (game.rows @ payoffs).min() == pytest.approx(game.lower)
    assert (payoffs @ game.columns).max() == pytest.approx(game.upper)
    assert game.calls <= game.calls_bound


def test_calls_allowed() -> None:
    payoffs = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 6))
    game = solve_game(payoffs, 1e-6, max_calls=5)
    assert (game.solved, game.calls) == (False, 5)


def test_a_constant_game() -> None:
    game = solve_game([[0.5, 0.5]], 0.1)
    assert game.solved
    assert (game.lower, game.upper) == (0.5, 0.5)
