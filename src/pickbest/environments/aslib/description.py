"""What the description.txt of an ASlib scenario says."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.errors import load_extra
from pickbest.environments.aslib.arff import read_text

# Far beyond any real description: the largest has 21,000 characters.
MOST_CHARACTERS = MOST_VALUES = 1_000_000
# Version 1.0 writes a question mark as it is where YAML wants it in quotes.
BARE_QUESTION = re.compile(r"^(\s*(?:-|[^\s#'\"][^#\n]*:)[ \t]+)\?[ \t]*$", re.MULTILINE)
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
    entries: the whole file as maps, lists and text; '' where a key has no value.
    """

    path: Path
    name: str
    measures: tuple[Measure, ...]
    cutoff: float | None
    entries: dict[str, Any]

    def measure(self, name: str | None = None) -> Measure:
        """A measure by its name, or the first of a kind; the scenario's first if None."""
        named = {measure.name: measure for measure in reversed(self.measures)}
        kinds = {measure.kind: measure for measure in reversed(self.measures)}
        found = self.measures[0] if name is None else named.get(name) or kinds.get(name)
        if found is None:
            raise PickbestError(f"{self.path}: {unknown_name('measure', str(name), named)}")
        return found


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


def parse_yaml(text: str, source: str = "text") -> dict[str, Any]:
    """A map of text, lists and maps. Every scalar stays text: an algorithm may be called 1e5.

    >>> parse_yaml("a: [x, 'y, z']\\nb:\\n- 1.0e+08\\n- ?\\nc:  # none")
    {'a': ['x', 'y, z'], 'b': ['1.0e+08', '?'], 'c': ''}
    """
    yaml = load_extra("yaml", "aslib", "reading scenarios of ASlib", package="pyyaml")
    if len(text) > MOST_CHARACTERS:
        raise PickbestError(f"{source}: a description must have at most {MOST_CHARACTERS} letters")
    try:
        entries = yaml.load(BARE_QUESTION.sub(r"\1'?'", text).expandtabs(), yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise PickbestError(f"{source}{_what_is_wrong(error)}") from None
    except (RecursionError, ValueError, OverflowError) as error:
        # Nesting without end, or the number of a letter that there is not.
        raise PickbestError(f"{source}: not the YAML of a description ({error})") from error
    if entries is not None and not isinstance(entries, dict):
        raise PickbestError(f"{source}, line 1: expected 'key: value', got {text[:60]!r}")
    if _size(entries, {}) > MOST_VALUES:
        raise PickbestError(f"{source}: its aliases stand for more than {MOST_VALUES} values")
    return entries or {}


def _what_is_wrong(error: Any) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    mark, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    where = f", line {mark.line + 1}" if mark else ""
    since = f" ({error.context} that begins on line {begun.line + 1})" if begun else ""
    return f"{where}: {problem}{since}"


def _size(value: object, known: dict[int, int]) -> int:
    """How many values there are if every alias is written out."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(item, known) for item in inner)
    return known[id(value)]


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
