"""Draws of ln E, E ~ Exp(1), against their law."""

import math

import numpy as np
import pytest

from pickbest.kernels import gumbel
from pickbest.kernels.compiled import compiled
from pickbest.kernels.random import STEP


@compiled
def draws(key, count):
    values = np.empty(count)
    for i in range(count):
        values[i] = gumbel.log_exponential_at(key + np.uint64(i + 1) * STEP)
    return values


@pytest.fixture(scope="module")
def many():
    return draws(np.uint64(2026), 4_000_000)


def test_draws_have_the_law(many):
    from scipy import stats

    assert stats.kstest(np.exp(many[:200_000]), "expon").pvalue > 1e-4


@pytest.mark.parametrize("tail", [1e-4, 3.45e-4, 1e-3, 0.01, 0.5])
def test_tails_have_their_share(many, tail):
    low, high = math.log(-math.log1p(-tail)), math.log(-math.log(tail))
    spread = math.sqrt(tail * (1 - tail) / many.size)
    assert np.mean(many < low) == pytest.approx(tail, abs=5 * spread)
    assert np.mean(many > high) == pytest.approx(tail, abs=5 * spread)


def test_layers_have_equal_areas_and_close_at_the_mode():
    width = gumbel.SCALE * 2.0**53
    areas = width * np.diff(gumbel.HEIGHTS)
    assert np.ptp(areas) < 1e-12
    assert gumbel.LAYERS * areas[0] > 1.0
    assert gumbel.HEIGHTS[-1] == pytest.approx(math.exp(-1.0))
    # Every layer's ends lie on the density, at its lower height.
    for end in (gumbel.LEFT[1:], gumbel.LEFT[1:] + width[1:]):
        assert np.allclose(np.exp(end - np.exp(end)), gumbel.HEIGHTS[1:-1], rtol=1e-9)


def test_no_draw_is_below_the_least():
    """The left tail at the smallest uniform number that there is."""
    assert -gumbel.NEVER < gumbel._tail(0.5 * 2.0**-53) < -gumbel.NEVER + 4.0
    assert gumbel._tail(1.0 - 0.5 * 2.0**-53) > 2.3


@pytest.mark.parametrize("uniform", [1e-9, 0.3, 0.9, 0.955, 0.98, 1.0 - 1e-9])
def test_tails_are_inverted(uniform):
    """So much of the mass of both tails lies beyond the draw, on its side."""
    value, mass = gumbel._tail(uniform), uniform * (gumbel._LEFT_TAIL + gumbel._RIGHT_TAIL)
    if mass < gumbel._LEFT_TAIL:
        assert -math.expm1(-math.exp(value)) == pytest.approx(mass, rel=1e-9)
    else:
        assert math.exp(-math.exp(value)) == pytest.approx(mass - gumbel._LEFT_TAIL, rel=1e-9)
