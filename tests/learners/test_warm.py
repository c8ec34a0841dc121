"""Warm starts: what past results teach, missing ones, saving, and a better start."""

import math

import numpy as np
import pytest

from pickbest.catalog import describe, make_learner, rebuild
from pickbest.core import (
    PickbestError,
    learns_any,
    play_rounds,
    replicate_keys,
)
from pickbest.core.states import same_state
from pickbest.environments import Table
from pickbest.learners import (
    FPML,
    UCB,
    Exp3,
    FPMLPartial,
    Greedy,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    GuardedLast,
    Leaders,
    Thompson,
    Tsallis,
)
from pickbest.learners.warm import PAST_STREAM, Warm
from pickbest.player import Player
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner

N_ARMS = 5
PAST = np.random.default_rng(0).random((40, N_ARMS)).round(2)
OPEN = {
    "thompson": Thompson(N_ARMS, 2),
    "ucb": UCB(N_ARMS, 2),
    "greedy-thompson": GreedyThompson(N_ARMS, 2),
    "greedy-ucb": GreedyUCB(N_ARMS, 2),
    "fpml-partial": FPMLPartial(N_ARMS, 2, 0.1),
    "exp3": Exp3(N_ARMS, 0.2),
    "guarded": Guarded(GreedyThompson(N_ARMS, 1), FPMLPartial(N_ARMS, 1, 0.1)),
    "guarded-last": GuardedLast(GreedyThompson(N_ARMS, 2), FPMLPartial(N_ARMS, 1, 0.1)),
}
PLAYS = {
    "fpml": FPML(N_ARMS, 2, 0.1),
    "leaders": Leaders(N_ARMS, 2),
    "og": Greedy(Exp3(N_ARMS, 0.2), 2),
    "tsallis": Tsallis(N_ARMS, 2),
    "doubling": make_learner("fpml-partial", N_ARMS, 2),
}
LEARNERS = {**OPEN, **PLAYS}
each_learner = pytest.mark.parametrize("inner", LEARNERS.values(), ids=LEARNERS.keys())
WEIGHTED = ("fpml-partial", "exp3", "guarded", "guarded-last")


@each_learner
def test_conforms(inner):
    check_learner(Warm(inner, PAST), learns=False)


@each_learner
def test_it_survives_description_and_saving(inner, tmp_path):
    past = PAST.copy()
    if learns_any(inner):
        past[3:9, 1] = np.nan
    learner = Warm(inner, past)
    assert rebuild(describe(learner)) == learner
    costs = np.random.default_rng(1).random((30, N_ARMS))
    player, arms = Player(learner, seed=4), []
    for t in range(30):
        if t == 15:
            for suffix in ("json", "npz"):
                player.save(tmp_path / f"player.{suffix}")
                player = Player.load(tmp_path / f"player.{suffix}")
        ticket = player.ask()
        arms.append(ticket.arms)
        full = inner.feedback.value == "full"
        player.tell(ticket, costs[t] if full else costs[t, list(ticket.arms)])
    whole = Player(learner, seed=4)
    for t, expected in enumerate(arms):
        ticket = whole.ask()
        assert ticket.arms == expected
        full = inner.feedback.value == "full"
        whole.tell(ticket, costs[t] if full else costs[t, list(ticket.arms)])


@pytest.mark.parametrize("inner", PLAYS.values(), ids=PLAYS.keys())
def test_others_play_the_table(inner):
    keys = replicate_keys(0, 1, stream=PAST_STREAM)
    state, _ = play_rounds(inner, inner.start(1), PAST[None], keys, 0)
    assert same_state(Warm(inner, PAST).start(1), state)


def test_all_results_are_told():
    assert np.allclose(Warm(OPEN["thompson"], PAST).start(1).costs, PAST.sum(axis=0))
    assert np.all(Warm(OPEN["ucb"], PAST).start(1).plays == 40)
    assert np.allclose(Warm(OPEN["fpml-partial"], PAST).start(1).costs, PAST.sum(axis=0))
    assert np.allclose(Warm(OPEN["exp3"], PAST).start(1).gains, 40 - PAST.sum(axis=0))
    slots = Warm(OPEN["greedy-thompson"], PAST).start(2)
    assert np.allclose(slots.gains[:, 0], 40 - PAST.sum(axis=0))
    assert np.all(slots.plays.sum(axis=2) == [40 * 5, 40 * 4])
    guard = Warm(OPEN["guarded-last"], PAST).start(1)
    assert np.allclose(guard.guard.costs, PAST.sum(axis=0))


