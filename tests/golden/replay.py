"""What the replays share: equality to the last bit where that can be asked for."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np
from tests.golden.golden_assets import FOLDER


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
