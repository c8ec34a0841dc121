"""The conformance suite of optimizers: each check can fail, and a good optimizer passes all."""

import random
from pathlib import Path

import numpy as np
import pytest

from studies.tuning import conformance as suite

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _find_broken_optimizers(monkeypatch):
    monkeypatch.syspath_prepend(HERE)


def broken(name):
    import broken_optimizers

    return getattr(broken_optimizers, name)


def test_a_good_optimizer_passes_and_the_generators_are_as_before():
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    suite.check_optimizer(broken("Climber"))
    suite.check_beats_random(broken("Climber"))
    suite.check_any_process("broken_optimizers:Climber")
    assert before == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002


def test_an_optimizer_without_randomness_may_ignore_the_seed():
    suite.check_optimizer(broken("Seedless"), randomized=False)


@pytest.mark.parametrize(
    ("check", "name", "message"),
    [
        (suite.check_points, "Outside", "call 1: bit must be"),
        (suite.check_points, "NumPyNumbers", "call 1: bit must be a plain int"),
        (suite.check_points, "Tired", "ask failed at call 5: StopIteration"),
        (suite.check_same_seed_same_points, "Unseeded", "another point at call 1"),
        (suite.check_same_seed_same_points, "Shared", "another point at call 1"),
        (suite.check_other_seed_other_points, "Seedless", "two seeds gave the same"),
        (suite.check_replayed_history, "Unseeded", "a replayed run asked for another point"),
        (
            suite.check_replayed_history,
            "Identity",
            "a replayed run asked for another point at call 2",
        ),
        (suite.check_losses, "Pedantic", "nothing but failures: tell failed at call 6"),
        (suite.check_global_state, "GlobalDraws", "call 1 changed the global"),
        (suite.check_global_state, "GlobalSeed", "making it changed the global"),
        (suite.check_beats_random, "Blind", "of that of random search"),
    ],
)
def test_a_broken_optimizer_is_found(check, name, message):
    with suite._restored(), pytest.raises(AssertionError, match=message):
        check(broken(name))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HashOrder", "gave other points"),
        ("Chatty", "it printed 'a better point'"),
        ("Printing", "it printed 'a better point'"),
        ("Littering", r"left files behind: log\.txt"),
        ("Nobody", "its process ended with 1"),
    ],
)
def test_a_process_that_misbehaves_is_found(name, message):
    with pytest.raises(AssertionError, match=message):
        suite.check_any_process(f"broken_optimizers:{name}", calls=3)


def test_check_optimizer_runs_every_check_that_needs_no_process():
    for name in ("Outside", "Unseeded", "Seedless", "Identity", "Pedantic", "GlobalSeed"):
        with suite._restored(), pytest.raises(AssertionError):
            suite.check_optimizer(broken(name))
