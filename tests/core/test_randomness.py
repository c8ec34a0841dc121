"""SplitMix64 with plain whole numbers, as its authors wrote it down."""

import numpy as np
import pytest

from pickbest.core import mix, replicate_keys, rng_for
from pickbest.core.randomness import GOLDEN, mix_array

# The first outputs of SplitMix64 for the seed 1234567 (Vigna's reference program).
PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


def test_the_stream_is_the_published_one():
    assert [mix(1234567 + (i + 1) * GOLDEN) for i in range(5)] == PUBLISHED
    words = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * np.uint64(GOLDEN)
    assert mix_array(words).tolist() == PUBLISHED


@pytest.mark.parametrize("word", [1 << 64, (1 << 64) + 5, (1 << 70) + 12345])
def test_only_64_bits_count(word):
    assert mix(word) == mix(word % (1 << 64))
    assert 0 <= mix(word) < 1 << 64


def test_uniforms_are_the_middles_of_cells():
    """So neither 0 nor 1 is ever drawn."""
    key = int(rng_for(replicate_keys(0, 1), 0).keys[0])
    draws = rng_for(replicate_keys(0, 1), 0).uniforms(50)[0]
    words = [mix(key + (i + 1) * GOLDEN) for i in range(50)]
    assert draws.tolist() == [((word >> 11) + 0.5) / 2**53 for word in words]
