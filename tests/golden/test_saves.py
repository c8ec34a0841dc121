"""Save files of 0.1.0 open, and their players go on as they did."""

from __future__ import annotations

import pytest

from pickbest import Feedback, PickbestError, Player
from tests.golden.golden_assets import FOLDER, as_arrays, read_json, told_cost
from tests.golden.replay import assert_same_state
from tests.golden.test_learners import learner_of

ROWS = {row["label"]: row for row in read_json(FOLDER / "saves.json.gz")}
LATE, NEVER, FORGOTTEN = 5, 11, 17
ASKED, NEXT = 28, 15


def tell(player, number, arms):
    shown = range(player.learner.n_arms) if player.learner.feedback is Feedback.FULL else arms
    player.tell(number, [told_cost(number, arm) for arm in shown])


def go_on(player):
    """The arms of the tickets after the save, each told at once; before the fifth, a late one."""
    late, _never = player.open_tickets
    following = []
    for number in range(ASKED, ASKED + NEXT):
        if number == ASKED + 4:
            tell(player, LATE, late.arms)
        arms = player.ask().arms
        following.append(list(arms))
        tell(player, number, arms)
    return following


def check(player, row):
    assert player.rounds_learned == ASKED - 3
    late, never = player.open_tickets
    assert [list(late.arms), list(never.arms)] == [row["asked"][LATE], row["asked"][NEVER]]
    with pytest.raises(PickbestError):
        tell(player, FORGOTTEN, row["asked"][FORGOTTEN])
    assert go_on(player) == row["next"]
    assert_same_state(player.learner, player._state, as_arrays(row["state_after"]), row["label"])


@pytest.mark.parametrize("label", ROWS)
def test_a_saved_player_goes_on_as_it_did(label, tmp_path):
    row = ROWS[label]
    for file in row["files"]:
        check(Player.load(FOLDER / "saves" / file), row)
        for suffix in (".json", ".npz"):
            again = tmp_path / f"again{suffix}"
            Player.load(FOLDER / "saves" / file).save(again)
            check(Player.load(again), row)


@pytest.mark.usefixtures("auto_of_0_1")
@pytest.mark.parametrize("label", ROWS)
def test_a_new_player_asks_for_the_same_arms(label):
    row = ROWS[label]
    spec = row["spec"] or {"name": None}
    player = Player(learner_of({**spec, "described": row["described"]}), row["seed"])
    for number, expected in enumerate(row["asked"]):
        arms = player.ask().arms
        assert list(arms) == expected, number
        if number == FORGOTTEN:
            player.forget(number)
        elif number not in (LATE, NEVER):
            tell(player, number, arms)
    check(player, row)
