"""Schedules: plans that follow prices and what was seen, against brute force where it is known."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import PickbestError, Plans, replicate_keys, rng_for
from pickbest.core.states import copy_state, same_state
from pickbest.environments.runtimes import Runtimes
from pickbest.learners import Schedules
from pickbest.portfolio.run.costs import Runtime, Solved
from pickbest.simulation.replay import Races, Replay, orders, replay
from pickbest.testing.learners import check_learner


def races_of(seconds: np.ndarray, cost: object = None) -> Races:
    names = tuple(f"p{n}" for n in range(len(seconds)))
    arms = tuple(f"a{n}" for n in range(seconds.shape[1]))
    return Races.of(Runtimes(names, arms, seconds, {}), 10.0, cost or Runtime())  # type: ignore[arg-type]


def total(races: Races, played: Replay, price: float) -> float:
    return float((played.paid + price * played.cpu_seconds / races.deadline)[:, 200:].mean())


def played(races: Races, price: float, rounds: int = 500, budget: int = 2) -> Replay:
    planner = Schedules(races.n_arms, budget, price=price)
    return replay(races, planner, None, orders(len(races.times), rounds, 4, 0))


def test_it_is_a_learner() -> None:
    check_learner(Schedules(n_arms=5, budget=2))


def test_what_comes_of_a_plan() -> None:
    races = races_of(np.array([[1.0, 4.0, 6.0], [9.0, 4.0, 6.0], [9.0, 99.0, 8.0]]))
    plans = Plans(np.tile([0, 1, 2], (3, 1)), np.full(3, 0.3))
    runs, answer = races.run(np.arange(3), plans)
    assert answer == pytest.approx([0.1, 0.7, 1.0])
    assert runs.ran.tolist() == [[True, False, False], [True] * 3, [True] * 3]
    assert runs.answered.tolist() == [[True, False, False], [False, True, False], [False] * 3]
    assert runs.times[1] == pytest.approx([0.3, 0.4, 0.4])
    assert runs.times[2] == pytest.approx([0.3, 0.7, 0.7])
    alone, when = races.run(np.arange(3), Plans(np.tile([-1, 1, -1], (3, 1)), np.zeros(3)))
    assert when == pytest.approx([0.4, 0.4, 1.0])
    assert alone.ran.tolist() == [[False, True, False]] * 3


def test_dear_processors_mean_fewer_arms() -> None:
    """Two arms that answer each other's problems: both where it is cheap, else one."""
    rng = np.random.default_rng(1)
    first = rng.random(400) < 0.5
    seconds = np.where(np.stack([first, ~first, first & False], axis=1), 1.0, 8.0)
    races = races_of(seconds + rng.random(seconds.shape))
    arms = {price: (played(races, price).arms[:, 200:] >= 0).sum(axis=2).mean() for price in (0, 8)}
    assert arms[0] > 1.9
    cheap, dear = total(races, played(races, 0.0), 0.0), total(races, played(races, 8.0), 8.0)
    # One arm for 2 seconds, then the other: half of the problems cost 1.5 s, half 2 + 1.5.
    assert cheap == pytest.approx(0.15, abs=0.03)
    assert dear < 9.0 * 0.15 * 2 * 0.95


def test_one_arm_for_a_while_then_another() -> None:
    """Arm 0 answers at once or never, arm 1 always, slowly: a short slice of 0 pays."""
    rng = np.random.default_rng(2)
    quick = rng.random(600) < 0.6
    seconds = np.stack([np.where(quick, 0.05, 99.0), np.full(600, 5.0)], axis=1)
    races = races_of(seconds * np.exp(0.1 * rng.standard_normal(seconds.shape)))
    result = played(races, 1.0)
    staged = result.arms[:, 200:, 0] == 0
    assert staged.mean() > 0.8
    # Together: 2 arms until one answers; arm 1 alone: 1.0.
    together = 3.0 * (0.6 * 0.005 + 0.4 * 0.5)
    assert total(races, result, 1.0) < 0.85 * together


def test_prices_of_calls() -> None:
    """Two arms alike: the one without a price is used."""
    rng = np.random.default_rng(3)
    races = races_of(rng.exponential(2.0, (300, 2)))
    planner = Schedules(2, 1, call_price=(1.0, 0.0))
    result = replay(races, planner, None, orders(300, 300, 2, 0))
    used = [(result.arms[:, 150:] == arm).any(axis=2).mean() for arm in (0, 1)]
    assert used[1] > 0.9
    assert used[0] < 0.3


def test_solved_counts_answers_not_time() -> None:
    seconds = np.tile([[9.0, 99.0]], (100, 1))
    races = races_of(seconds, Solved())
    planner = Schedules(2, 1, price=0.1, cost="solved")
    result = replay(races, planner, None, orders(100, 100, 2, 0))
    assert (result.arms[:, 50:] == 0).any(axis=2).mean() > 0.9


def test_plans_are_drawn_and_states_are_folds() -> None:
    races = races_of(np.random.default_rng(4).exponential(5.0, (60, 4)))
    planner = Schedules(4, 2, price=0.3)
    state = planner.start(2)
    for number in range(20):
        plans = planner.plan(state, rng_for(replicate_keys(0, 2), number))
        before = copy_state(state)
        again = planner.plan(state, rng_for(replicate_keys(0, 2), number))
        assert same_state(before, state)
        assert np.array_equal(plans.arms, again.arms)
        runs, _ = races.run(np.array([number, number + 20]), plans)
        state = planner.learn_runs(state, plans, runs)
    assert state.mass.sum(axis=1) == pytest.approx([24.0, 24.0])
    counted = state.answers.sum() + state.ends.sum()
    assert counted == pytest.approx(counted.round())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price": -1.0}, "price must be a number of at least 0"),
        ({"price": float("inf")}, "price must be a number of at least 0"),
        ({"call_price": (1.0, 2.0)}, "one for each of 3 arms"),
        ({"call_price": float("nan")}, "call_price must be"),
        ({"cost": "quality"}, "cost must be runtime or solved"),
    ],
)
def test_bad_prices(options: dict[str, object], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        Schedules(3, 2, **options)  # type: ignore[arg-type]
