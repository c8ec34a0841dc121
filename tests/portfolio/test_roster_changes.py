"""Group 3 of REVIEW.md: every learner of the catalog through random changes of its arms."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pickbest.catalog import learner_entry, learner_names, make_learner
from pickbest.core import Feedback, Learner, Seat
from pickbest.core.states import Kind, arrays_of, copy_state, fields, known_arrays
from pickbest.portfolio.store.live_learner import LiveLearner
from pickbest.portfolio.store.records import Finished, Opened, Picked, Roster
from pickbest.testing.learners import check_unbiased

ROUNDS = 10_000


def budget_of(name: str) -> int:
    return 1 if learner_entry(name).single_arm else 2


def live_names() -> list[str]:
    """The learners that a portfolio can have; `fixed` and `schedule` name arms, so they cannot lose
    them, and `schedules` learns of runs in stages (tests/portfolio/test_schedules.py)."""
    names = [name for name in learner_names() if name not in ("fixed", "schedule", "schedules")]
    return [n for n in names if make_learner(n, 6, budget_of(n), 1000).feedback is Feedback.PICKED]


def play(live: LiveLearner, rounds: int, first: int, rng: random.Random) -> None:
    """Rounds in which each arm has its own typical cost; picks are checked."""
    for number in range(first, first + rounds):
        arms, weights, *_ = live.pick(number)
        assert set(arms) <= set(live.arms), "an arm was picked that is not there"
        assert len(set(arms)) == len(arms), f"picked {arms}"
        if weights is not None:
            assert np.all(np.isfinite(weights)), f"weights {weights}"
            assert min(weights) >= 0.0, f"weights {weights}"
        costs = tuple(min(1.0, (hash_of(arm) + rng.random()) / 2) for arm in arms)
        picked = Picked(number, arms, weights, 0.0)
        assert live.learn(picked, Finished(number, (), costs, costs, costs))


def hash_of(arm: str) -> float:
    return random.Random(arm).random()


def check_new_arm(live: LiveLearner, arm: str) -> None:
    """Nothing is counted of an arm that never played."""
    place = live.arms.index(arm)
    fresh = known_arrays(live.learner.start(1))
    for path, array, field in fields(live.state):
        if field.kind is Kind.COUNT and field.arm_axes == (-1,) and path in fresh:
            found, expected = array[..., place], fresh[path][..., place]
            assert np.array_equal(found, expected), f"{path} of a new arm is {found}"


def changed(live: LiveLearner, roster: Roster) -> None:
    """Follow a change; of arms that stay, everything that is known stays."""
    before, places = known_arrays(copy_state(live.state)), live.arms
    live.follow(roster)
    stay = [arm for arm in live.arms if arm in places]
    old, new = [places.index(arm) for arm in stay], [live.arms.index(arm) for arm in stay]
    for path, array, field in fields(live.state):
        if field.kind is Kind.DERIVED:
            continue
        if field.arm_axes == (-1,):
            kept = np.array_equal(array[..., new], before[path][..., old])
            assert kept, f"{path} was lost"
        elif not field.arm_axes:
            assert np.array_equal(array, before[path]), f"{path} was lost"
    assert sum(live.shares().values()) == pytest.approx(roster.budget)


def check_going_on(learner: Learner, state: object) -> None:
    """10^4 further rounds without NaN."""
    table = np.random.default_rng(1).random((1, ROUNDS, learner.n_arms))
    seat = Seat(learner, seed=3)
    seat.state = state
    assert np.all(np.isfinite(seat.play_table(table, 1_000)))
    for path, array in arrays_of(seat.state).items():
        assert not np.any(np.isnan(array)), f"{path} has NaN"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", live_names())
def test_random_changes_leave_a_learner_sound(name: str, seed: int) -> None:
    rng = random.Random(f"{name}{seed}")
    budget = budget_of(name)
    arms, away = [f"arm {number}" for number in range(5)], []
    live = LiveLearner(Opened(seed, name, 1000), Roster(tuple(arms), budget))
    for change in range(8):
        play(live, rng.randrange(1, 25), 100 * change, rng)
        new = f"new {change}"
        kind = rng.choice(["new", "leave", "return", "two"])
        if kind in ("leave", "two") and len(arms) > budget + 1:
            away.append(arms.pop(rng.randrange(len(arms))))
        if kind in ("new", "two"):
            arms.append(new)
        if kind == "return" and away:
            arms.insert(rng.randrange(len(arms) + 1), away.pop(0))
        changed(live, Roster(tuple(arms), budget))
        assert live.arms == tuple(arms)
        if new in arms:
            check_new_arm(live, new)
    play(live, 20, 900, rng)
    if live.learner.unbiased:
        check_unbiased(live.learner, 20_000, 3)
    check_going_on(live.learner, live.state)


@pytest.mark.parametrize("name", live_names())
def test_arms_across_the_number_where_learners_change(name: str) -> None:
    """From 100 arms on some learners keep their state otherwise."""
    rng = random.Random(name)
    budget = budget_of(name)
    arms = [f"arm {number}" for number in range(98)]
    live = LiveLearner(Opened(7, name, 1000), Roster(tuple(arms), budget))
    play(live, 150, 0, rng)
    for step, size in enumerate((99, 100, 101, 103, 101, 100, 99, 97)):
        arms = [*arms[:size], *(f"new {step} {k}" for k in range(size - len(arms)))]
        changed(live, Roster(tuple(arms), budget))
        play(live, 10, 200 + 20 * step, rng)
    check_going_on(live.learner, live.state)
