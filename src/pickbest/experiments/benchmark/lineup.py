"""The learners of the benchmark, as data: one setting each, the same in all worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pickbest.catalog import feedback_of, learner_names, make_learner
from pickbest.core import (
    Environment,
    Feedback,
    Learner,
    PickbestError,
    unknown_name,
)

YARDSTICK = "fpml-partial as run"
AUTO = "auto"
# In the paper's own settings, beside the catalog's defaults.
AS_RUN = {YARDSTICK: "fpml-partial", "og as run": "og"}
# It plays the first arms of the table, whatever they are.
LEFT_OUT = ("fixed",)


@dataclass(frozen=True)
class Entry:
    """A row of the benchmark: a learner of the catalog with options, under a label."""

    label: str
    learner: str
    options: Mapping[str, Any] = field(default_factory=dict)


def all_entries(full: bool = False) -> list[Entry]:
    """Every learner of the catalog, and the paper's as run; with `full`, those that see all.

    >>> [entry.label for entry in all_entries()][:2]
    ['fpml-partial as run', 'og as run']
    """
    entries = [Entry(label, name, {"tuning": "as_run"}) for label, name in AS_RUN.items()]
    for name in learner_names():
        if name in LEFT_OUT or (feedback_of(name) is Feedback.FULL and not full):
            continue
        entries.append(Entry(name, name))
    return entries


def chosen_entries(labels: Sequence[str], full: bool = False) -> list[Entry]:
    """The entries with these labels; all where none is named."""
    entries = {entry.label: entry for entry in all_entries(full or bool(labels))}
    for label in labels:
        if label not in entries:
            raise unknown_name("learner", label, entries)
    return [entry for label, entry in entries.items() if not labels or label in labels]


def player(entry: Entry, environment: Environment, budget: int) -> Learner | None:
    """The learner, told the world's number of rounds; None where it cannot play the budget."""
    try:
        return make_learner(
            entry.learner, environment.n_arms, budget, environment.rounds, **entry.options
        )
    except PickbestError:
        return None
