"""What a user has in a module of their own, as text: module:NAME."""

from importlib import import_module
from typing import Any

from pickbest.core import PickbestError


def named(reference: str, kind: str) -> Any:
    """What `module:NAME` names; kind: what it is wanted as, for the error."""
    module, _, name = reference.partition(":")
    if not module or not name:
        raise PickbestError(
            f"the {kind} of your own must be written as module:NAME, got {reference!r}"
        )
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PickbestError(f"the {kind} {reference!r} cannot be imported: {error}") from error
