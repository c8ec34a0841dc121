"""Errors of means: figures by hand."""

import math

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.simulation.statistics import Estimate, half_width, standard_error


def test_standard_errors():
    assert standard_error(np.array([1.0, 2.0, 3.0, 6.0])) == pytest.approx(
        math.sqrt((4 + 1 + 0 + 9) / 3) / 2
    )
    assert standard_error(np.array([0.7])) == 0.0


def test_half_widths():
    samples = np.array([[0.0, 5.0], [2.0, 5.0]])
    assert half_width(samples, 0.95) == pytest.approx([1.959964, 0.0])
    assert half_width(samples[:1], 0.95).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.9])
def test_a_confidence_is_inside(confidence):
    with pytest.raises(PickbestError, match="confidence"):
        half_width(np.zeros((2, 1)), confidence)


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (25.812, 1.31, "25.8 ± 1.3"),
        (-0.5, 0.25, "-0.50 ± 0.25"),
        (0.0, 1e-3, "0.0000 ± 0.0010"),
        (1.0, 1.23456e-7, "1.000000 ± 0.000000"),
        (12345.6, 0.0, "12,346"),
        (0.5, math.inf, "0.5000"),
        (0.0, 0.0, "0.000"),
    ],
)
def test_estimates_show_two_digits_of_their_error(mean, half, text):
    assert str(Estimate(mean, half)) == text


def test_an_estimate_has_two_ends():
    one = Estimate.of(np.array([0.0, 2.0]), 0.95)
    assert (one.low, one.mean, one.high) == pytest.approx((1 - 1.959964, 1.0, 1 + 1.959964))
