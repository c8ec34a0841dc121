"""Sets of three: what a third arm adds is seen, and sets follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import Choice, replicate_keys, rng_for
from pickbest.core.intervals import Intervals
from pickbest.core.states import arrays_of, copy_state, same_layout, same_state
from pickbest.kernels import triples
from pickbest.kernels.triples import guessed_third, look_again, start_triples
from pickbest.learners import Auto, Thompson
from pickbest.learners.intervals import FromIntervals, SeenState

# Which arms answer, by kind of problem, and how often it comes. Arm 0 is the best one alone, and
# adds nothing to the three others, which answer everything; with it, three arms answer .9.
ANSWERS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
OFTEN = np.array([0.3, 0.3, 0.1, 0.1, 0.2])


def known(costs: np.ndarray, watched: bool = True) -> Intervals:
    """Every run finished; or, in a round that was not watched, no run was stopped."""
    rows = len(costs)
    return Intervals(costs, costs, costs, np.ones(rows), np.full(rows, watched))


def played(learner: FromIntervals, rounds: int, replicates: int = 10) -> np.ndarray:
    """(replicates, rounds): the arm of four that did not run."""
    state, left_out = learner.start(replicates), np.empty((replicates, rounds), int)
    kinds = np.random.default_rng(0).choice(len(OFTEN), (rounds, replicates), p=OFTEN)
    for number in range(rounds):
        choice = learner.pick(state, rng_for(replicate_keys(0, replicates), number))
        costs = 1.0 - np.take_along_axis(ANSWERS[kinds[number]], choice.arms, axis=1)
        state = learner.learn_intervals(state, choice, known(costs))
        left_out[:, number] = 6 - choice.arms.sum(axis=1)
    return left_out


def test_three_arms_without_the_best_one_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    late = played(FromIntervals(Auto(4, 3)), 1_000)[:, 500:]
    assert (late == 0).mean() > 0.5
    monkeypatch.setattr(
        FromIntervals, "pick", lambda self, state, rng: self.inner.pick(state.inner, rng)
    )
    assert (played(FromIntervals(Auto(4, 3)), 1_000)[:, 500:] == 0).mean() < 0.2


def after(rounds: int, n_arms: int = 5) -> tuple[FromIntervals, SeenState, list[np.ndarray]]:
    """A learner, its state after rounds with arms 0, 1 and 2, and their rewards."""
    learner = FromIntervals(Auto(n_arms, 3))
    state, rewards = learner.start(1), []
    for number in range(rounds):
        costs = np.random.default_rng(number).random((1, 3))
        rewards.append(1.0 - costs[0])
        state = learner.learn_intervals(
            state, Choice(np.array([[0, 1, 2]]), np.ones((1, 3))), known(costs)
        )
    return learner, state, rewards


def test_what_a_third_arm_adds() -> None:
    _, state, rewards = after(20)
    added = sum(max(r[2] - max(r[0], r[1]), 0.0) for r in rewards)
    gains, together = state.triples.gains[0], state.triples.together[0]
    assert gains[2, 0, 1] == gains[2, 1, 0] == pytest.approx(added)
    assert together[2, 0, 1] == together[1, 2, 0] == 20
    assert together.sum() == 6 * 20
    assert gains[:3, :3, :3].sum() == gains.sum()
    assert state.triples.gained[0] == pytest.approx(0.5 + gains.sum() / 2)


def test_only_rounds_that_show_all_costs_count() -> None:
    learner, state, _ = after(3)
    choice, costs = Choice(np.array([[0, 1, 2]]), np.ones((1, 3))), np.full((1, 3), 0.5)
    later = learner.learn_intervals(copy_state(state), choice, known(costs, watched=False))
    assert same_state(later.triples, state.triples)


def test_the_guess_is_the_product_of_pairs_at_most_each() -> None:
    _, state, _ = after(200)
    pairs = state.inner.pairs
    pairs.errors[0, -1, 1:] = np.inf  # So that guesses of gains over one arm are worth two rounds.
    mean = (1.0 + pairs.rewards[0, -1, 2]) / (2.0 + pairs.plays[0, -1, 2])
    over = pairs.gains[0, -1, 2, :2] / pairs.together[0, -1, 2, :2]
    assert guessed_third(pairs, 0, 1.0, 2, 0, 1) == pytest.approx(over.prod() / mean, rel=0.05)
    assert guessed_third(pairs, 0, 99.0, 2, 0, 1) == pytest.approx(over.min(), rel=0.05)


def looked(state: SeenState, arms: list[int]) -> set[tuple[int, ...]]:
    """The sets that come of a set in 200 draws."""
    found = set()
    for key in replicate_keys(1, 200):
        chosen = np.array(arms)
        look_again(state.triples, state.inner.pairs, 0, key, chosen)
        found.add(tuple(sorted(chosen.tolist())))
    return found


def test_which_sets_are_looked_at_again() -> None:
    _, state, _ = after(60, n_arms=4)
    sets = {(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)}
    assert looked(state, [0, 1, 2]) == sets, "what cannot be told apart is all played"
    assert looked(state, [0, 1, 3]) == {(0, 1, 3)}, "it never ran: it is tried first"
    state.triples.gains[0, 0, 1, 2] = state.triples.gains[0, 0, 2, 1] = 1e6
    assert all(0 in one for one in looked(state, [0, 1, 2])), "it adds too much to go"
    state.inner.pairs.better[0, 1], state.inner.pairs.squares[0, 1] = 2.0, 1.0
    assert looked(state, [0, 1, 2]) == {(0, 1, 2)}, "the world changes: triples are out of date"


def test_who_keeps_triples(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_layout(FromIntervals(Auto(6, 2)).start(1), FromIntervals(Auto(6, 3)).start(1))
    assert not FromIntervals(Thompson(6, 3)).start(1).triples.gains.size
    assert start_triples(1, triples.MOST_TRIPLED).gains.size
    assert not start_triples(1, triples.MOST_TRIPLED + 1).gains.size
    monkeypatch.setattr(triples, "MOST_TRIPLED", 4)
    _, state, _ = after(3)
    assert all(np.isfinite(array).all() for array in arrays_of(state).values())


def test_without_intervals_it_picks_as_auto_does() -> None:
    """So journals of 0.1.0, and the rules that fill costs in, go on as they did."""
    inner = Auto(5, 3)
    learner = FromIntervals(inner)
    state, plain = learner.start(2), inner.start(2)
    for number in range(60):
        rng = rng_for(replicate_keys(3, 2), number)
        choice, other = learner.pick(state, rng), inner.pick(plain, rng)
        assert np.array_equal(choice.arms, other.arms)
        assert np.array_equal(choice.weights, other.weights)
        costs = np.random.default_rng(number).random((2, 3))
        state, plain = learner.learn(state, choice, costs), inner.learn(plain, choice, costs)
