"""Public names that are imported on first use, so that importing a package is quick.

A package writes its public names once, as imports below `if TYPE_CHECKING:`. Type checkers and
editors read them there, and so does `lazy_exports`, when somebody first asks for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], Public]:
    """`__getattr__`, `__dir__` and `__all__` of a package."""

    def find(name: str) -> Any:
        # Python itself asks every module for names like this one, and quickly.
        home = None if name.startswith("__") else _written_imports(package).get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    names = Public(package)
    return find, lambda: list(names), names


class Public(Sequence[str]):
    """The public names of a package, in order."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __len__(self) -> int:
        return len(_written_imports(self._package))

    def __getitem__(self, place: Any) -> Any:
        return sorted(_written_imports(self._package))[place]


@cache
def _written_imports(package: str) -> dict[str, str]:
    """The module of each name that the package's source imports below `if TYPE_CHECKING:`."""
    import ast
    from importlib.util import find_spec

    spec = find_spec(package)
    source: str = spec.loader.get_source(package)  # type: ignore[union-attr]
    return {
        name.name: str(line.module)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
