"""The learners of the paper's experiments under their printed labels, in three tunings."""

from __future__ import annotations

from typing import Any

from pickbest.catalog import make_learner
from pickbest.core import Learner

AS_RUN, AS_WRITTEN, OURS = "as run", "as written", "ours"
TUNINGS = (AS_RUN, AS_WRITTEN, OURS)

# Row: (catalog name, label in tables).
_ROWS = {
    "fpml": ("fpml-partial", "FPML-partial"),
    "og": ("og", "OG"),
    "exp3": ("exp3", "Exp3"),
    "uniform": ("uniform", "B distinct arms at random"),
    "thompson": ("thompson", "Thompson, top B"),
    "best": ("", "Best in hindsight"),
    "greedy": ("", "Greedy in hindsight"),
    "top": ("", "Top B in hindsight"),
}
HINDSIGHT = {"best": "best_subset", "greedy": "greedy", "top": "top"}
UNTUNED = ("uniform", "thompson")


def row_label(row: str) -> str:
    """How tables call a row.

    >>> row_label("hybrid_2x3")
    'OG_hybrid(6, 2)'
    """
    if row.startswith("hybrid"):
        slot_budget, slots = _boxes(row)
        return f"OG_hybrid({slot_budget * slots}, {slot_budget})"
    return _ROWS[row][1]


def learner_rows(budget: int) -> list[str]:
    """The tuned learners that the paper runs at a budget, in its order.

    >>> learner_rows(4)
    ['fpml', 'hybrid_2x2', 'hybrid_1x4', 'og']
    """
    if budget == 1:
        return ["fpml", "exp3"]
    boxes = [b for b in range(budget - 1, 0, -1) if budget % b == 0]
    return ["fpml", *(f"hybrid_{b}x{budget // b}" for b in boxes), "og"]


def player(row: str, tuning: str, n_arms: int, budget: int, rounds: int) -> Learner:
    """The learner of a row.

    "as run" and "as written" imply resampled weights and independent slots; "ours" has exact
    weights, distinct slots and Auer's γ.
    """
    if row in UNTUNED:
        return make_learner(_ROWS[row][0], n_arms, budget, rounds)
    name = "og-hybrid" if row.startswith("hybrid") else _ROWS[row][0]
    options: dict[str, Any] = {}
    if name == "og-hybrid":
        options["slot_budget"] = _boxes(row)[0]
    named = None if tuning == OURS else tuning.replace(" ", "_")
    return make_learner(name, n_arms, budget, rounds, named, **options)


def _boxes(row: str) -> tuple[int, int]:
    slot_budget, slots = row.removeprefix("hybrid_").split("x")
    return int(slot_budget), int(slots)
