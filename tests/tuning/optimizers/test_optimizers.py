"""Every optimizer keeps to its space and its seed, says nothing, and beats random search.

Run as a program, this file plays one optimizer and prints what it saw as JSON: each library
is tried in processes of its own, so that its global state disturbs no other test.
"""

import json
import math
import os
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from pickbest.core import MissingExtraError, PickbestError
from pickbest.tuning.optimizers import OPTIMIZERS, make_optimizer
from pickbest.tuning.space import Categorical, Integer, Point, Real, Space, Warp

MIXED = Space(
    (
        Real("linear", -1.0, 1.0),
        Real("log", 1e-5, 10.0, Warp.LOG),
        Real("logit", 0.01, 0.99, Warp.LOGIT),
        Integer("integer", 1, 5),
        Integer("bit", 0, 1),
        Integer("magnitude", 1, 1000, log=True),
        Categorical("kernel", ("rbf", "linear", "poly")),
    )
)
TINY = Space((Integer("bit", 0, 1), Categorical("kernel", ("rbf", "linear"))))
SMOOTH = Space(tuple(Real(f"x{i}", -5.0, 5.0) for i in range(5)))
SPACES = {"mixed": MIXED, "tiny": TINY, "smooth": SMOOTH, "coarse": SMOOTH}

# Designs learn nothing; boosted trees gain too little in the few calls that a test can afford.
UNCOMPARED = {"random", "optuna-qmc", "skopt-gbrt-hedge"}
SLOW = {name for name in OPTIMIZERS if name.startswith("skopt")}
# Median best loss of random search on SMOOTH, by number of calls (200 seeds).
RANDOM_BEST = {30: 10.6, 100: 7.0}


def loss_of(space: str, point: Point) -> float:
    """A smooth bowl; two large losses; on the other spaces a loss of either sign."""
    if space == "smooth":
        return sum((float(point[f"x{i}"]) - 1.0 - 0.3 * i) ** 2 for i in range(5))
    if space == "coarse":
        return 1e9 + (float(point["x0"]) > 0.0)
    values = [len(value) if isinstance(value, str) else value for value in point.values()]
    return float(sum(math.log1p(abs(value)) for value in values)) - 3.0


def play(name: str, space: str, seed: int, calls: int) -> list[Point]:
    optimizer = make_optimizer(name, SPACES[space], seed, calls)
    points = []
    for _ in range(calls):
        point = optimizer.ask()
        SPACES[space].check(point)
        optimizer.tell(point, loss_of(space, point))
        points.append(point)
    return points


@cache
def played(name: str, hash_seed: int, *runs: tuple[str, int, int]) -> list[list[Point]]:
    """The points of several runs (space, seed, calls) in one fresh process."""
    for package in OPTIMIZERS[name].packages:
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{name} needs {package}: pip install 'pickbest[tuning]'")
    with TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, __file__, name, json.dumps(runs)],
            env=os.environ | {"PYTHONHASHSEED": str(hash_seed), "TMPDIR": folder},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""
        assert os.listdir(folder) == []
    points: list[list[Point]] = json.loads(result.stdout)
    return points


def calls_of(name: str) -> int:
    """Enough for every model to have its say: designs and random starts take up to 20 calls."""
    return 12 if name in SLOW else 24


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_points_depend_on_the_seed_and_on_nothing_else(name: str) -> None:
    calls = calls_of(name)
    one, other, tiny = played(name, 1, ("mixed", 1, calls), ("mixed", 2, calls), ("tiny", 1, 10))
    assert len(one) == calls
    assert len(tiny) == 10  # more than there are points: repeats are allowed
    assert one != other
    # A new process with another order of sets, and with nothing played before or after.
    assert played(name, 2, ("mixed", 1, calls)) == [one]


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name not in UNCOMPARED])
def test_it_beats_random_search(name: str) -> None:
    calls, seeds = (30, (1,)) if name in SLOW else (100, (1, 2, 3))
    runs = played(name, 1, *(("smooth", seed, calls) for seed in seeds))
    best = [min(loss_of("smooth", point) for point in points) for points in runs]
    assert np.median(best) < 0.8 * RANDOM_BEST[calls]


