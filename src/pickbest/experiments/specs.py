"""Learners with options as text: 'og-hybrid:slot_budget=2,slots=distinct'."""

from __future__ import annotations

from typing import Any

from pickbest.core import PickbestError


def parse_learner(spec: str) -> tuple[str, dict[str, Any]]:
    """A name and its options.

    >>> parse_learner("fixed:arms=0+3")
    ('fixed', {'arms': (0, 3)})
    """
    name, _, rest = spec.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise PickbestError(f"options of a learner must be key=value, got {part!r} in {spec!r}")
        options[key.strip()] = _value(value.strip())
    return name, options


def _value(text: str) -> Any:
    if "+" in text:
        return tuple(_value(part) for part in text.split("+"))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
