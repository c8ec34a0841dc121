"""Player: ask, tell, late and lost results, saving and restoring bit for bit."""

import subprocess
import sys

import numpy as np
import pytest

from pickbest.catalog import learner_names, make_learner
from pickbest.core import Feedback, PickbestError, savefile
from pickbest.core.states import same_state
from pickbest.core.tickets import RepeatedTellError, Ticket, UnknownRoundError
from pickbest.learners import FPMLPartial
from pickbest.player import Player

COSTS = np.random.default_rng(0).random((400, 6))


def seen(player, ticket, row):
    if player.learner.feedback is Feedback.FULL:
        return COSTS[row]
    return COSTS[row][list(ticket.arms)]


def advance(player, rounds, first=0):
    """Play rounds; returns the arms asked for."""
    arms = []
    for row in range(first, first + rounds):
        ticket = player.ask()
        player.tell(ticket, seen(player, ticket, row))
        arms.append(ticket.arms)
    return arms


def new_player(seed=3):
    return Player(FPMLPartial(n_arms=6, budget=2, epsilon=0.3), seed)


def test_it_plays_and_learns():
    player = Player(make_learner("fpml-partial", 4, 1, rounds=400), seed=1)
    for _ in range(400):
        ticket = player.ask()
        player.tell(ticket, [0.0 if ticket.arms == (2,) else 1.0])
    late = [player.ask().arms for _ in range(100)]
    assert late.count((2,)) > 80


def test_a_live_game_is_replicate_0_of_a_simulation():
    from pickbest.environments import Table
    from pickbest.simulation.simulate import simulate

    learner = FPMLPartial(n_arms=6, budget=2, epsilon=0.3)
    arms = advance(Player(learner, seed=5), 50)
    simulation = simulate({"x": learner}, Table(COSTS[:50]), replicates=3, seed=5)
    paid = [COSTS[t][list(chosen)].min() for t, chosen in enumerate(arms)]
    assert np.array_equal(simulation.costs("x")[0], paid)


def test_results_out_of_order_late_or_never():
    player = new_player()
    tickets = [player.ask() for _ in range(5)]
    assert [t.round for t in player.open_tickets] == [0, 1, 2, 3, 4]
    for number in (3, 0, 4):
        player.tell(tickets[number], seen(player, tickets[number], number))
    assert player.rounds_learned == 3
    assert [t.round for t in player.open_tickets] == [1, 2]
    player.forget(tickets[1])
    with pytest.raises(PickbestError, match=r"round 1 was closed as lost \(given up\)"):
        player.tell(tickets[1], [0.1, 0.2])


def test_the_order_of_telling_does_not_change_what_is_learned():
    first, second = new_player(), new_player()
    tickets = [first.ask() for _ in range(6)]
    assert tickets == [second.ask() for _ in range(6)]
    for ticket in tickets:
        first.tell(ticket, seen(first, ticket, ticket.round))
    for ticket in reversed(tickets):
        second.tell(ticket, seen(second, ticket, ticket.round))
    assert np.allclose(first._seat.state.costs, second._seat.state.costs, rtol=1e-12)


def test_costs_by_arm_are_costs_in_order():
    players = [new_player(), new_player()]
    for row in range(20):
        tickets = [player.ask(f"row {row}") for player in players]
        assert tickets[0] == tickets[1]
        players[0].tell(tickets[0], seen(players[0], tickets[0], row))
        players[1].tell(tickets[1], {arm: COSTS[row][arm] for arm in reversed(tickets[1].arms)})
    full = Player(make_learner("fpml", 6, 2, rounds=10))
    full.tell(full.ask(), dict(enumerate(COSTS[0])))
    assert players[0].ask() == players[1].ask()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([0.1, np.nan], "costs must be finite numbers, got nan at index 1"),
        ([0.1, np.inf], "costs must be finite"),
        ([0.1, 1.2], "costs must be between 0 and 1, got 1.2 at index 1"),
        ([-0.1, 1.0], "costs must be between 0 and 1"),
        ([0.1], "has 2 arms, got 1 costs"),
        ([0.1, 0.2, 0.3], "has 2 arms, got 3 costs"),
        ("up", "costs must be numbers"),
        (0.5, "costs must be a list or a mapping by arm, got 0.5"),
        ({9: 0.1}, "needs the costs of .*, got those of 9"),
        ([None, 0.1], "costs must be"),
    ],
)
def test_bad_costs_change_nothing(costs, message):
    player, twin = new_player(), new_player()
    for p in (player, twin):
        advance(p, 5)
    ticket, same = player.ask(), twin.ask()
    with pytest.raises(PickbestError, match=message):
        player.tell(ticket, costs)
    player.tell(ticket, seen(player, ticket, 7))
    twin.tell(same, seen(twin, same, 7))
    assert advance(player, 30, 8) == advance(twin, 30, 8)


