"""A digest of the code that a learner or an environment runs.

It follows classes and functions to the modules that define them, so what is kept of one
learner stays valid when another one changes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from functools import cache
from pathlib import Path

PACKAGE = __name__.partition(".")[0]


def code_digest(thing: object) -> str:
    """Of the modules of this package that the object's classes need."""
    return _digest(frozenset(_modules_of(thing)))


def _modules_of(thing: object) -> set[str]:
    """The modules of an object and of the objects in its fields."""
    modules = {type(thing).__module__}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        for field in dataclasses.fields(thing):
            modules |= _modules_of(getattr(thing, field.name))
    return modules


@cache
def _digest(modules: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(_reached(modules)):
        digest.update(name.encode())
        digest.update(Path(sys.modules[name].__file__ or "").read_bytes())
    return digest.hexdigest()[:16]


def _reached(modules: frozenset[str]) -> set[str]:
    """The modules of this package from which these take classes and functions, directly or not."""
    found: set[str] = set()
    waiting = set(modules)
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] != PACKAGE:
            continue
        found.add(name)
        for value in vars(sys.modules[name]).values():
            is_module = type(value) is type(sys)
            waiting.add(value.__name__ if is_module else getattr(value, "__module__", None) or "")
    return found
