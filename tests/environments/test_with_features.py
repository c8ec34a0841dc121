"""Environments with features: from files, from ASlib, and what does not fit."""

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.environments import Table, with_features


def test_features_must_be_those_of_every_round():
    table = Table([[0.1, 0.9], [0.3, 0.2]])
    with pytest.raises(PickbestError, match="each of 2 rounds"):
        with_features(table, np.zeros((3, 2)))
    with pytest.raises(PickbestError, match="round 1: features must be"):
        with_features(table, [{"a": 1}, {"b": 1}])
    with pytest.raises(PickbestError, match="got none"):
        with_features(table, [])
