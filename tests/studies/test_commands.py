"""Every study is a command, with help that teaches."""

import json

import pytest
from typer.testing import CliRunner

from studies.__main__ import app

RUNNER = CliRunner()
NAMES = [command.callback.__name__.replace("_", "-") for command in app.registered_commands]


@pytest.mark.parametrize("name", NAMES)
def test_help_has_an_example(name):
    result = RUNNER.invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"python -m studies {name}" in result.stdout


def test_small_studies_print_json():
    game = RUNNER.invoke(app, ["small-games", "3,2", "--rounds", "4", "--json"])
    (row,) = json.loads(game.stdout)["games"]
    assert row["minimax"] == pytest.approx(1 / 3, abs=1e-3)
    assert row["minimax"] <= row["hedge_worst_case"]
    for words in (["small-games", "3"], ["linear-programs", "nothing"], ["sabotage", "nothing"]):
        assert RUNNER.invoke(app, words).exit_code != 0


def test_a_part_can_be_sabotaged_by_its_command():
    result = RUNNER.invoke(app, ["sabotage", "uniform", "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["verdicts"] > 1
    assert found["differences"] == []
