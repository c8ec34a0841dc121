"""Rounds as a table: one row for each run, for spreadsheets and data frames."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pickbest.core import MissingExtraError, PickbestError, unknown_name
from pickbest.core.errors import load_extra
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.portfolio.store.views import RoundView

if TYPE_CHECKING:
    from pandas import DataFrame

FORMATS = ("jsonl", "csv", "parquet")
COLUMNS = (
    "round", "problem", "at", "state", "winner", "round_cost", "learned", "contradicted",
    "arm", "won", "status", "verdict", "checked", "cost", "seconds", "value", "reason",
)  # fmt: skip


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


def to_pandas(views: Iterable[RoundView]) -> DataFrame:
    """The rows as a data frame; `at` is a time."""
    pandas = load_extra("pandas", "data", "a data frame")
    frame: DataFrame = pandas.DataFrame(run_rows(views), columns=list(COLUMNS))
    frame["at"] = pandas.to_datetime(frame["at"], unit="s", utc=True)
    return frame


def as_csv(views: Iterable[RoundView]) -> str:
    """The rows as text, with a header."""
    return csv_text([COLUMNS, *run_rows(views)])


def chosen_format(form: str | None, out: Path | None) -> str:
    """What was asked for, else what the file's name says, else the journal itself."""
    suffix = "" if out is None else out.suffix.removeprefix(".")
    chosen = form or (suffix if suffix in FORMATS else "jsonl")
    if chosen not in FORMATS:
        raise unknown_name("format", chosen, FORMATS)
    if chosen == "parquet" and out is None:
        raise PickbestError("parquet cannot be printed: give a file with --out")
    return chosen


def write_table(views: Iterable[RoundView], form: str, out: Path) -> None:
    """Write the rows to a file, whole or not at all."""
    content = _as_parquet(views) if form == "parquet" else as_csv(views).encode(errors="replace")
    try:
        write_atomically(out, content)
    except OSError as error:
        raise PickbestError(f"{out}: cannot be written ({error.strerror})") from error


def _as_parquet(views: Iterable[RoundView]) -> bytes:
    frame = to_pandas(views)
    for name in ("problem", "arm", "reason"):  # names that are not UTF-8 cannot be stored
        frame[name] = [str(text).encode(errors="replace").decode() for text in frame[name]]
    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
    except ImportError as error:
        raise MissingExtraError("pyarrow", "data", "Parquet") from error
    return content.getvalue()
