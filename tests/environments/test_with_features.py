"""Environments with features: from files, from ASlib, and what does not fit."""

import numpy as np
import pytest

from pickbest.catalog import make_environment
from pickbest.core import PickbestError
from pickbest.core.features import MISSING, encoded_one
from pickbest.environments import Table, WithFeatures, with_features


def test_columns_of_a_file(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("problem,logic,x,size,y\na,BV,0.1,3,0.5\nb,LIA,0.2,,0.25\n")
    world = make_environment(f"{path}:features=logic+size")
    assert isinstance(world, WithFeatures)
    assert world.names == ("logic", "size")
    assert world.inner.costs_table.tolist() == [[0.1, 0.5], [0.2, 0.25]]
    assert world.features[:, 1].tolist() == [3.0, MISSING]
    assert world.features[0, 0] == encoded_one("logic", "BV")
    with pytest.raises(PickbestError, match="column of"):
        make_environment(f"{path}:features=logics")


def test_features_must_be_those_of_every_round():
    table = Table([[0.1, 0.9], [0.3, 0.2]])
    with pytest.raises(PickbestError, match="each of 2 rounds"):
        with_features(table, np.zeros((3, 2)))
    with pytest.raises(PickbestError, match="round 1: features must be"):
        with_features(table, [{"a": 1}, {"b": 1}])
    with pytest.raises(PickbestError, match="got none"):
        with_features(table, [])
