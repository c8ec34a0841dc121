"""Kernels that borrow arrays hand none out, and compiled learners reach other processes."""

import ast
import subprocess
import sys
from pathlib import Path

import cloudpickle
import pytest

import pickbest
from pickbest.core import replicate_keys, rng_for
from pickbest.kernels.compiled import always
from pickbest.learners import FPML

FILES = sorted(
    path
    for path in Path(pickbest.__file__).parent.rglob("*.py")
    if "kernels.compiled import" in path.read_text(encoding="utf-8")
)
NUMBERS = {"None", "int", "float", "bool", "np.uint64"}


def handed_out(source):
    """(name, what it returns) of every borrowing function that does not return numbers."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        decorators = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
        if not decorators & {"kernel", "inlined", "summing", "borrowing"}:
            continue
        returned = ast.unparse(node.returns) if node.returns else "nothing said"
        parts = returned.removeprefix("tuple[").removesuffix("]").split(", ")
        if not set(parts) <= NUMBERS:
            yield node.name, returned


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_borrowed_arrays_are_not_handed_out(path):
    assert list(handed_out(path.read_text(encoding="utf-8"))) == []


def test_a_kernel_that_hands_an_array_out_is_found():
    source = "@kernel\ndef view(values: FloatArray) -> FloatArray:\n    return values[1:]\n"
    assert list(handed_out(source)) == [("view", "FloatArray")]


def test_a_compiled_learner_goes_to_another_process():
    """Its machine code does not: there, Numba has not been told of the kernels that it calls."""
    learner = FPML(5, 2, 0.3)
    with always("compiled"):
        here = learner.pick(learner.start(3), rng_for(replicate_keys(0, 3), 0)).arms
    code = (
        "import sys, cloudpickle\n"
        "from pickbest.core import replicate_keys, rng_for\n"
        "learner = cloudpickle.loads(sys.stdin.buffer.read())\n"
        "state, draws = learner.start(3), rng_for(replicate_keys(0, 3), 0)\n"
        "learner.pick(state, draws)\n"
        "from pickbest.kernels.compiled import always\n"
        "with always('compiled'):\n"
        "    print(learner.pick(state, draws).arms.tolist())"
    )
    packed = cloudpickle.dumps(learner)
    done = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True)
    assert done.stdout.decode().strip() == str(here.tolist()), done.stderr.decode()