def test_missing_results_are_not_counted():
    past = [[0.5, None, 0.25, None, 1.0], [None] * 5, [0.0, math.nan, 0.5, 1.0, 0.0]]
    state = Warm(Thompson(5, 2), past).start(1)
    assert np.allclose(state.costs, [[0.5, 0, 0.75, 1.0, 1.0]])
    assert np.allclose(state.costs + state.rewards, [[2, 0, 2, 1, 2]])
    state = Warm(GreedyThompson(5, 3), past).start(1)
    assert state.plays.sum(axis=2).tolist() == [[3 + 4, 2 + 3, 1 + 2]]


def test_weighted_totals_are_those_of_a_complete_table():
    past = PAST.copy()
    past[::2, 1] = np.nan
    total = Warm(OPEN["fpml-partial"], past).start(1).costs
    assert np.allclose(total[0, 1], 2 * PAST[1::2, 1].sum())
    assert np.allclose(np.delete(total, 1), np.delete(PAST.sum(axis=0), 1))


def complementary(rounds, seed):
    """Two kinds of rounds, each with a solver of its own."""
    rng = np.random.default_rng(seed)
    chances = np.array([[0.9, 0.2, 0.5, 0.4, 0.3, 0.3], [0.3, 0.95, 0.4, 0.4, 0.3, 0.3]])
    return 1.0 - (rng.random((rounds, 6)) < chances[(rng.random(rounds) < 0.4).astype(int)])


@pytest.mark.parametrize("share_run", [1.0, 0.5])
@pytest.mark.parametrize(
    ("inner", "margin"),
    [
        (Thompson(6, 2), 0.03),
        (GreedyThompson(6, 2), 0.05),
        (FPMLPartial(6, 2, 0.15), 0.05),
        (GuardedLast(GreedyThompson(6, 2), FPMLPartial(6, 1, 0.15)), 0.05),
    ],
    ids=["thompson", "greedy-thompson", "fpml-partial", "guarded-last"],
)
def test_the_first_rounds_are_better(inner, margin, share_run):
    past = complementary(200, seed=1)
    past[np.random.default_rng(2).random(past.shape) >= share_run] = np.nan
    world = Table(complementary(50, seed=3))
    cold, warm = (play(player, world, 200, 0).paid.mean() for player in (inner, Warm(inner, past)))
    assert warm <= cold - margin


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (PAST[:, :4], r"table must have shape \(rounds, 5\), got \(40, 4\)"),
        (PAST[:0], r"table must have shape \(rounds, 5\), got \(0, 5\)"),
        (PAST[0], r"table must have shape \(rounds, 5\), got \(5,\)"),
        ([[0.1] * 5, [0.2] * 4], "rows of numbers of one length"),
        ([["a"] * 5], "rows of numbers of one length"),
        (PAST + 0.5, "between 0 and 1"),
        (np.where(PAST < 0.5, np.inf, PAST), "finite numbers"),
    ],
)
def test_wrong_tables_are_refused(table, message):
    with pytest.raises(PickbestError, match=message):
        Warm(Thompson(N_ARMS, 2), table)


@pytest.mark.parametrize("name", PLAYS)
def test_missing_results_are_refused_where_they_cannot_be_used(name):
    past = PAST.copy()
    past[3, 1] = np.nan
    with pytest.raises(PickbestError, match="learns from complete rows only"):
        Warm(PLAYS[name], past)


@pytest.mark.parametrize("name", OPEN)
def test_an_arm_that_was_never_run(name):
    past = PAST.copy()
    past[:, 1] = np.nan
    learner = Warm(OPEN[name], past)
    if name in WEIGHTED:
        with pytest.raises(PickbestError, match="arm 1 was never run"):
            learner.start(1)
    else:
        learner.start(1)
