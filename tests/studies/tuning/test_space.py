"""Search spaces: points stay inside, and the unit cube is mapped evenly."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pickbest.core import PickbestError
from studies.tuning.space import Integer, Real, Space, Warp

SPACE = Space(
    (
        Real("log", 1e-5, 10.0, Warp.LOG),
        Real("logit", 0.01, 0.99, Warp.LOGIT),
        Integer("integer", -2, 5),
    )
)


@given(st.lists(st.floats(-0.5, 1.5), min_size=3, max_size=3))
def test_every_coordinate_is_a_point_inside(coordinates: list[float]) -> None:
    SPACE.check(SPACE.from_unit(coordinates))


@pytest.mark.parametrize("warp", list(Warp))
def test_ends_are_exact(warp: Warp) -> None:
    real = Real("x", 0.1, 0.7, warp)
    assert (real.from_unit(0.0), real.from_unit(1.0)) == (0.1, 0.7)


def test_samples_are_uniform_on_their_scales() -> None:
    rng = np.random.default_rng(0)
    points = [SPACE.sample(rng) for _ in range(4000)]
    logs = [math.log10(point["log"]) for point in points]
    assert np.mean(logs) == pytest.approx(-2.0, abs=0.15)
    assert np.median([point["logit"] for point in points]) == pytest.approx(0.5, abs=0.05)
    counts = np.unique([point["integer"] for point in points], return_counts=True)[1]
    assert len(counts) == 8
    assert counts.min() > 400  # 500 expected for every integer, the ends included


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log", 11.0),
        ("log", 1),
        ("log", math.nan),
        ("log", np.float64(0.5)),
        ("integer", 6),
        ("integer", 1.0),
        ("integer", True),
        ("integer", np.int64(1)),
    ],
)
def test_a_bad_value_is_refused(name: str, value: Any) -> None:
    with pytest.raises(PickbestError, match=f"{name} must be"):
        SPACE.check(SPACE.from_unit([0.5] * 3) | {name: value})


def test_wrong_names_and_places_are_refused() -> None:
    with pytest.raises(PickbestError, match="with the names"):
        SPACE.check({"log": 0.1})
    for coordinates in ([0.5], [math.nan] * 3):
        with pytest.raises(PickbestError, match="a place needs 3 numbers"):
            SPACE.from_unit(coordinates)
