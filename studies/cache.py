"""Finished results kept on disk, each under a key of all that it depends on, its code included.

The code is found by following imports from the modules that a result starts in, so what is kept
of one learner or part stays valid while another one changes.
"""

import ast
import dataclasses
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from pickbest.core.savefile import write_atomically

# The sources that a result may depend on: of the package, and of the studies themselves.
SOURCES = {name: Path(spec.origin).parent for name in ("pickbest", "studies")
           if (spec := find_spec(name)) and spec.origin}  # fmt: skip

Value = TypeVar("Value")


@dataclasses.dataclass(frozen=True)
class Cache(Generic[Value]):
    """A folder of results; encode and decode turn one into text and back."""

    folder: Path
    encode: Callable[[Value], str]
    decode: Callable[[str], Value]

    def keep(self, name: str, value: Value) -> None:
        """Write a result; the file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._place(name), self.encode(value).encode())

    def read(self, name: str) -> Value | None:
        """A kept result; None where there is none or it cannot be read (it is then run again)."""
        try:
            return self.decode(self._place(name).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def key_of(content: Mapping[str, object]) -> str:
    """A short name for all that a result depends on."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def modules_of(thing: object) -> set[str]:
    """The modules that define an object and the objects in its fields."""
    modules = {type(thing).__module__}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        for field in dataclasses.fields(thing):
            modules |= modules_of(getattr(thing, field.name))
    return modules


def code_digest(modules: Iterable[str]) -> str:
    """Of the sources of these modules and of all modules of ours that they need."""
    return _digest(frozenset(modules))


@cache
def _digest(modules: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(reached(modules)):
        digest.update(name.encode())
        digest.update(_source(name))
    return digest.hexdigest()[:16]


def reached(modules: Iterable[str]) -> set[str]:
    """These modules and those of ours that they import, directly or not."""
    found: set[str] = set()
    waiting = {name for name in modules if _file_of(name)}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting |= {module for module in _imported(name) if _place_of(module)}
    return found


@cache
def _imported(module: str) -> frozenset[str]:
    """What a module imports, also inside of its functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {_home(node.module, alias.name) for alias in node.names}
    return frozenset(found)


@cache
def _home(module: str, name: str) -> str:
    """Where `from module import name` comes from: packages pass on the names of their modules."""
    if _place_of(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    place = _place_of(module)
    if place is not None and place.name == "__init__.py":
        for node in ast.walk(ast.parse(_source(module))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _home(node.module, alias.name)
    return module


def _source(module: str) -> bytes:
    place = _file_of(module)
    return place.read_bytes() if place else b""


def _file_of(module: str) -> Path | None:
    """The source of a module: ours, or a loaded one that defines a user's learner."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    place = _place_of(module) or Path(loaded or "")
    return place if place.suffix == ".py" else None


@cache
def _place_of(module: str) -> Path | None:
    """The file of a module of ours; None for all others."""
    package, *parts = module.split(".")
    if package not in SOURCES:
        return None
    place = SOURCES[package].joinpath(*parts)
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)
