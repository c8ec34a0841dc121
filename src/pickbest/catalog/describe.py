"""Learners and environments as plain data, and learners back from it."""

import dataclasses
import hashlib
import typing
from enum import Enum
from typing import Any

import numpy as np

from pickbest.catalog.learners import learner_kind
from pickbest.core import Learner, PickbestError, check_budget, is_learner


def describe(thing: object) -> Any:
    """A learner, an environment or one of their fields as JSON-ready data.

    >>> from pickbest.learners import Uniform
    >>> describe(Uniform(n_arms=4, budget=2))
    {'kind': 'Uniform', 'n_arms': 4, 'budget': 2}
    """
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        # What has no place in a repr (names of rows, caches) is not needed to run it again.
        shown = [f.name for f in dataclasses.fields(thing) if f.repr]
        fields = {name: describe(getattr(thing, name)) for name in shown}
        return {"kind": type(thing).__name__, **fields}
    if isinstance(thing, Enum):
        return thing.value
    if isinstance(thing, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
        return {"kind": "array", "shape": list(thing.shape), "sha256": digest}
    if isinstance(thing, tuple | list):
        return [describe(item) for item in thing]
    if isinstance(thing, np.generic):
        return thing.item()
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    return {"kind": type(thing).__name__}


def rebuild(description: Any) -> Learner:
    """The learner that `describe` described."""
    try:
        built = _rebuilt(description)
        if is_learner(built):
            # A wrapper knows these only of what it wraps, which may be no learner.
            check_budget(built.budget, built.n_arms)
            return built
    except PickbestError:
        raise
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PickbestError(f"a learner cannot be rebuilt from its description: {error}") from error
    raise PickbestError(f"not the description of a learner: {description!r}")


def _rebuilt(description: Any) -> Any:
    if isinstance(description, list):
        return tuple(_rebuilt(item) for item in description)
    if not isinstance(description, dict):
        return description
    kind = learner_kind(str(description.get("kind")))
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in description.items():
        if name == "kind":
            continue
        hint = hints.get(name)
        is_enum = isinstance(hint, type) and issubclass(hint, Enum)
        values[name] = hint(value) if is_enum else _rebuilt(value)  # type: ignore[misc]
    try:
        return kind(**values)
    except TypeError as error:
        raise PickbestError(f"{kind.__name__} cannot be rebuilt: {error}") from error
