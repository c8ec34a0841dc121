"""What the description.txt of an ASlib scenario says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.environments.aslib.arff import read_text
from pickbest.environments.aslib.yaml_text import parse_yaml

RUNTIME, QUALITY = "runtime", "quality"
NOTHING = frozenset({"", "?", "~", "null", "none", "na"})
TRUE, FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class Measure:
    """A performance measure. kind: 'runtime' or 'quality'."""

    name: str
    kind: str
    maximize: bool


@dataclass(frozen=True)
class Description:
    """What a description says.

    cutoff: of runtimes; None where the file gives none (or 0).
    entries: the whole file as maps, lists and text.
    """

    path: Path
    name: str
    measures: tuple[Measure, ...]
    cutoff: float | None
    entries: dict[str, Any]

    def measure(self, name: str | None = None) -> Measure:
        """A measure by its name, or the first of a kind; the scenario's first if None."""
        if name is None:
            return self.measures[0]
        for measure in self.measures:
            if measure.name == name:
                return measure
        for measure in self.measures:
            if measure.kind == name:
                return measure
        known = [measure.name for measure in self.measures]
        raise PickbestError(f"{self.path}: {unknown_name('measure', name, known)}")


def read_description(path: Path) -> Description:
    """Read a description.txt of any version of the format."""
    entries = parse_yaml(read_text(path), str(path))
    names = _texts(entries.get("performance_measures"))
    if not names:
        raise PickbestError(f"{path}: performance_measures must name at least one measure")
    types = _each(entries, "performance_type", names, RUNTIME, path)
    flags = [_flag(text, path) for text in _each(entries, "maximize", names, "false", path)]
    measures = tuple(
        # A runtime that is better when it is longer is a quality, whatever the file calls it.
        Measure(name, RUNTIME if kind.lower() == RUNTIME and not flag else QUALITY, flag)
        for name, kind, flag in zip(names, types, flags, strict=True)
    )
    name = next(iter(_texts(entries.get("scenario_id"))), path.parent.resolve().name)
    return Description(path, name, measures, _cutoff(entries, path), entries)


def _each(
    entries: dict[str, Any], key: str, measures: list[str], default: str, path: Path
) -> list[str]:
    """One value a measure; a single one holds for all."""
    values = _texts(entries.get(key)) or [default]
    if len(values) == 1:
        values *= len(measures)
    if len(values) != len(measures):
        raise PickbestError(
            f"{path}: {key} must have one value for each of {len(measures)} "
            f"performance_measures, got {len(values)}"
        )
    return values


def _texts(value: object) -> list[str]:
    """A list, or, as in version 1.0, text with commas."""
    items = value if isinstance(value, list) else str(value or "").split(",")
    texts = [str(item or "").strip() for item in items]
    return [text for text in texts if text.lower() not in NOTHING]


def _flag(text: str, path: Path) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise PickbestError(f"{path}: maximize must be true or false, got {text!r}")
    return text.lower() in TRUE


def _cutoff(entries: dict[str, Any], path: Path) -> float | None:
    texts = _texts(entries.get("algorithm_cutoff_time"))
    if not texts:
        return None
    try:
        cutoff = float(texts[0])
    except ValueError:
        raise PickbestError(
            f"{path}: algorithm_cutoff_time must be a number or ?, got {texts[0]!r}"
        ) from None
    return cutoff if 0.0 < cutoff < float("inf") else None