def test_smac_takes_large_equal_losses() -> None:
    # Left alone, SMAC takes the logarithm of 0.
    assert len(played("smac", 1, ("coarse", 1, 16))[0]) == 16


def test_global_generators_and_logging_are_left_alone() -> None:
    import logging
    import random

    pytest.importorskip("pySOT")
    optimizer = make_optimizer("pysot", SMOOTH, 1, 5)
    before = random.getstate(), np.random.get_state()[1].tolist(), logging.root.manager.disable  # noqa: NPY002
    first = optimizer.ask()
    optimizer.tell(first, 1.0)
    after = random.getstate(), np.random.get_state()[1].tolist(), logging.root.manager.disable  # noqa: NPY002
    assert before == after


def test_the_paper_has_nine() -> None:
    labels = {entry.label for entry in OPTIMIZERS.values() if entry.paper}
    assert len(labels) == 9
    assert all(name == entry.name for name, entry in OPTIMIZERS.items())


def test_labels_are_those_of_the_recorded_rewards(paper_rewards: Path) -> None:
    header = paper_rewards.read_text(encoding="utf-8").splitlines()[0].split(",")[1:]
    assert set(header) == {entry.label for entry in OPTIMIZERS.values() if entry.paper}


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(PickbestError, match=r"unknown optimizer 'hyperop'; did you mean 'hyperopt"):
        make_optimizer("hyperop", SMOOTH, 1, 10)


@pytest.mark.parametrize(("seed", "calls"), [(-1, 10), (1, 0), (1, True)])
def test_bad_numbers_are_refused(seed: int, calls: int) -> None:
    with pytest.raises(PickbestError, match="must be a whole number"):
        make_optimizer("random", SMOOTH, seed, calls)


@pytest.mark.parametrize(
    ("module", "name", "package"),
    [("skopt", "skopt-gp-lcb", "scikit-optimize"), ("smac", "smac", "smac and ConfigSpace")],
)
def test_a_missing_package_is_named(
    module: str, name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{package}.*pickbest\[tuning\]"):
        make_optimizer(name, SMOOTH, 1, 10)


class Corner:
    """A user's own optimizer: always the same corner."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self.space = space

    def ask(self) -> Point:
        return self.space.from_unit([0.0] * len(self.space.parameters))

    def tell(self, point: Point, loss: float) -> None: ...


class NoTell:
    def __init__(self, space: Space, seed: int, calls: int) -> None: ...

    def ask(self) -> Point:
        return {}


class NoArguments:
    pass


def test_an_optimizer_of_ones_own() -> None:
    optimizer = make_optimizer(f"{__name__}:Corner", MIXED, 1, 10)
    point = optimizer.ask()
    MIXED.check(point)
    optimizer.tell(point, 0.0)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("no_such_module:Corner", "cannot be imported"),
        (f"{__name__}:Missing", "cannot be imported"),
        (f"{__name__}:MIXED", "must be a class"),
        (f"{__name__}:NoTell", r"ask\(\) and tell"),
        (f"{__name__}:NoArguments", r"constructed as ClassName\(space, seed, calls\)"),
        (":Corner", "module:ClassName"),
        (f"{__name__}:", "module:ClassName"),
    ],
)
def test_a_bad_optimizer_of_ones_own_is_refused(reference: str, message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        make_optimizer(reference, MIXED, 1, 10)


def main(name: str, runs: Any) -> None:
    points = [play(name, space, seed, calls) for space, seed, calls in json.loads(runs)]
    sys.stdout.write(json.dumps(points))


if __name__ == "__main__":
    main(*sys.argv[1:])
