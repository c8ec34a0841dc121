"""Routers of language models: what is best in hindsight, and what is paid for calls."""

from itertools import combinations, permutations

import numpy as np
import pytest

from pickbest.environments import Table
from studies.models import (
    Adaptive,
    Cascade,
    FixedSet,
    best_cascade,
    best_set,
    compared,
    drawn,
    models_study,
    play,
)

RNG = np.random.default_rng(3)
WRONG = RNG.random((40, 5))
PRICES = np.array([0.5, 0.1, 0.3, 0.2, 0.05])


def expected(models: tuple[int, ...], trade: float, cascade: bool) -> float:
    """What calling these models pays, over all outcomes of independent attempts."""
    left = np.ones(len(WRONG))
    price = 0.0
    for model in models:
        price += PRICES[model] * (left.mean() if cascade else 1.0)
        left = left * WRONG[:, model]
    return float(left.mean() + trade * price)


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("trade", [0.0, 0.2, 1.0])
def test_hindsight_finds_the_best_of_all_choices(budget: int, trade: float) -> None:
    best = tuple(best_set(WRONG, PRICES, budget, trade))
    every = [expected(models, trade, False) for models in combinations(range(5), budget)]
    assert expected(best, trade, False) == pytest.approx(min(every))
    cascade = tuple(best_cascade(WRONG, PRICES, budget, trade))
    by_price = [
        expected(models, trade, True)
        for models in permutations(range(5), budget)
        if list(PRICES[list(models)]) == sorted(PRICES[list(models)])
    ]
    assert expected(cascade, trade, True) == pytest.approx(min(by_price))
    assert list(PRICES[list(cascade)]) == sorted(PRICES[list(cascade)])


def test_what_is_paid_is_what_was_called() -> None:
    costs = np.array([[0.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0, 1.0]])
    both, turn = (play(router, costs, PRICES) for router in (FixedSet([0, 2]), Cascade([0, 2])))
    assert (both.cost, both.calls) == (0.0, 2.0)
    assert both.price == pytest.approx(0.8)
    assert (turn.cost, turn.calls) == (0.0, 1.5)
    assert turn.price == pytest.approx(0.5 + 0.3 / 2)
    assert both.total(0.5) == pytest.approx(0.4)


def test_attempts_are_drawn_as_often_right_as_recorded() -> None:
    table = Table(np.tile([0.2, 0.9], (4_000, 1)))
    costs, _ = drawn(table, "recorded", 0, 0)
    assert set(np.unique(costs)) == {0.0, 1.0}
    assert costs.mean(axis=0) == pytest.approx([0.2, 0.9], abs=0.03)
    again, places = drawn(table, "shuffled", 0, 0)
    assert sorted(places) == list(range(4_000))
    assert again.sum(axis=0) == pytest.approx(costs.sum(axis=0))


def test_every_router_is_compared_on_the_same_draws() -> None:
    features = RNG.random((40, 2))
    rows = models_study(Table(WRONG), 100 * PRICES, [0.5], [1, 2], replicates=2, features=features)
    assert len(rows) == 2 * 2 * 11
    for row in rows:
        assert row["paid"] == pytest.approx(1 - row["quality"] + 0.5 * row["dollars"] / 100)
    assert min(row["more"] for row in rows if row["router"].startswith("best fixed")) == 0.0
    for found in compared(rows):
        assert found["difference"] == pytest.approx(found["adaptive"] - found["rival"])
        assert found["low"] < found["difference"] < found["high"]
        adaptive = [
            row["paid"] for row in rows
            if (row["router"], row["budget"], row["order"])
            == ("adaptive cascade", 2, found["order"])
        ]  # fmt: skip
        assert [found["adaptive"]] == adaptive
        if found["compared with"] == "best fixed B":
            assert found["rival"] == min(
                row["paid"] for row in rows
                if row["router"].startswith(("auto", "LinUCB", "Thompson"))
                and row["order"] == found["order"]
            )  # fmt: skip


def test_an_adaptive_budget_pays_less_than_any_fixed_one_where_problems_differ() -> None:
    """A cheap model that solves the easy half, and a dear one that solves the rest."""
    costs = np.tile([[0.0, 0.0], [1.0, 0.0]], (150, 1))
    prices = np.array([0.05, 0.6])
    adaptive = play(Adaptive(2, prices, 1.0, 1, cascade=True), costs, prices).total(1.0)
    for fixed in ([0], [1], [0, 1]):
        assert adaptive < play(FixedSet(fixed), costs, prices).total(1.0) - 0.05
    at_once = play(Adaptive(2, prices, 1.0, 1, cascade=False), costs, prices)
    assert at_once.calls < 1.3


def test_a_dear_model_is_tried_where_features_say_that_the_cheap_one_fails() -> None:
    """Whoever never tries it pays .55; whoever learns which problems need it pays .325."""
    costs = np.tile([[0.0, 0.0], [1.0, 0.0]], (150, 1))
    prices, features = np.array([0.05, 0.6]), np.tile([[0.0], [1.0]], (150, 1))
    paid = [
        play(Adaptive(2, prices, 1.0, seed, True, features), costs, prices).total(1.0)
        for seed in range(12)
    ]
    assert max(paid) < 0.5
    assert np.mean(paid) < 0.42
