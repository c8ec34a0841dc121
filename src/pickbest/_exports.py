"""Public names that are imported on first use, so that importing a package is quick.

A package writes its public names once, as imports below `if TYPE_CHECKING:`. Type checkers and
editors read them there, and so does `lazy_exports`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package."""
    homes = _written_imports(package)
    public = sorted(homes)

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return find, lambda: public, public


def _written_imports(package: str) -> dict[str, str]:
    """The module of each name that the package's source imports below `if TYPE_CHECKING:`."""
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
