"""Files of runtimes: names, features, seconds, and what is wrong with those that are none."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.environments.runtimes import read_runtimes


def written(folder: Path, text: str, name: str = "runtimes.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["runtimes.csv", "runtimes.csv.gz"])
def test_names_features_and_seconds(tmp_path: Path, name: str) -> None:
    text = "problem,logic,x,y\n17,QF_BV,0.5,\n18,QF_LIA,1.5,2.5\n"
    read = read_runtimes(written(tmp_path, text, name))
    assert (read.problems, read.arms, read.cutoff) == (("17", "18"), ("x", "y"), None)
    assert read.features == {"logic": ("QF_BV", "QF_LIA")}
    assert read.seconds.tolist() == [[0.5, math.inf], [1.5, 2.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,x,y\np1,0.5,fast\n", "column 'y' of row 2 holds 'fast'"),
        ("problem,x,y\np1,1,2\np2,-1,2\n", "column 'x' of row 3 holds '-1'"),
        ("problem,x,y\np1,1,nan\n", "column 'y' of row 2 holds 'nan'"),
        ("problem,x,y\np1,1\n", "row 2 has 2 cells, expected 3"),
        ("problem,x,x\np1,1,2\n", "columns must have different names"),
        ("problem,x\n", "there is a header but no round"),
        ("problem\np1\n", "need a header, and columns of names"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        read_runtimes(written(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PickbestError, match=r"none\.csv: no such file"):
        read_runtimes(tmp_path / "none.csv")
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(b"no gzip")
    with pytest.raises(PickbestError, match="not a text table"):
        read_runtimes(broken)
