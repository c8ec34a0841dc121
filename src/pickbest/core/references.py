"""Modules of the user's own: the one name that they wrote is looked for in a folder, nothing else.

A folder on `sys.path` would offer a file for every module that any package tries to import. So a
reference (`module:Name`, on the command line or in a portfolio.toml) is resolved by a finder that
knows one name, after all that is installed, and only while that module is imported. Only the
standard library is used here: the processes that start arms load this, too.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class _OneName:
    """Finds one module or package in one folder."""

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.folder = folder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return PathFinder.find_spec(fullname, [self.folder]) if fullname == self.name else None


def import_from(folder: str, module: str) -> ModuleType:
    """Import a module that may lie in a folder."""
    finder = _OneName(module.partition(".")[0], folder)
    sys.meta_path.append(finder)
    try:
        return importlib.import_module(module)
    finally:
        sys.meta_path.remove(finder)
