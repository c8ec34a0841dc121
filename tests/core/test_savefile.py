"""Save files: what is no header or no version is damage, and is said."""

import json

import numpy as np
import pytest

from pickbest.core import PickbestError, savefile

ARRAYS = {"costs": np.array([[0.5, 0.25]]), "round": np.array([3])}


def read(path):
    return savefile.read(path, "game", newest=2)


def test_what_is_written_comes_back(tmp_path):
    path = tmp_path / "a.npz"
    savefile.write(path, {"format": "game", "version": 2}, ARRAYS)
    header, arrays = read(path)
    assert header["version"] == 2
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None])
def test_a_version_is_a_whole_number_from_1_on(tmp_path, version):
    path = tmp_path / "a.npz"
    savefile.write(path, {"format": "game", "version": version}, ARRAYS)
    with pytest.raises(PickbestError, match="its version is"):
        read(path)


@pytest.mark.parametrize("content", [[], 3, "game", None])
def test_a_header_is_a_table(tmp_path, content):
    path = tmp_path / "a.npz"
    np.savez(path, header=np.frombuffer(json.dumps(content).encode(), np.uint8))
    with pytest.raises(PickbestError, match="its header is not a table"):
        read(path)


def test_an_array_that_is_none(tmp_path):
    path = tmp_path / "a.npz"
    header = np.frombuffer(b'{"format": "game", "version": 1}', np.uint8)
    np.savez(path, header=header, costs=np.array([None]), allow_pickle=True)
    with pytest.raises(PickbestError, match="does not fit its bytes"):
        read(path)
