"""Randomness as an argument: one 64-bit key per replicate and round, and what is drawn from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core.arrays import FloatArray, KeyArray
from pickbest.core.checks import check_seed

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
_MASK = (1 << 64) - 1
LEARNER_STREAM, ENVIRONMENT_STREAM = 1, 2


@dataclass(slots=True)
class Draws:
    """The randomness of one round: one 64-bit key per replicate, nothing else.

    Keys are a pure function of (seed, stream, replicate, round), so a replicate draws the
    same numbers alone, in a batch, on any worker, and after a restart.

    keys: (replicates,), different in every round.
    lasting: (replicates,), the same in every round (for perturbations that stay fixed).
    """

    keys: KeyArray
    lasting: KeyArray

    def uniforms(self, count: int) -> FloatArray:
        """(replicates, count) independent uniforms in (0, 1)."""
        return _uniforms(self.keys, count)

    def lasting_uniforms(self, count: int) -> FloatArray:
        """(replicates, count) uniforms that are the same in every round."""
        return _uniforms(self.lasting, count)

    def child(self, index: int) -> Draws:
        """Independent randomness for part `index` of the round; part 0 is the round's own."""
        if index == 0:
            return self
        offset = np.uint64(mix(index * MIX_1))
        return Draws(self.keys ^ offset, self.lasting ^ offset)

    def generator(self, replicate: int) -> np.random.Generator:
        """A NumPy generator for one replicate of this round, for learners that want one."""
        return np.random.default_rng(int(self.keys[replicate]))


def mix(value: int) -> int:
    """SplitMix64's finalizer: a bijection of 64-bit words that scatters neighbours."""
    value &= _MASK
    value = ((value ^ (value >> 30)) * MIX_1) & _MASK
    value = ((value ^ (value >> 27)) * MIX_2) & _MASK
    return value ^ (value >> 31)


def mix_array(values: KeyArray) -> KeyArray:
    """`mix` for arrays."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(MIX_1)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(MIX_2)
    return values ^ (values >> np.uint64(31))


def replicate_keys(
    seed: int, replicates: int, first: int = 0, stream: int = LEARNER_STREAM
) -> KeyArray:
    """(replicates,) keys that last a whole run, for replicates first, first + 1, …"""
    root = mix(mix(check_seed(seed) + GOLDEN) ^ (stream * MIX_1))
    index = np.arange(first, first + replicates, dtype=np.uint64)
    return mix_array(np.uint64(root) + index * np.uint64(GOLDEN))


def rng_for(lasting: KeyArray, round_index: int) -> Draws:
    """The randomness of one round, from keys that last a run.

    >>> keys = replicate_keys(seed=0, replicates=2)
    >>> bool(np.all(rng_for(keys, 5).uniforms(3) == rng_for(keys, 5).uniforms(3)))
    True
    """
    # Both words are well mixed, and every draw mixes its counter again: xor is enough.
    return Draws(lasting ^ np.uint64(mix(round_index + GOLDEN)), lasting)


def _uniforms(keys: KeyArray, count: int) -> FloatArray:
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    words = mix_array(keys[:, None] + steps[None, :])
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
