"""Gumbel noise without logarithms: draws of ln E, E ~ Exp(1), by a ziggurat of two slopes.

Minus ln E is Gumbel noise. The density of x = ln E, exp(x - e^x), rises up to 0 and falls beyond.
It is cut into 256 layers of equal area (Marsaglia and Tsang 2000, for both slopes at once); 98 of a
hundred draws fall into the part of their layer that lies under the density all over.
"""

import math
from typing import NamedTuple

import numpy as np

from pickbest.core import MIX_2, FloatArray
from pickbest.kernels.compiled import inlined, kernel
from pickbest.kernels.random import LAYER, S3, S8, STEP, mixed, uniform_at

LAYERS = 256
# The height at which the tails begin: chosen so that the layers close exactly at the mode.
BOTTOM = 0.00034514484767242653
# No draw is below minus this: the left tail, of probability 3.5e-4, at the smallest uniform, 2^-54.
NEVER = 46.0
_MIX_2 = np.uint64(MIX_2)


class Layers(NamedTuple):
    """By layer: its left end, what a draw of 53 bits is worth, and which draws are surely inside.

    heights has one more: layer i lies between heights[i] and heights[i + 1].
    """

    left: FloatArray
    scale: FloatArray
    middle: FloatArray
    half: FloatArray
    heights: FloatArray


def _edge(height: float, start: float) -> float:
    """Where exp(x - e^x) is `height`, by Newton's method from `start`, on its slope."""
    x = start
    for _ in range(60):
        step = (x - math.exp(x) - math.log(height)) / (1.0 - math.exp(x))
        x -= step
        if abs(step) < 1e-15 * max(1.0, abs(x)):
            break
    return x


def _layers() -> Layers:
    heights = np.empty(LAYERS + 1)
    left, right = np.zeros(LAYERS + 1), np.zeros(LAYERS + 1)
    heights[0], heights[1] = 0.0, BOTTOM
    left[1], right[1] = _edge(BOTTOM, -8.0), _edge(BOTTOM, 2.4)
    tails = -math.expm1(-math.exp(left[1])) + math.exp(-math.exp(right[1]))
    area = (right[1] - left[1]) * BOTTOM + tails
    for i in range(1, LAYERS - 1):
        heights[i + 1] = heights[i] + area / (right[i] - left[i])
        left[i + 1] = _edge(heights[i + 1], left[i])
        right[i + 1] = _edge(heights[i + 1], right[i])
    heights[LAYERS] = math.exp(-1.0)
    # The bottom layer as if it were a box of the same area: beyond its right end lie the tails.
    left[0], right[0] = left[1], left[1] + area / BOTTOM
    width = right[:-1] - left[:-1]
    middle = (0.5 * (left[1:] + right[1:]) - left[:-1]) / width * 2.0**53
    half = 0.5 * (right[1:] - left[1:]) / width * 2.0**53
    return Layers(left[:-1].copy(), width * 2.0**-53, middle, half, heights)


LEFT, SCALE, MIDDLE, HALF, HEIGHTS = _layers()
_LEFT_END, _RIGHT_END = float(LEFT[1]), float(LEFT[1] + SCALE[1] * 2.0**53)
_LEFT_TAIL = -math.expm1(-math.exp(_LEFT_END))
_RIGHT_TAIL = math.exp(-math.exp(_RIGHT_END))


@inlined
def quick_draw(counter: np.uint64) -> tuple[float, np.uint64, bool]:
    """(value, layer, sure): a draw of a layer, and whether it surely lies under the density."""
    word = mixed(counter) >> S3
    layer = word & LAYER
    draw = np.float64(word >> S8)
    sure = abs(draw - MIDDLE[layer]) < HALF[layer]
    return float(LEFT[layer] + draw * SCALE[layer]), layer, sure


@inlined
def log_exponential_at(counter: np.uint64) -> float:
    """ln of the Exp(1) draw of a counter. Draws that need more numbers get a new stream."""
    value, layer, sure = quick_draw(counter)
    return value if sure else _unsure(counter, layer, value)


@kernel
def _unsure(counter: np.uint64, layer: np.uint64, value: float) -> float:
    counter = mixed(counter ^ _MIX_2)
    while True:
        counter += STEP
        uniform = uniform_at(counter)
        if layer == np.uint64(0):
            return _tail(uniform)
        low, high = HEIGHTS[layer], HEIGHTS[layer + np.uint64(1)]
        if low + uniform * (high - low) < math.exp(value - math.exp(value)):
            return value
        counter += STEP
        value, layer, sure = quick_draw(counter)
        if sure:
            return value


@kernel
def _tail(uniform: float) -> float:
    """A draw beyond the ends of the lowest box, by inverting the law of E."""
    mass = uniform * (_LEFT_TAIL + _RIGHT_TAIL)
    if mass < _LEFT_TAIL:
        return math.log(-math.log1p(-mass))
    return math.log(math.exp(_RIGHT_END) - math.log((mass - _LEFT_TAIL) / _RIGHT_TAIL))
