"""What the replays share: equality to the last bit where that can be asked for."""

from __future__ import annotations

import json
import platform
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from pickbest.catalog import environment_names, learner_names
from pickbest.catalog.describe import FIXED_IN_0_1
from pickbest.core.states import arrays_of
from pickbest.learners import Auto
from pickbest.learners.states_0_1 import from_flat
from tests.golden.golden_assets import FOLDER

# What is meant to differ in descriptions: classes with other names, and fields that 0.1.0 had not.
RENAMED = {"Yielding": "GuardedLast"}
NEW_FIELDS = {
    "Auto": FIXED_IN_0_1["Auto"],
    "FPML": {"noise": "exponential"},
    "FPMLFullManyArms": {"noise": "exponential"},
    "Hedge": {"budget": 1, "prior": None},
}


@pytest.fixture
def auto_of_0_1(monkeypatch):
    """What is meant to differ in `auto`: from ten arms on it is sharper by default."""
    monkeypatch.setattr(Auto.__init__, "__defaults__", tuple(FIXED_IN_0_1["Auto"].values()))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")


RECORDED = json.loads((FOLDER / "recorded.json").read_text())
# The mathematical library may choose other code on another processor, with other last bits.
EXACT = RECORDED["cpu"] == _processor()


def assert_same(found, expected, what) -> None:
    """Equal bit for bit on the recording machine's kind of processor, else to 1e-9."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    assert found.dtype == expected.dtype, what
    if EXACT or not np.issubdtype(found.dtype, np.floating):
        assert found.tobytes() == expected.tobytes(), what
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=str(what))


def assert_same_state(learner, state, flat, what) -> None:
    """A learner's state is what 0.1.0's flat arrays stand for."""
    found, expected = arrays_of(state), arrays_of(from_flat(learner, flat))
    assert found.keys() == expected.keys(), what
    for path, array in found.items():
        if "links" in flat and path.rpartition("/")[2] == "round":
            continue  # 0.1.0 did not count the rounds of FPMLManyArms.
        assert_same(array, expected[path], (what, path))


def assert_same_data(found, expected, what) -> None:
    """Plain data is equal, and of the same kinds; numbers as in `assert_same`."""
    assert type(found) is type(expected), (what, found, expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), what
        for name, value in expected.items():
            assert_same_data(found[name], value, (what, name))
    elif isinstance(expected, list):
        assert len(found) == len(expected), what
        for place, value in enumerate(expected):
            assert_same_data(found[place], value, (what, place))
    elif isinstance(expected, float):
        assert_same(found, expected, (what, found, expected))
    else:
        assert found == expected, what


def of_today(data):
    """Data with descriptions of 0.1.0, as it is meant to be now."""
    if isinstance(data, list):
        return [of_today(item) for item in data]
    if not isinstance(data, dict):
        return data
    now = {name: of_today(value) for name, value in data.items()}
    if "kind" in now:
        now["kind"] = RENAMED.get(now["kind"], now["kind"])
        now |= NEW_FIELDS.get(now["kind"], {})
    return now


def with_names_of_today(message):
    """A refusal that lists all known names: those that came later are no difference."""
    for kind, names in (("learner", learner_names()), ("environment", environment_names())):
        if message.startswith(f"unknown {kind} '"):
            also = ("aslib",) if kind == "environment" else ()
            return f"{message.partition(' (')[0]} (known: {', '.join(sorted((*names, *also)))})"
    return message


def plain(value):
    """Arrays, enums and tuples as they come back from JSON."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value):
    return value.value if isinstance(value, Enum) else value.tolist()
