"""Data sets: capped, encoded, the same everywhere; rare classes and missing cells."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pickbest.core import PickbestError
from studies.tuning.dataset import CAPS, dataset_names, encode_column, load_dataset, sample_rows

pytestmark = pytest.mark.slow
pytest.importorskip("sklearn")


def write(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_embedded_sets_load():
    assert dataset_names("embedded") == ["breast_cancer", "digits", "iris", "wine"]
    iris = load_dataset("embedded", "iris")
    assert iris.features.shape == (150, 4)
    assert Counter(iris.labels.tolist()) == {0: 50, 1: 50, 2: 50}
    assert load_dataset("embedded", "iris").checksum() == iris.checksum()


def test_rows_and_features_are_capped(monkeypatch):
    monkeypatch.setitem(CAPS, "rows", 200)
    monkeypatch.setitem(CAPS, "features", 30)
    digits = load_dataset("embedded", "digits")
    assert digits.features.shape[0] == 200
    assert digits.features.shape[1] <= 30
    assert max(Counter(digits.labels.tolist()).values()) <= 21
    assert digits.facts["rows_in_file"] == 1797
    assert digits.facts["dropped_columns"]


def test_a_sample_is_stratified_and_exact_in_size():
    labels = ["a"] * 700 + ["b"] * 290 + ["c"] * 10
    rows = sample_rows(labels, 101)
    assert rows == sorted(set(rows))
    assert len(rows) == 101
    assert Counter(labels[row] for row in rows) == {"a": 71, "b": 29, "c": 1}


def test_a_folder_of_tables(tmp_path):
    rows = [f"{k / 7}\t{k % 2}" for k in range(20)]
    text = "\n".join(["x\ttarget", *rows])
    (tmp_path / "one.tsv.gz").write_bytes(gzip.compress(text.encode()))
    write(tmp_path / "index.csv", "dataset", ["one"])
    assert dataset_names(str(tmp_path)) == ["one"]
    assert load_dataset(str(tmp_path), "one").features.shape == (20, 1)
    with pytest.raises(PickbestError, match="did you mean 'one'"):
        load_dataset(str(tmp_path), "ones")
    with pytest.raises(PickbestError, match="is neither"):
        dataset_names(str(tmp_path / "nowhere"))


def test_rare_classes_are_left_out_and_named(tmp_path):
    labels = ["a"] * 20 + ["b"] * 20 + ["rare"] * 6
    file = write(tmp_path / "t.csv", "x,target", [f"{k},{c}" for k, c in enumerate(labels)])
    table = load_dataset(str(file.parent), "t")
    assert table.classes == ("a", "b")
    assert table.facts["dropped_classes"] == ["rare"]
    assert len(table.labels) == 40


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,target\n1,a\n1\n", "row 3 has 1 cells"),
        ("x,target\n" + "1,a\n1,b\n" * 9, "no column is left"),
        ("", "no column 'target'"),
        ("x,target\n" + "1,a\n2,a\n" * 9, "at least 2 classes"),
    ],
)
def test_bad_tables_say_why(tmp_path, content, message):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(PickbestError, match=message):
        load_dataset(str(tmp_path), "t")


def test_damaged_archives_are_refused(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(b"no archive")
    with pytest.raises(PickbestError, match="not a readable table"):
        load_dataset(str(tmp_path), "t")


def test_columns_are_encoded_by_rule():
    assert encode_column(["1.5", "?", "2"]).ravel()[[0, 2]].tolist() == [1.5, 2.0]
    assert np.isnan(encode_column(["1.5", "", "2"])[1, 0])
    assert encode_column(["0", "1", "0"]).shape == (3, 1)
    assert encode_column(["0", "1", "2"]).shape == (3, 3)
    assert encode_column(["0", "1", "2", "nan"]).shape == (4, 4)
    assert encode_column(["0", "1", "2.5"]).shape == (3, 1)
    assert encode_column([str(k) for k in range(11)]).shape == (11, 1)
    assert encode_column(["red", "blue", ""]).shape == (3, 3)
    assert encode_column(["7", "7", "7"]) is None
    assert encode_column(["7", "7", ""]) is None
