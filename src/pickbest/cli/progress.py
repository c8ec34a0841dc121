"""The progress bar of every command that takes its time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """done of total; text: what was finished last."""

    def __call__(self, done: float, total: float, text: str = "", /) -> None: ...


@contextmanager
def progress_bar(what: str, unseen: Progress | None = None) -> Iterator[Progress | None]:
    """A bar with the time left on a terminal; `unseen` where nobody looks."""
    if not sys.stderr.isatty():
        yield unseen
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(stderr=True)
    # Evaluations may take seconds each: the speed is taken from the last ten minutes.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=600) as bar:
        task = bar.add_task(what, total=None)

        def update(done: float, total: float, text: str = "", /) -> None:
            shown = f"{what}: {text}" if text else what
            bar.update(task, completed=done, total=total, description=shown)

        yield update
