"""The parts of the process boundary by themselves: messages, values, trees, what is imported."""

from __future__ import annotations

import collections
import enum
import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

from pickbest.portfolio.engine import tree, wire
from tests.portfolio import hostile
from tests.portfolio.helpers import alive, eventually


def test_keeper_and_guards_import_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; import pickbest.portfolio.engine.keeper; "
        "print(*(name for name in sys.modules if name != '__main__' "
        "and name.partition('.')[0] not in {*sys.stdlib_module_names, 'pickbest'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # What site packages load into every interpreter is not ours.
    bare = subprocess.run(
        [sys.executable, "-c", code.replace("import pickbest.portfolio.engine.keeper; ", "")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(found.stdout.split()) - set(bare.stdout.split()) == set()


class Color(enum.IntEnum):
    RED = 1


def test_values_of_subclasses_come_back_as_their_base() -> None:
    point = collections.namedtuple("point", "x y")
    given = [Color.RED, point(1, 2), collections.OrderedDict(a=1), np.float64(0.5)]
    found = wire.decode_value(wire.encode_value(given))
    assert found == given
    assert [type(each) for each in found] == [int, tuple, dict, np.float64]


@pytest.mark.parametrize(
    "thing", [object(), lambda: 0, np.array([object()]), [10**5000], {"a": {1: print}}]
)
def test_what_is_not_data_is_refused(thing: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        wire.encode_value(thing)


def test_bytes_that_anyone_may_have_made_are_read_or_refused() -> None:
    """Never another error, never much memory, never code."""
    rng = random.Random(0)
    sample = wire.encode_value(hostile.kinds("p"))
    tags = [b'{"array":["|O",[1],""]}', b'{"array":["<f8",[-1],""]}', b'{"tuple":1}', b"[[" * 9999]
    tags += [b'{"dict":[[{"dict":[]},1]]}', b'{"number":["<f8",[1000000000],""]}', b'{"a":1,"b":2}']
    mutated = []
    for _ in range(3000):
        changed = bytearray(sample)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(changed))
            if rng.random() < 0.5:
                changed[place] = rng.randrange(256)
            else:
                del changed[place : place + rng.randint(1, 20)]
        mutated.append(bytes(changed))
    for data in (*tags, *mutated):
        try:
            wire.decode_value(data)
        except ValueError:
            continue


def test_messages_are_limited_and_must_be_objects() -> None:
    inbox = wire.Inbox(100)
    inbox.add(wire.HEADER.pack(2**62, 0))
    with pytest.raises(ValueError, match="which is more than 100"):
        inbox.take()
    inbox = wire.Inbox(100)
    inbox.add(wire.HEADER.pack(2, 0) + b"[]")
    with pytest.raises(ValueError, match="must be a JSON object"):
        inbox.take()


def test_shared_pages_are_counted_once() -> None:
    """Ten forks of a process that holds 100 MB hold 100 MB, not a gigabyte."""
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        held = bytearray(100_000_000)
        held[::4096] = b"x" * len(held[::4096])
        for _ in range(10):
            if os.fork() == 0:
                break
        os.write(write, b"x")
        time.sleep(60.0)
        os._exit(0)
    for _ in range(11):
        os.read(read, 1)
    pids = [parent, *tree.descendants(parent)]
    try:
        assert tree.usage(pids).memory_bytes > 900_000_000
        # Whatever else this process holds is shared by all of them, too.
        once = tree.usage(pids, exact=True).memory_bytes
        assert 90_000_000 < once < tree.usage(pids).memory_bytes / 5
        assert tree.usage(pids).processes == 11
    finally:
        for pid in pids:
            tree.kill(pid)
        os.waitpid(parent, 0)
        os.close(read)
        os.close(write)
    assert eventually(lambda: not any(alive(pid) for pid in pids))
