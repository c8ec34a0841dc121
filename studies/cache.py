"""Finished results kept on disk, each under a key of all that it depends on, its code included."""

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

# The sources that every result depends on: the package's, and the studies' own.
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


def code_digest(modules: Iterable[str] = ()) -> str:
    """Of all our sources, and of these modules where they are a user's own."""
    own = sorted(name for name in modules if name.split(".")[0] not in SOURCES)
    files = [getattr(sys.modules.get(name), "__file__", None) for name in own]
    return our_digest() + "".join(_digest([Path(file)]) for file in files if file)


@cache
def our_digest() -> str:
    """Of every source of the package and of the studies."""
    return _digest(path for root in SOURCES.values() for path in sorted(root.rglob("*.py")))


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
