"""Options that are a choice between a few words."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from pickbest.core import unknown_name

Member = TypeVar("Member", bound=Enum)


class Perturbations(Enum):
    """Whether FPML draws its noise anew in every round or once."""

    FRESH = "fresh"
    FIXED = "fixed"


class PartialSelection(Enum):
    """How fpml-partial finds its arms: a pass over all, or buckets of similar weight."""

    ONE_PASS = "one-pass"
    BUCKETS = "buckets"


class FullSelection(Enum):
    """How fpml finds its arms: a pass over all, or only the blocks that may hold a leader."""

    ONE_PASS = "one-pass"
    BLOCKS = "blocks"


class Filling(Enum):
    """Whether slots leave out the arms of earlier slots."""

    DISTINCT = "distinct"
    INDEPENDENT = "independent"


def member(kind: type[Member], name: str, value: str | Member) -> Member:
    """The member of an enum that a string names."""
    try:
        return kind(value)
    except ValueError:
        known = [choice.value for choice in kind]
        raise unknown_name(name, str(value), known) from None
