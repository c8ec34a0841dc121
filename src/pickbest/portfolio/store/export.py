"""Journals as files that other tools can read, written whole or not at all.

JSON lines hold the journal itself. CSV has
one row for each run.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.codec import encode
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.portfolio.store.records import Entry, kind_of
from pickbest.portfolio.store.views import RoundView

FORMAT, VERSION = "pickbest-journal", 1
# Problems and answers are for whoever may read the journal.
PRIVATE = 0o600
FORMATS = ("jsonl", "csv")
COLUMNS = (
    "round", "problem", "at", "state", "winner", "round_cost", "learned", "contradicted",
    "arm", "won", "status", "verdict", "checked", "cost", "seconds", "value", "reason",
)  # fmt: skip


def export_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """A header, then one record a line."""
    yield json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
    for entry in entries:
        yield encode({"kind": kind_of(entry.record), "record": entry.record}) + "\n"


# Tables ---------------------------------------------------------------------------------------


def run_rows(views: Iterable[RoundView]) -> Iterator[tuple[Any, ...]]:
    """COLUMNS of each run; a round that was lost or is open has one row for each of its arms."""
    for view in views:
        of_round = (
            view.round, view.problem, view.at, view.state, view.winner, view.cost, view.learned,
            bool(view.contradictions),
        )  # fmt: skip
        for run in view.runs:
            yield (
                *of_round, run.arm, run.arm == view.winner, run.status.value, run.verdict,
                run.checked, run.cost, run.seconds, run.value, run.reason,
            )  # fmt: skip
        if not view.runs:
            for arm in view.arms:
                yield (*of_round, arm, False, None, "", False, None, None, None, view.reason)


def as_csv(views: Iterable[RoundView]) -> str:
    """The rows as text, with a header."""
    return csv_text([COLUMNS, *run_rows(views)])


def chosen_format(form: str | None, out: Path | None) -> str:
    """What was asked for, else what the file's name says, else the journal itself."""
    suffix = "" if out is None else out.suffix.removeprefix(".")
    chosen = form or (suffix if suffix in FORMATS else "jsonl")
    if chosen not in FORMATS:
        raise unknown_name("format", chosen, FORMATS)
    return chosen


def write_file(content: str, out: Path) -> None:
    """Write a journal or its rows to a file, whole or not at all."""
    try:
        write_atomically(out, content.encode(errors="replace"), PRIVATE)
    except OSError as error:
        raise PickbestError(f"{out}: cannot be written ({error.strerror})") from error
