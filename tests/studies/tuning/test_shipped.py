"""The shipped rewards load anywhere, follow from the losses, and can be measured again."""

import csv
import os
import platform
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from studies.paper.recorded_rewards import (
    DATA,
    MEASURED,
    measured_losses,
    measured_provenance,
    measured_rewards,
)
from studies.tuning.measurement import Unit, play_elsewhere, versions
from studies.tuning.optimizers import OPTIMIZERS
from studies.tuning.rewards import best_loss, expected_best, is_degenerate, rewards_of
from studies.tuning.task import Task

ROOT = Path(__file__).parents[3]
PMLB = Path(os.environ.get("PICKBEST_DATA", ROOT.parent / "shared" / "data")) / "pmlb"
EXTRAS = ("sklearn", "scipy", "pandas", "pyarrow", "hyperopt", "skopt", "opentuner", "pySOT")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_loads_without_any_extra():
    code = f"""
import sys
for name in {EXTRAS!r}:
    sys.modules[name] = None
from studies.paper.recorded_rewards import (
    measured_losses, measured_provenance, measured_rewards)
table = measured_rewards()
print(table.n_arms, len(measured_losses()) >= table.rounds, measured_provenance()["seed"])
"""
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == ["9", "True", "0"]


def test_it_is_the_papers_experiment():
    table = measured_rewards()
    rewards = 1.0 - table.costs_table
    assert table.rounds >= 240
    assert table.arm_names == tuple(e.label for e in OPTIMIZERS.values())
    assert rewards.min() >= 0
    assert rewards.max() <= 1
    chance = rewards[:, table.arm_names.index("RandomSearch")]
    assert 0.2 < chance.mean() < 0.5, "random search is measured, not set to 0"
    assert len(set(chance.tolist())) > 100
    tasks = [row["task"] for row in rows_of(MEASURED)]
    models = [task.split("-")[0] for task in tasks]
    assert models == sorted(models, reverse=True), "all of mlp, then all of lasso"
    assert {model: models.count(model) >= 120 for model in models} == {"mlp": True, "lasso": True}


def test_six_later_optimizers_stand_beside_the_papers():
    wide, narrow = measured_rewards(more=True), measured_rewards()
    losses, paper = measured_losses(more=True), measured_losses()
    assert wide.rounds == narrow.rounds
    assert wide.arm_names[:9] == narrow.arm_names
    assert len(wide.arm_names) == 15
    rewards = 1.0 - wide.costs_table
    assert 0.0 <= rewards.min() <= rewards.max() <= 1.0
    # A better best loss makes every other reward smaller.
    assert np.all(rewards[:, :9] <= 1.0 - narrow.costs_table)
    for task, found in losses.items():
        assert {name: found.runs[name] for name in narrow.arm_names} == paper[task].runs
        assert all(len(run) == 20 and None not in run for run in found.runs.values())


def test_rewards_follow_from_the_losses_exactly():
    losses = measured_losses()
    arms = measured_rewards().arm_names
    shipped = {row.pop("task"): list(map(float, row.values())) for row in rows_of(MEASURED)}
    facts = {row["task"]: row for row in rows_of(DATA / "tasks.csv")}
    degenerate = []
    assert losses.keys() == facts.keys()
    for task, found in losses.items():
        assert list(found.runs) == list(arms)
        assert {len(run) for run in found.runs.values()} == {20}
        assert len(found.pool) == 60
        rand = expected_best(found.pool, 20)
        best = [best_loss(run) for run in found.runs.values()]
        opt = best_loss([*best, best_loss(found.pool)])
        if is_degenerate(rand, opt):
            degenerate.append(task)
            continue
        assert (repr(rand), repr(opt)) == (facts[task]["rand"], facts[task]["opt"])
        assert rewards_of(best, rand, opt).tolist() == shipped.pop(task)
    assert not shipped
    assert measured_provenance()["tasks"]["degenerate"] == degenerate


def test_provenance_says_how_when_and_where():
    facts = measured_provenance()
    assert (facts["seed"], facts["calls"], facts["pool"]) == (0, 20, 60)
    assert facts["caps"] == {"rows": 1000, "features": 100}
    assert facts["tasks"]["complete"] == len(measured_losses())
    assert {"reward", "rand", "opt", "degenerate", "rows", "loss"} <= facts["rules"].keys()
    made = facts["measured"]
    assert made["date"].count("-") == 2
    assert made["machines"]
    assert made["hours_of_evaluation"] == pytest.approx(
        sum(made["seconds"].values()) / 3600, abs=0.01
    )
    assert made["seconds"].keys() == measured_losses().keys()


@pytest.mark.slow
def test_random_cells_measured_again_are_the_same():
    """Four cells of cheap tasks, and a longer one; a cell is 20 calls."""
    if not PMLB.is_dir():
        pytest.skip(f"the data sets of PMLB are not shipped; looked for {PMLB}, see PICKBEST_DATA")
    pytest.importorskip("sklearn")
    facts = measured_provenance()
    names, known = facts["optimizers"], facts["versions"]
    if versions(tuple(names.values())) != known or platform.machine() != "x86_64":
        pytest.skip(f"exact on x86-64 with the versions of the measurement: {known}")
    seconds, rng = facts["measured"]["seconds"], random.Random(7)
    cheap = sorted(task for task, spent in seconds.items() if spent < 30)
    longer = sorted(task for task, spent in seconds.items() if 30 <= spent < 120)
    tasks = rng.sample(cheap, 4) + rng.sample(longer, 1)
    cells = [(task, rng.choice(sorted(facts["optimizers"]))) for task in tasks]
    losses = measured_losses()
    for task, label in cells:
        model, dataset = task.split("-", 1)
        unit = Unit(Task(model, dataset, str(PMLB)), names[label], facts["calls"], facts["seed"])
        again = [record.loss for record in play_elsewhere(unit)]
        assert again == losses[task].runs[label], f"{label} on {task}"
