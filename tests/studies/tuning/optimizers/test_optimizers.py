"""Every optimizer passes the conformance suite; names, labels and a user's own are found.

Run as a program, this file checks one optimizer: each library is tried in processes of its own,
so that its global state disturbs no other test.
"""

import os
import subprocess
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from pickbest.core import MissingExtraError, PickbestError
from studies.tuning.conformance import (
    CALLS,
    MIXED,
    SMOOTH,
    check_any_process,
    check_beats_random,
    check_optimizer,
)
from studies.tuning.optimizers import OPTIMIZERS, make_optimizer
from studies.tuning.space import Point, Space

pytestmark = pytest.mark.slow

# Designs learn nothing; boosted trees gain too little in the few calls that a test can afford.
UNCOMPARED = {"random", "optuna-qmc", "skopt-gbrt-hedge"}
SLOW = {name for name in OPTIMIZERS if name.startswith(("skopt", "smac"))}


def skip_if_missing(name: str) -> None:
    for package in OPTIMIZERS[name].packages:
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{name} needs {package}: pip install 'pickbest[tuning]'")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_passes_the_conformance_suite(name: str) -> None:
    skip_if_missing(name)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    outcome = subprocess.run(
        [sys.executable, __file__, name], env=environment, capture_output=True, text=True
    )
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_is_the_same_and_silent_in_any_process(name: str) -> None:
    skip_if_missing(name)
    check_any_process(name, calls=calls_of(name))


def calls_of(name: str) -> int:
    return CALLS // 2 if name in SLOW else CALLS


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
        (":Corner", "module:NAME"),
        (f"{__name__}:", "module:NAME"),
    ],
)
def test_a_bad_optimizer_of_ones_own_is_refused(reference: str, message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        make_optimizer(reference, MIXED, 1, 10)


def main(name: str) -> None:
    factory = partial(make_optimizer, name)
    check_optimizer(factory, calls=calls_of(name))
    if name not in UNCOMPARED:
        calls = 30 if name in SLOW else 100
        seeds = (1,) if name.startswith("skopt") else (1, 2, 3)
        check_beats_random(factory, calls=calls, seeds=seeds)


if __name__ == "__main__":
    main(*sys.argv[1:])
