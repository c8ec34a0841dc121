"""Errors of ours: each says what must hold, what came, and what to do."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class PickbestError(ValueError):
    """Bad input: the message says what must hold, what came, and what to do."""


class UnknownRoundsError(PickbestError):
    """A parameter is tuned for the number of rounds, and that is not known."""


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


def unknown_name(kind: str, name: str, known: Iterable[str]) -> PickbestError:
    """The error for a name that is not known, with the nearest one suggested."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return PickbestError(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")
