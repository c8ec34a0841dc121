"""Learning from intervals: what is filled in, what stays unbiased, when rounds are watched."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import Choice, PickbestError, Seen, replicate_keys, rng_for
from pickbest.core.states import arrays_of, copy_state, same_state
from pickbest.learners import FPML, Auto, Fixed, FPMLPartial, Thompson, Uniform
from pickbest.learners.auto.kinds import bin_of, survivals
from pickbest.learners.auto.stopped import Racing, RacingState, racing
from pickbest.testing.learners import check_learner

ONE = np.ones(1)


def raced(times: list[float], arms: list[int], watched: bool, watch: float = 1.0) -> Seen:
    """What is seen of a race for the cost runtime; times: of all arms, 1 where there is none."""
    took = np.array([[times[arm] for arm in arms]])
    first = took.min()
    ran = took if watched else np.full(took.shape, first)
    high = np.where(took <= ran, took, 1.0)
    return Seen(ran, high, ran, np.array([watch]), np.array([watched]))


def picked(*arms: int) -> Choice:
    return Choice(np.array([arms]), np.ones((1, len(arms))))


@pytest.mark.parametrize("kind", [Auto, Thompson])
def test_it_is_a_learner(kind: type) -> None:
    check_learner(Racing(kind(n_arms=6, budget=2)))


@pytest.mark.parametrize("kind", [Auto, Thompson])
def test_where_everything_is_seen_it_learns_what_the_inner_learner_would(kind: type) -> None:
    inner = kind(n_arms=4, budget=2)
    learner = Racing(inner)
    state, other, plain = learner.start(3), learner.start(3), inner.start(3)
    rng = np.random.default_rng(0)
    for number in range(40):
        choice = learner.pick(state, rng_for(replicate_keys(0, 3), number))
        costs = rng.random((3, 2))
        known = Seen(costs, costs, costs, np.ones(3), np.ones(3, bool))
        state = learner.learn(state, choice, known)
        other = learner.learn(other, choice, Seen.of(costs))
        plain = inner.learn(plain, choice, Seen.of(costs))
    assert same_state(state.inner, plain)
    assert same_state(other.inner, plain)
    assert state.kinds.answers.sum() == pytest.approx(240)
    assert not other.kinds.answers.any()


def usual(state: RacingState, time: float) -> float:
    """Arm 1's mean reward where arm 0 answered at a time; twin of what the kernels do."""
    survival = survivals(state.kinds)[0]
    hazards = 1.0 - survival[..., 1:] / survival[..., :-1]
    at = bin_of(time)
    likely = state.kinds.mass[0] * survival[:, 0, at] * hazards[:, 0, at] * survival[:, 1, at]
    hazards[:, 1, at] /= 2.0
    ahead = np.cumprod(1.0 - hazards[:, 1, at:], axis=1)
    now = np.concatenate([np.ones((len(likely), 1)), ahead[:, :-1]], axis=1) * hazards[:, 1, at:]
    number, total = state.answers[0, at:].T
    rewards = np.minimum((total + 1.0 - time) / (number + 1.0), 1.0 - time)
    return float(likely @ now @ rewards / likely.sum())


def test_what_is_filled_in() -> None:
    """Arm 1 lost to arm 0 and was stopped: its mean given that stands in for its cost."""
    learner = Racing(Thompson(n_arms=2, budget=2))
    state = learner.start(1)
    for times in ([0.2, 0.5], [0.2, 1.0]):
        state = learner.learn(state, picked(0, 1), raced(times, [0, 1], True))
    before, mean = state.inner.costs.copy(), usual(state, 0.2)
    state = learner.learn(state, picked(0, 1), raced([0.2, 0.5], [0, 1], False, 0.5))
    assert (state.inner.costs - before)[0] == pytest.approx([0.2, 1.0 - mean])
    assert 0.05 < mean < 0.75
    assert state.watched[0].tolist() == [[0, 2], [2, 0]]


