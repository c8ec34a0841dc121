"""Counter-based random numbers inside kernels: SplitMix64 started at a replicate's key.

The stream of a key is the one that `Draws.uniforms` returns, so a kernel and its NumPy
twin draw the same numbers.
"""

import math

import numpy as np

from pickbest.core import GOLDEN, MIX_1, MIX_2, FloatArray, KeyArray
from pickbest.kernels.compiled import borrowing, kernel

STEP = np.uint64(GOLDEN)
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@kernel
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finalizer, as `core.randomness.mix`."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@kernel
def round_key(lasting: np.uint64, round_index: int) -> np.uint64:
    """The key of a round, as `core.randomness.rng_for`."""
    return lasting ^ mixed(np.uint64(round_index) + STEP)


@kernel
def slot_key(key: np.uint64, slot: int) -> np.uint64:
    """The key of a slot, as `Draws.child`."""
    if slot == 0:
        return key
    return key ^ mixed(np.uint64(slot) * _MIX_1)


@kernel
def uniform_at(counter: np.uint64) -> float:
    """The uniform in (0, 1) of a counter; successive draws add STEP to the counter first."""
    return (np.float64(mixed(counter) >> _S11) + 0.5) * 1.1102230246251565e-16


def _ziggurat() -> tuple[FloatArray, FloatArray, FloatArray]:
    """256 layers of equal area under e^-x (Marsaglia and Tsang 2000), for 53-bit draws.

    Returns, by layer: the scale of a draw, the draws that need no further test, e^-edge.
    """
    edges = np.empty(257)
    edges[1] = ZIGGURAT_EDGE
    area = (ZIGGURAT_EDGE + 1.0) * math.exp(-ZIGGURAT_EDGE)
    # The bottom layer's width as if it were a box of the same area: its tail is drawn apart.
    edges[0] = area * math.exp(ZIGGURAT_EDGE)
    for i in range(2, 256):
        edges[i] = -math.log(area / edges[i - 1] + math.exp(-edges[i - 1]))
    edges[256] = 0.0
    return edges[:256] * 2.0**-53, edges[1:] / edges[:256] * 2.0**53, np.exp(-edges)


# Where the tail begins: chosen so that 256 layers close exactly at 0.
ZIGGURAT_EDGE = 7.69711747013104972
SCALES, SAFE, HEIGHTS = _ziggurat()
S3, S8, LAYER = np.uint64(3), np.uint64(8), np.uint64(255)


@kernel
def exponential_at(counter: np.uint64) -> float:
    """The Exp(1) draw of a counter. The rare draws that need more numbers get a new stream."""
    word = mixed(counter) >> S3
    layer = word & LAYER
    draw = np.float64(word >> S8)
    value = float(draw * SCALES[layer])
    if draw < SAFE[layer]:
        return value
    return _rejected_exponential(counter, layer, value)


@kernel
def _rejected_exponential(counter: np.uint64, layer: np.uint64, value: float) -> float:
    counter = mixed(counter ^ _MIX_2)
    while True:
        counter += STEP
        if layer == np.uint64(0):
            # The tail beyond the edge is again exponential.
            return ZIGGURAT_EDGE - math.log(uniform_at(counter))
        low, high = HEIGHTS[layer], HEIGHTS[layer + np.uint64(1)]
        if low + uniform_at(counter) * (high - low) < math.exp(-value):
            return value
        counter += STEP
        word = mixed(counter) >> S3
        layer = word & LAYER
        draw = np.float64(word >> S8)
        value = draw * SCALES[layer]
        if draw < SAFE[layer]:
            return value


@kernel
def gamma_from(counter: np.uint64, shape: float) -> tuple[np.uint64, float]:
    """(counter, log of a Gamma(shape, 1) draw), Marsaglia and Tsang (2000).

    The logarithm keeps draws of tiny shapes apart that would underflow to 0.
    """
    boost = 0.0
    if shape < 1.0:
        counter += STEP
        boost = math.log(uniform_at(counter)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        counter += STEP
        radius = math.sqrt(-2.0 * math.log(uniform_at(counter)))
        counter += STEP
        normal = radius * math.cos(2.0 * math.pi * uniform_at(counter))
        cube = 1.0 + c * normal
        if cube <= 0.0:
            continue
        cube = cube * cube * cube
        counter += STEP
        if math.log(uniform_at(counter)) < 0.5 * normal * normal + d - d * cube + d * math.log(
            cube
        ):
            return counter, math.log(d * cube) + boost


@kernel
def beta_from(counter: np.uint64, alpha: float, beta: float) -> tuple[np.uint64, float]:
    """(counter, a Beta(alpha, beta) draw)."""
    counter, log_x = gamma_from(counter, alpha)
    counter, log_y = gamma_from(counter, beta)
    return counter, 1.0 / (1.0 + math.exp(min(log_y - log_x, 700.0)))


@borrowing
def fill_beta(keys: KeyArray, alpha: FloatArray, beta: FloatArray, out: FloatArray) -> None:
    """out[r, a] ~ Beta(alpha[r, a], beta[r, a]), replicate r from its own key."""
    for r in range(out.shape[0]):
        counter = keys[r]
        for a in range(out.shape[1]):
            counter, out[r, a] = beta_from(counter, alpha[r, a], beta[r, a])
