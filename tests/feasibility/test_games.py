"""Zero-sum games through the same loop, beside their exact value."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.feasibility import solve_game
from pickbest.feasibility.games import exact_value


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("shape", [(3, 3), (12, 7), (5, 40)])
def test_value_lies_between_the_bounds(shape: tuple[int, int], budget: int) -> None:
    payoffs = np.random.default_rng(shape[0]).uniform(-2.0, 3.0, shape)
    game = solve_game(payoffs, 0.1, budget)
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


def test_the_proofs_tuning_and_hedge() -> None:
    payoffs = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 6))
    for options in ({"tuning": "proposition_8"}, {"learner": "hedge"}):
        game = solve_game(payoffs, 0.2, **options)  # type: ignore[arg-type]
        assert game.solved
        assert game.calls <= game.calls_bound


def test_calls_allowed() -> None:
    payoffs = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 6))
    seen: list[int] = []
    game = solve_game(payoffs, 1e-6, max_calls=5, progress=lambda done, _: seen.append(done))
    assert not game.solved
    assert seen == [1, 2, 3, 4, 5]


def test_a_constant_game() -> None:
    game = solve_game([[0.5, 0.5]], 0.1)
    assert game.solved
    assert (game.lower, game.upper) == (0.5, 0.5)
