"""Ways to change a good input: gently, so that it is still used, or so that it must be refused."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# How often an input stays what it is but for one odd value that is allowed: most of what is
# changed at random is refused early, and what lies behind is never reached.
GENTLE = 0.6

# Numbers, texts and shapes that careless code trips over.
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 255, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.5, -0.5, 1e-320, 1e308, -1e308, 1.0000001, True, False, None),
)
# Texts that any label may be.
LABELS = (
    *("", "x", "a", "\x00", "\x1b[31m", "ä" * 300, "os:system", "a:b=c", "../..", "1e9"),
    *("=cmd()", "<b>", "\u202e", "'; --", "\n\n", "\r", "%s%n", "{problem}"),
)
TEXTS = (*LABELS, "\ud800")
RAW = (b"NaN", b"-Infinity", b"1e999", b"\x00", b"\xff\xfe", b"[" * 3000, b'"', b"}", b"9" * 5000)
# What JSON may hold anywhere an answer may be.
ANSWERS: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**53, 1e-320, 1e308, "", "ä\u202e", [], {}, [[]], {"": None}, [0] * 999),
    {"a": {"b": {"c": [1, "x", None]}}},
)
# Costs at the edge of what a cost may be.
COSTS = (0.0, -0.0, 1.0, 5e-324, 1.0 - 2**-53, 0.5, 1e-300)


def mutate_bytes(seed: Path, target: Path, rng: random.Random) -> None:
    """Flip, cut, double, or put something nasty in."""
    content = bytearray(seed.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(content) + 1)
        how = rng.randrange(5)
        if how == 0 and content:
            content[place % len(content)] ^= 1 << rng.randrange(8)
        elif how == 1 and content:
            content[place % len(content)] = rng.randrange(256)
        elif how == 2:
            del content[place : place + rng.choice([1, 4, 100, 10**6])]
        elif how == 3:
            content[place:place] = content[place : place + rng.choice([1, 8, 200])]
        else:
            content[place:place] = rng.choice(RAW)
    target.write_bytes(content)


def mutated_json(content: Any, rng: random.Random) -> Any:
    """The same with one to three of its places changed."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(_places(content))
        if not places:
            return rng.choice([*NUMBERS, *TEXTS])
        holder, key = rng.choice(places)
        how = rng.randrange(8)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(key)
        elif how == 2:
            holder[key] = [holder[key]] * rng.choice([0, 1, 2, 50])
        elif how == 3 and isinstance(holder[key], int | float):
            factor = rng.choice([-1, 1 + 1e-9, 10, 10**6])
            holder[key] = holder[key] * factor if abs(holder[key]) < 2**1000 else factor
        elif how == 4 and isinstance(holder[key], str):
            holder[key] += rng.choice(TEXTS)
        else:
            holder[key] = rng.choice([*NUMBERS, *TEXTS, [], {}, [0], {"x": 1}])
    return content


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    keys = content.keys() if isinstance(content, dict) else range(len(content))
    for key in list(keys) if isinstance(content, dict | list) else ():
        yield content, key
        if isinstance(content[key], dict | list):
            yield from _places(content[key])


def mutated_array(array: Any, rng: random.Random) -> Any:
    """Another type, another shape, or one odd number."""
    how = rng.randrange(4)
    if how == 0:
        return array.astype(rng.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    if how == 1:
        return np.resize(array, rng.choice([(0,), (1,), (1, 7), (2, 2), (3, 0, 4)]))
    changed = array.copy()
    if changed.size:
        place = rng.randrange(changed.size)
        values = [-1, 0, 1, 6, 100, 2**31 - 1, -(2**31)]
        if changed.dtype.kind == "f":
            values += [float("nan"), float("inf"), -1e308, 1e308]
        changed.flat[place] = rng.choice(values)
    return changed
