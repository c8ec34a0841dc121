"""Objectives of the user's own: measured, resumed, refused."""

import csv
import json
import sys

import pytest
from typer.testing import CliRunner

pytest.importorskip("sklearn", reason="the extra tuning is not installed")

from pickbest.cli.main import app
from studies.tuning.job_costs import job_costs, loss_cost

pytestmark = pytest.mark.slow

MODULE = """
from studies.tuning.space import Categorical, Integer, Real, Space, Warp

SPACE = Space((Real("rate", 1e-3, 1.0, Warp.LOG), Integer("depth", 1, 9)))
NOT_A_SPACE = 3

def loss(point, job):
    if point["depth"] == 9:
        raise ZeroDivisionError("too deep")
    scale = {"monday": 1.0, "tuesday": 1e6}[job]
    return scale * ((point["rate"] - 0.1) ** 2 + abs(point["depth"] - 4))

def single(point):
    return point["depth"]
"""


@pytest.fixture
def measure(tmp_path, monkeypatch):
    (tmp_path / "own_objective.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    yield lambda *more: CliRunner().invoke(
        app,
        ["measure", "--optimizers", "random,optuna-tpe", "--calls", "4", "--pool", "6",
         "--workers", "1", "--out", "table", *more],
    )  # fmt: skip
    sys.modules.pop("own_objective", None)


OWN = ("--objective", "own_objective:loss", "--space", "own_objective:SPACE")


def test_an_objective_of_ones_own_is_measured_and_goes_on(measure, tmp_path):
    first = measure(*OWN, "--tasks", "tuesday", "--json")
    assert first.exit_code == 0, first.output
    both = measure(*OWN, "--tasks", "tuesday,monday", "--json")
    found = json.loads(both.stdout[both.stdout.index("{") :])
    assert (found["tasks"], found["complete"]) == (2, 2)
    with (tmp_path / "table" / "rewards.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["task", "RandomSearch", "Optuna-TPE"]
    assert [row[0] for row in rows[1:]] == ["loss-tuesday", "loss-monday"]
    provenance = json.loads((tmp_path / "table" / "provenance.json").read_text())
    assert set(provenance["sources"]) == {"own_objective:loss", "own_objective:SPACE"}
    (tmp_path / "own_objective.py").write_text(MODULE + "\n# another text\n")
    changed = measure(*OWN, "--tasks", "monday")
    assert "the objective 'own_objective:SPACE' has changed" in str(changed.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (OWN[:2], "needs its space"),
        (("--objective", "own_objective", *OWN[2:]), "must be written as module:NAME"),
        (("--objective", "own_objective:nothing", *OWN[2:]), "cannot be imported"),
        (("--objective", "own_objective:NOT_A_SPACE", *OWN[2:]), "must be a function"),
        ((*OWN[:3], "own_objective:NOT_A_SPACE"), "must be a Space"),
    ],
)
def test_what_is_no_objective_is_refused(measure, options, message):
    assert message in str(measure(*options).exception)


def test_costs_of_a_job_need_no_common_scale():
    small = [[3.0, 1.0, 2.0] * 4, [9.0, 1.05, 2.0] * 4]
    costs = job_costs(small)
    assert costs == pytest.approx([0.0, 1.0])
    large = [[1e6 * loss for loss in losses] for losses in small]
    assert job_costs(large) == pytest.approx(costs)
    assert job_costs([[None], [2.0], [None]]) == [1.0, 0.0, 1.0]
    assert job_costs([[None], [None]]) == [1.0, 1.0]
    assert job_costs([[1.0], [1.0]]) == [0.0, 0.0]
    # A close second pays little.
    first = [1.0 - 0.01 * k for k in range(20)]
    winner, second = job_costs([[loss - 0.005 for loss in first], first])
    assert winner == 0.0
    assert 0.0 < second < 0.5
    assert loss_cost(0.5, []) == 0.0
    with pytest.raises(ValueError, match="share must be above 0"):
        loss_cost(1.0, [0.5], share=0.0)