def test_what_is_filled_in_stays_within_its_interval() -> None:
    learner = Racing(Thompson(n_arms=2, budget=2))
    state = learner.start(1)
    seen = Seen(
        np.array([[0.5, 0.5]]), np.array([[0.5, 0.6]]), np.array([[0.5, 0.5]]), ONE, ONE == 0
    )
    state = learner.learn(state, picked(0, 1), seen)
    assert 0.5 <= state.inner.costs[0, 1] <= 0.6


def test_estimates_are_unbiased_whatever_is_stopped() -> None:
    """The guard of auto, and FPML-partial: the sums of weighted costs have the right mean."""
    times = [0.1, 0.4, 0.9, 1.0]
    for inner in (Auto(4, 2), FPMLPartial(4, 2, epsilon=0.1)):
        learner, rounds = Racing(inner), 6_000
        start = learner.start(rounds)
        choice = learner.pick(start, rng_for(replicate_keys(1, rounds), 0))
        took = np.array(times)[choice.arms]
        first = took.min(axis=1, keepdims=True)
        watched = np.random.default_rng(2).random(rounds) < 0.25
        stopped = (took > first) & ~watched[:, None]
        ran = np.where(stopped, first, took)
        seen = Seen(ran, np.where(stopped, 1.0, took), ran, np.full(rounds, 0.25), watched)
        state = learner.learn(start, choice, seen)
        costs = state.inner.sets.guard.costs if isinstance(inner, Auto) else state.inner.costs
        error = costs.std(axis=0, ddof=1) / np.sqrt(rounds)
        assert np.all(np.abs(costs.mean(axis=0) - times) < 5.0 * error), type(inner).__name__


def wanted(learner: Racing, state: RacingState, *arms: int) -> float:
    """How likely a race of these arms should be watched."""
    fixed = Racing(Fixed(learner.n_arms, arms))
    return float(fixed.pick(state, rng_for(replicate_keys(0, 1), 0)).watch[0])


def test_rounds_are_watched_less_and_less() -> None:
    learner = Racing(Auto(n_arms=3, budget=2))
    state = learner.start(1)
    shares = []
    for _ in range(200):
        shares.append(wanted(learner, state, 0, 1))
        state = learner.learn(state, picked(0, 1), raced([0.1, 0.2, 1.0], [0, 1], True))
    assert shares[0] == 1.0
    assert np.all(np.diff(shares) <= 0.0)
    assert shares[-1] < 0.15
    assert wanted(learner, state, 0, 2) == 1.0
    unwatched = learner.learn(
        copy_state(state), picked(0, 1), raced([0.1, 0.2, 1.0], [0, 1], False, 0.1)
    )
    assert np.array_equal(unwatched.watched, state.watched)
    alone = Racing(Auto(n_arms=3, budget=1))
    assert wanted(alone, alone.start(1), 0) == 1.0


def test_learners_without_intervals_are_told_the_highest() -> None:
    learner = racing(Uniform(n_arms=3, budget=2))
    assert not isinstance(learner, Racing)
    assert learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).watch is None
    learner.learn(learner.start(1), picked(0, 1), raced([0.1, 0.2, 1.0], [0, 1], False))
    with pytest.raises(PickbestError, match="no use for intervals"):
        Racing(FPML(n_arms=3, budget=2, epsilon=0.1))


def test_many_arms_keep_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pickbest.learners.auto.stopped.MOST_PAIRED", 3)
    learner = Racing(Thompson(n_arms=4, budget=2))
    state = learner.start(1)
    assert state.watched.size == 0
    assert 0.0 < wanted(learner, state, 0, 1) < 1.0
    state = learner.learn(state, picked(0, 1), raced([0.1, 0.2, 1, 1], [0, 1], False))
    assert all(np.isfinite(array).all() for array in arrays_of(state).values())
