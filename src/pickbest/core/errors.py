"""Errors of ours: each says what must hold, what came, and what to do."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class PickbestError(ValueError):
    """Bad input: the message says what must hold, what came, and what to do."""


class MissingExtraError(ImportError):
    """An optional package is absent: the message names it and the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'pickbest[{extra}]'")


def load_extra(module: str, extra: str, purpose: str, package: str = "") -> Any:
    """A module of an optional package, or the error that says how to get it.

    package: where it is not called as its module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(package or module.partition(".")[0], extra, purpose) from error


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: the only one that begins so, or one with a slip.

    A number without a common digit is no slip: it names another thing.

    >>> nearest("fmpl", ["fpml", "exp3"]), nearest("task-9", ["task-1", "task-3"])
    ('fpml', None)
    """
    import difflib

    name = name.lstrip("-")
    plain = {each.lstrip("-"): each for each in known}
    near = [each for each in plain if name and each.startswith(name)]
    if len(near) != 1:
        near = difflib.get_close_matches(name, plain, cutoff=0.65)
    digits = set(filter(str.isdigit, name))
    near = [each for each in near if not digits or digits & set(each)]
    return plain[near[0]] if near else None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> PickbestError:
    """The error for a name that is not known, with the one that was probably meant."""
    names = sorted(known)
    near = nearest(str(name), names)
    hint = f"; did you mean {near!r}?" if near else ""
    return PickbestError(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")
