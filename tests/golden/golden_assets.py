"""What the recorder and the replays share: tables, costs and packed arrays, without pickbest.

Everything here is a pure function of its arguments; nothing imports pickbest, so a change of
pickbest cannot change what is asked of it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent
KINDS = ("uniform", "binary", "drifting", "complementary")
Array = NDArray[Any]


def make_table(kind: str, seed: int, copies: int, rounds: int, n_arms: int) -> NDArray[np.float64]:
    """(copies, rounds, n_arms) costs in [0, 1]; one copy stands for all replicates.

    uniform: independent and uniform. binary: 0 or 1, arm a costs 1 with a chance of its own.
    drifting: the best arm moves on through all arms. complementary: in each round one arm, of
    about a third of all, is cheap.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind), copies, rounds, n_arms])
    costs = rng.random((copies, rounds, n_arms))
    if kind == "binary":
        costs = (costs < rng.random(n_arms)).astype(np.float64)
    elif kind == "drifting":
        best = np.arange(rounds) * n_arms // rounds
        costs = 0.25 + 0.75 * costs
        costs[:, np.arange(rounds), best] *= 0.125
    elif kind == "complementary":
        owner = rng.integers(max(n_arms // 3, 2), size=(copies, rounds, 1))
        own = np.take_along_axis(costs, owner, axis=2)
        costs = 0.5 + 0.5 * costs
        np.put_along_axis(costs, owner, 0.25 * own, axis=2)
    return np.ascontiguousarray(costs)


def told_cost(number: int, arm: int) -> float:
    """The cost that is told for an arm in ticket or round `number` of a live game."""
    return ((7 * number + 5 * arm + (number * number + 3 * arm * arm) % 11) % 23) / 22.0


def digest(array: Array) -> str:
    """The first 16 hex digits of the SHA-256 of an array's bytes, in C order."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


class Packer:
    """Many arrays in one .npz: those of a dtype end to end, equal ones once.

    `add` returns the place of an array: [dtype, offset, shape].
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[Array]] = {}
        self._ends: dict[str, int] = {}
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def add(self, array: Array) -> list[Any]:
        array = np.ascontiguousarray(array)
        kind = array.dtype.str
        key = (kind, array.shape, hashlib.sha256(array.tobytes()).digest())
        if key not in self._known:
            self._known[key] = self._ends.get(kind, 0)
            self._parts.setdefault(kind, []).append(array.ravel())
            self._ends[kind] = self._known[key] + array.size
        return [kind, self._known[key], list(array.shape)]

    def add_all(self, arrays: dict[str, Array]) -> dict[str, list[Any]]:
        """The places of named arrays."""
        return {name: self.add(array) for name, array in arrays.items()}

    def write(self, path: Path) -> None:
        """Bytes of a dtype are stored by significance, which compresses better."""
        planes = {}
        for kind, parts in self._parts.items():
            flat = np.concatenate(parts)
            planes[kind[1:]] = flat.view(np.uint8).reshape(flat.size, -1).T
        with path.open("wb") as file:
            np.savez_compressed(file, **planes)


class Unpacker:
    """The arrays of a .npz that Packer wrote, by their places."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as planes:
            self._flat = {
                kind: np.ascontiguousarray(planes[kind].T).reshape(-1) for kind in planes.files
            }

    def get(self, place: list[Any]) -> Array:
        kind, offset, shape = place
        flat = self._flat[kind[1:]].view(np.dtype(kind))
        return flat[offset : offset + int(np.prod(shape, dtype=np.int64))].reshape(shape).copy()

    def get_all(self, places: dict[str, list[Any]]) -> dict[str, Array]:
        """Named arrays from their places."""
        return {name: self.get(place) for name, place in places.items()}


def write_json(path: Path, data: Any) -> None:
    """Compact JSON, one line an element of the outermost list; .gz without a time stamp."""
    if isinstance(data, list):
        text = "[\n" + ",\n".join(json.dumps(row) for row in data) + "\n]\n"
    else:
        text = json.dumps(data, indent=1) + "\n"
    content = text.encode()
    path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)


def read_json(path: Path) -> Any:
    """What write_json wrote; floats come back bit for bit."""
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def as_lists(arrays: dict[str, Array]) -> dict[str, Any]:
    """Named arrays as JSON: dtype, shape and values, which come back bit for bit."""
    return {
        name: {"dtype": array.dtype.str, "shape": array.shape, "values": array.ravel().tolist()}
        for name, array in arrays.items()
    }


def as_arrays(lists: dict[str, Any]) -> dict[str, Array]:
    """What as_lists made."""
    return {
        name: np.array(packed["values"], np.dtype(packed["dtype"])).reshape(packed["shape"])
        for name, packed in lists.items()
    }
