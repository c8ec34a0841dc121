"""Kernels without reference counts borrow arrays: they must not hand any out."""

import ast
from pathlib import Path

import pytest

import pickbest

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
