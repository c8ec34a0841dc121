"""Counter-based random numbers inside kernels: SplitMix64 started at a replicate's key.

The stream of a key is the one that `game.Draws.uniforms` returns, so a kernel and its NumPy
twin draw the same numbers.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.game import GOLDEN, MIX_1, MIX_2, FloatArray, KeyArray
from pickbest.kernels.compiled import kernel

STEP = np.uint64(GOLDEN)
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@kernel
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finalizer, as `game.mix`."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@kernel
def round_key(lasting: np.uint64, round_index: int) -> np.uint64:
    """The key of a round, as `game.rng_for`."""
    return lasting ^ mixed(np.uint64(round_index) + STEP)


@kernel
def slot_key(key: np.uint64, slot: int) -> np.uint64:
    """The key of a slot, as `game.Draws.child`."""
    if slot == 0:
        return key
    return key ^ mixed(np.uint64(slot) * _MIX_1)


@kernel
def uniform_at(counter: np.uint64) -> float:
    """The uniform in (0, 1) of a counter; successive draws add STEP to the counter first."""
    return (np.float64(mixed(counter) >> _S11) + 0.5) * 1.1102230246251565e-16


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


@kernel
def fill_beta(keys: KeyArray, alpha: FloatArray, beta: FloatArray, out: FloatArray) -> None:
    """out[r, a] ~ Beta(alpha[r, a], beta[r, a]), replicate r from its own key."""
    for r in range(out.shape[0]):
        counter = keys[r]
        for a in range(out.shape[1]):
            counter, out[r, a] = beta_from(counter, alpha[r, a], beta[r, a])
