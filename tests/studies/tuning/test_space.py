"""Search spaces: bad ones are refused, points stay inside, the unit cube is a faithful image."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pickbest.core import PickbestError
from studies.tuning.space import Categorical, Integer, Point, Real, Space, Warp

SPACE = Space(
    (
        Real("linear", -1.0, 3.0),
        Real("log", 1e-5, 10.0, Warp.LOG),
        Real("logit", 0.01, 0.99, Warp.LOGIT),
        Integer("integer", -2, 5),
        Integer("magnitude", 1, 1000, log=True),
        Categorical("kernel", ("rbf", "linear", "poly")),
    )
)
COORDINATES = st.lists(
    st.floats(-0.5, 1.5), min_size=len(SPACE.parameters), max_size=len(SPACE.parameters)
)


@given(COORDINATES)
def test_every_coordinate_is_a_point_inside_and_comes_back(coordinates: list[float]) -> None:
    point = SPACE.from_unit(coordinates)
    SPACE.check(point)
    image = SPACE.to_unit(point)
    assert image.min() >= 0.0
    assert image.max() <= 1.0
    back = SPACE.from_unit(image)
    for name, value in point.items():
        if isinstance(value, float):
            assert back[name] == pytest.approx(value, rel=1e-9, abs=1e-9)
        else:
            assert back[name] == value


@pytest.mark.parametrize("warp", list(Warp))
def test_ends_are_exact(warp: Warp) -> None:
    real = Real("x", 0.1, 0.7, warp)
    assert (real.from_unit(0.0), real.from_unit(1.0)) == (0.1, 0.7)
    assert (real.to_unit(0.1), real.to_unit(0.7)) == (0.0, 1.0)


def test_middles_lie_in_the_middle_of_the_scale() -> None:
    assert Real("x", 1e-4, 1.0, Warp.LOG).from_unit(0.5) == pytest.approx(1e-2)
    assert Real("x", 0.1, 0.9, Warp.LOGIT).from_unit(0.5) == pytest.approx(0.5)
    assert Real("x", -1.0, 3.0).from_unit(0.5) == pytest.approx(1.0)


def test_samples_are_uniform_on_their_scales() -> None:
    rng = np.random.default_rng(0)
    points = [SPACE.sample(rng) for _ in range(4000)]
    for point in points:
        SPACE.check(point)
    logs = [math.log10(float(point["log"])) for point in points]
    assert np.mean(logs) == pytest.approx(-2.0, abs=0.15)
    counts = np.unique([point["integer"] for point in points], return_counts=True)[1]
    assert len(counts) == 8
    assert counts.min() > 400  # 500 expected for every integer, the ends included
    kernels = np.unique([point["kernel"] for point in points], return_counts=True)[1]
    assert kernels.min() > 1200
    small = np.mean([int(point["magnitude"]) <= 31 for point in points])
    assert small == pytest.approx(math.log(63) / math.log(2001), abs=0.04)


def test_the_same_generator_gives_the_same_points() -> None:
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    assert [SPACE.sample(one) for _ in range(5)] == [SPACE.sample(two) for _ in range(5)]


GOOD: Point = SPACE.from_unit([0.5] * len(SPACE.parameters))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linear", 4.0),
        ("linear", 1),
        ("linear", True),
        ("linear", math.nan),
        ("linear", np.float64(0.5)),
        ("linear", "0.5"),
        ("integer", 6),
        ("integer", 1.0),
        ("integer", True),
        ("integer", np.int64(1)),
        ("kernel", "cubic"),
        ("kernel", 0),
        ("kernel", np.str_("rbf")),
    ],
)
def test_a_bad_value_is_refused(name: str, value: Any) -> None:
    with pytest.raises(PickbestError, match=f"{name} must be"):
        SPACE.check(GOOD | {name: value})


def test_wrong_names_are_refused() -> None:
    with pytest.raises(PickbestError, match="with the names"):
        SPACE.check(GOOD | {"more": 1})
    with pytest.raises(PickbestError, match="with the names"):
        SPACE.check({"linear": 0.0})


@pytest.mark.parametrize("coordinates", [[0.5], [math.nan] * 6, [[0.5] * 6]])
def test_a_bad_place_is_refused(coordinates: Any) -> None:
    with pytest.raises(PickbestError, match="a place needs 6 numbers"):
        SPACE.from_unit(coordinates)
