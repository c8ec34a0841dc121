"""The parts of the process boundary by themselves: answers, trees, what is imported."""

from __future__ import annotations

import collections
import enum
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from pickbest.portfolio.engine import arm, tree
from pickbest.portfolio.runs import Limits
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


def test_answers_are_json_and_tuples_and_arrays_are_lists() -> None:
    point = collections.namedtuple("point", "x y")
    given = {
        "subclasses": [Color.RED, point(1, 2), collections.OrderedDict(a=1)],
        "numpy": (np.float64(0.5), np.int64(7), np.arange(4, dtype=np.float32).reshape(2, 2)),
        "plain": [None, True, 2**200, -0.5, float("inf"), "é\udcff"],
    }
    assert json.loads(arm.encoded(given)) == {
        "subclasses": [1, [1, 2], {"a": 1}],
        "numpy": [0.5, 7, [[0.0, 1.0], [2.0, 3.0]]],
        "plain": [None, True, 2**200, -0.5, float("inf"), "é\udcff"],
    }


@pytest.mark.parametrize(
    "thing", [object(), lambda: 0, b"x", {1}, np.array([object()]), [10**5000], {"a": print}]
)
def test_what_is_not_data_is_refused(thing: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        arm.encoded(thing)


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
        assert tree.excess(Limits(memory_bytes=90 << 20), pids) == "more than 90 MB of memory"
        # Whatever else this process holds is shared by all of them, too.
        assert tree.excess(Limits(memory_bytes=500_000_000), pids) == ""
        assert tree.excess(Limits(processes=10), pids) == "more than 10 processes"
        assert tree.excess(Limits(processes=11), pids) == ""
    finally:
        for pid in pids:
            tree.kill(pid)
        os.waitpid(parent, 0)
        os.close(read)
        os.close(write)
    assert eventually(lambda: not any(alive(pid) for pid in pids))