def test_telling_twice_or_an_unknown_ticket_is_refused_and_changes_nothing():
    player, twin = new_player(), new_player()
    for p in (player, twin):
        advance(p, 3)
    with pytest.raises(RepeatedTellError, match="round 1 was told already"):
        player.tell(1, [0.1, 0.2])
    for unknown in (99, -1, Ticket(99, (0, 1)), "7"):
        with pytest.raises(UnknownRoundError, match="unknown round"):
            player.tell(unknown, [0.1, 0.2])
    assert advance(player, 20, 3) == advance(twin, 20, 3)


@pytest.mark.parametrize("name", learner_names())
def test_a_restored_player_goes_on_bit_identically(tmp_path, name):
    budget = 1 if name in {"hedge", "exp3"} else 2
    player, path = Player(make_learner(name, 6, budget, 100), seed=8), tmp_path / "player.npz"
    advance(player, 40)
    late = player.ask("a problem")
    dropped = player.ask()
    player.forget(dropped)
    player.save(path)
    restored = Player.load(path)
    assert restored.learner == player.learner
    assert restored.open_tickets == (late,)
    for each in (player, restored):
        each.tell(late, seen(each, late, 50))
    assert advance(restored, 60, 60) == advance(player, 60, 60)
    assert same_state(player._seat.state, restored._seat.state)
    with pytest.raises(PickbestError, match="closed as lost"):
        restored.tell(dropped, [0.0] * budget)


def test_a_fresh_process_restores_the_same_player(tmp_path):
    player = new_player()
    advance(player, 25)
    path = tmp_path / "p.npz"
    player.save(path)
    code = f"from pickbest import Player; print(Player.load({str(path)!r}).ask())"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == str(player.ask())


def test_a_learner_outside_the_catalog_is_given_at_load(tmp_path):
    class Own(FPMLPartial):
        pass

    path = tmp_path / "own.npz"
    player = Player(Own(6, 2, 0.3), seed=1)
    advance(player, 5)
    player.save(path)
    with pytest.raises(PickbestError, match="unknown kind of learner 'Own'"):
        Player.load(path)
    assert Player.load(path, Own(6, 2, 0.3)).ask() == player.ask()
    with pytest.raises(PickbestError, match="saved state does not fit the learner"):
        Player.load(path, Own(7, 2, 0.3))


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "p.npz"
    new_player().save(path)
    content = path.read_bytes()
    for cut in (0, 1, len(content) // 2, len(content) - 2):
        path.write_bytes(content[:cut])
        with pytest.raises(PickbestError, match="the file is damaged"):
            Player.load(path)


def test_changed_newer_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "p.npz"
    new_player().save(path)
    header, arrays = savefile.from_npz(path.read_bytes())
    for change, message in (
        ({"seed": 4}, "checksum does not match"),
        ({"version": 99}, "written by a newer pickbest"),
        ({"format": "other"}, "not a pickbest-player file"),
    ):
        path.write_bytes(savefile.to_npz({**header, **change}, arrays))
        with pytest.raises(PickbestError, match=message):
            Player.load(path)
    with pytest.raises(PickbestError, match=r"must end in \.npz"):
        Player.load(tmp_path / "p.pickle")
    with pytest.raises(PickbestError, match="cannot be read"):
        Player.load(tmp_path / "absent.npz")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "p.npz"
    player = new_player()
    player.save(path)
    before = path.read_bytes()
    advance(player, 3)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        player.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_bad_seeds_are_refused():
    for seed in (-1, 2**64, 1.5, "0", True):
        with pytest.raises(PickbestError, match="seed must be a whole number"):
            Player(FPMLPartial(6, 2, 0.3), seed)


def test_arms_may_have_names(tmp_path):
    player = Player(arms=["gpt", "claude", "llama"], budget=2, seed=3)
    ticket = player.ask("a problem")
    assert set(ticket.arms) <= {"gpt", "claude", "llama"}
    player.tell(ticket, dict.fromkeys(ticket.arms, 0.25))
    waiting = player.ask()
    player.save(tmp_path / "player.npz")
    again = Player.load(tmp_path / "player.npz")
    assert again.open_tickets == (waiting,)
    assert again.ask().arms == player.ask().arms
    with pytest.raises(PickbestError, match="3 different names of arms"):
        Player(make_learner("uniform", 3, 1), arms=["a", "a", "b"])
    with pytest.raises(PickbestError, match="needs a learner, or the names"):
        Player()
