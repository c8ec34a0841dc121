"""Cheap features of a CNF in DIMACS format: sizes, ratios, and the shapes of its clauses."""

from __future__ import annotations

from pathlib import Path

from pickbest.core.features import Feature
from pickbest.portfolio.features.reading import lines, place_of


def dimacs(path: Path, until: float) -> dict[str, Feature]:
    """Shapes are those of the clauses read until then: a clause a line, as solvers write them."""
    variables = clauses = None
    lengths = {"unit": 0, "binary": 0, "ternary": 0, "longer": 0}
    seen = literals = positive = horn = 0
    for line in lines(path, until):
        words = line.split()
        if not words or words[0] == b"c":
            continue
        if words[0] == b"p":
            if len(words) >= 4 and words[2].isdigit() and words[3].isdigit():
                variables, clauses = int(words[2][:18]), int(words[3][:18])
            continue
        if words[0] == b"%":
            break
        clause = [word for word in words if word != b"0"]
        above = sum(not word.startswith(b"-") for word in clause)
        lengths[("longer", "unit", "binary", "ternary")[len(clause) if len(clause) < 4 else 0]] += 1
        seen, literals, positive = seen + 1, literals + len(clause), positive + above
        horn += above <= 1
    shares = {f"{name}_share": number / seen if seen else None for name, number in lengths.items()}
    return {
        **place_of(path),
        "variables": variables,
        "clauses": clauses,
        "clauses_per_variable": clauses / variables if clauses and variables else None,
        "mean_length": literals / seen if seen else None,
        "positive_share": positive / literals if literals else None,
        "horn_share": horn / seen if seen else None,
        **shares,
    }
