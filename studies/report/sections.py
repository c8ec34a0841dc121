"""What only studies put on a page: sections kept as JSON, shades of a quantity, lists of words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pickbest.report.document import Block, Column, Figure, Section, Series, Table, Text, Verdict

_KINDS: dict[str, type[Block]] = {kind.__name__: kind for kind in (Text, Verdict, Table, Figure)}


def section_to_json(section: Section) -> str:
    """A section as JSON text; `section_from_json` reads it.

    >>> section = Section("s", "S", [Text("Hello."), Table("t", "T", [Column("B")], [[1]])])
    >>> section_from_json(section_to_json(section)).blocks[0]
    Text(text='Hello.')
    """
    blocks = [{"kind": type(block).__name__, **asdict(block)} for block in section.blocks]
    return json.dumps({**asdict(section), "blocks": blocks}, indent=1, allow_nan=False)


def section_from_json(text: str) -> Section:
    """The section that `section_to_json` wrote; ValueError where it did not."""
    try:
        raw = json.loads(text)
        blocks = [_block(entry) for entry in raw["blocks"]]
        return Section(raw["name"], raw["title"], blocks, raw["findings"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a section: {error!r}") from error


def _block(raw: Mapping[str, Any]) -> Block:
    fields = dict(raw)
    kind = _KINDS[fields.pop("kind")]
    if kind is Table:
        fields["columns"] = [Column(**column) for column in fields["columns"]]
        fields["marked"] = [(row, column) for row, column in fields["marked"]]
    if kind is Figure:
        fields["series"] = [Series(**series) for series in fields["series"]]
    return kind(**fields)


# Viridis, its light end darkened: all are seen on white, and on black once inverted.
SHADES = ("#440154", "#3e4a89", "#26828e", "#2a9d63", "#a07d00")


def shade(step: int, steps: int) -> str:
    """The colour of one of several steps of a quantity, dark to light.

    >>> shade(1, 3), shade(3, 3)
    ('#440154', '#2a9d63')
    """
    if steps < 2:
        return SHADES[0]
    last = len(SHADES) - 1 if steps > 4 else len(SHADES) - 2
    return SHADES[round((step - 1) * last / (steps - 1))]


def listed(items: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
