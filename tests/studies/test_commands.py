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


@pytest.mark.parametrize("study", ["linear-programs", "sabotage"])
def test_an_unknown_study_is_refused(study):
    assert RUNNER.invoke(app, [study, "nothing"]).exit_code != 0


def test_a_part_can_be_sabotaged_by_its_command():
    result = RUNNER.invoke(app, ["sabotage", "uniform", "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["verdicts"] > 1
    assert found["differences"] == []
