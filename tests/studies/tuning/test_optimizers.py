"""Every optimizer keeps its promises: points inside, the same again, nothing global touched.

Run as a program, this file plays one optimizer and prints its points: each library is tried in
processes of its own, so that its global state disturbs no other test.
"""

import json
import logging
import os
import random
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from pickbest.core import MissingExtraError, PickbestError
from studies.tuning.optimizers import OPTIMIZERS, make_optimizer
from studies.tuning.optimizers.adapter import Optimizer
from studies.tuning.space import Integer, Point, Real, Space, Warp

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SPACE = Space(
    (
        Real("log", 1e-5, 10.0, Warp.LOG),
        Real("logit", 0.01, 0.99, Warp.LOGIT),
        Integer("bit", 0, 1),
        Integer("many", 50, 200),
    )
)
# Enough for every model to have its say: designs and random starts take up to 20 calls.
CALLS = 24


def play(optimizer: Optimizer, known: list[tuple[Point, float]], calls: int) -> list[Any]:
    """(point, loss) of every call; what is known must be asked for again."""
    rounds = list(known)
    for call in range(calls):
        before = global_state()
        point = optimizer.ask()
        SPACE.check(point)
        # A quarter of the calls fail, which is told as a loss that is worse than all others.
        bowl = (point["logit"] - 0.3) ** 2 + (point["many"] / 200 - 0.5) ** 2 + 0.1 * point["bit"]
        loss = 9.0 if call % 4 == 3 else bowl
        if call < len(known):
            assert [point, loss] == list(known[call]), f"another point at call {call + 1}"
        else:
            rounds.append((point, loss))
        optimizer.tell(point, loss)
        assert global_state() == before, f"call {call + 1} changed the global random state"
        random.random()
    return rounds


def global_state() -> tuple[Any, ...]:
    numpy: Any = np.random.get_state()  # noqa: NPY002
    return random.getstate(), numpy[1].tolist(), numpy[2:], logging.root.manager.disable


def played_elsewhere(name: str, hash_seed: int) -> list[Any]:
    with TemporaryDirectory() as folder:
        own = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hash_seed), "TMPDIR": folder}
        outcome = subprocess.run(
            [sys.executable, __file__, name],
            env={**os.environ, **own},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        left = [path.name for path in Path(folder).iterdir()]
    assert outcome.returncode == 0, outcome.stderr
    assert not outcome.stderr, "it printed something"
    assert not left, f"it left files behind: {left}"
    found: list[Any] = json.loads(outcome.stdout)
    return found


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_is_the_same_in_any_process_and_goes_on_from_what_is_known(name: str) -> None:
    for package in OPTIMIZERS[name].packages:
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{name} needs {package}: pip install -e '.[tuning]'")
    first, second = (played_elsewhere(name, hash_seed) for hash_seed in (1, 2))
    assert first == second


def test_the_papers_labels_are_those_of_the_recorded_rewards(paper_rewards: Path) -> None:
    header = paper_rewards.read_text(encoding="utf-8").splitlines()[0].split(",")[1:]
    labels = {entry.label for entry in OPTIMIZERS.values()}
    assert len(labels) == 9
    assert set(header) == labels


def test_an_unknown_optimizer_is_refused() -> None:
    with pytest.raises(PickbestError, match=r"unknown optimizer 'hyperop'; did you mean 'hyperopt"):
        make_optimizer("hyperop", SPACE, 1, 10)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skopt", None)
    with pytest.raises(MissingExtraError, match=r"scikit-optimize.*pickbest\[tuning\]"):
        make_optimizer("skopt-gp-lcb", SPACE, 1, 10)


def main(name: str) -> None:
    whole = play(make_optimizer(name, SPACE, 1, CALLS), [], CALLS)
    known = json.loads(json.dumps(whole[: CALLS // 2]))
    assert (
        play(make_optimizer(name, SPACE, 1, CALLS), known, CALLS)[CALLS // 2 :]
        == (whole[CALLS // 2 :])
    ), "a resumed run went another way"
    other = play(make_optimizer(name, SPACE, 2, CALLS), [], CALLS)
    assert other != whole, "two seeds gave the same points"
    sys.stdout.write(json.dumps(whole))


if __name__ == "__main__":
    main(*sys.argv[1:])
