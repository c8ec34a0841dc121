"""Suites that every learner, environment, engine and journal must pass; they need no pytest."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def must_raise(kind: type[Exception], otherwise: str) -> Iterator[None]:
    """What happens within must raise this error; else AssertionError says `otherwise`."""
    try:
        yield
    except kind:
        return
    raise AssertionError(otherwise)
