"""The progress bar of everything that takes its time, shown on a terminal and nowhere else."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

# Shorter work shows no bar.
QUIET_SECONDS = 2.0

# Called with (done, total).
OnStep = Callable[[int, int], None]


class Progress(Protocol):
    """done of total; text: what was finished last."""

    def __call__(self, done: float, total: float, text: str = "", /) -> None: ...


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A bar with the time left if standard error is a terminal, and the work is not short."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        began = time.monotonic()
        bar: Progress | None = None

        def update(done: float, total: float, text: str = "", /) -> None:
            nonlocal bar
            if bar is None and time.monotonic() - began >= QUIET_SECONDS:
                bar = stack.enter_context(_on_terminal(what))
            if bar is not None:
                bar(done, total, text)

        yield update


@contextmanager
def _on_terminal(what: str) -> Iterator[Progress]:
    from rich import progress as shown
    from rich.console import Console

    columns = (
        shown.TextColumn("{task.description}", markup=False),
        shown.BarColumn(),
        shown.TaskProgressColumn(),
        shown.TimeElapsedColumn(),
        shown.TextColumn("left"),
        shown.TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(stderr=True)
    # Evaluations may take seconds each: the speed is taken from the last ten minutes.
    with shown.Progress(
        *columns, console=console, transient=True, speed_estimate_period=600
    ) as bar:
        task = bar.add_task(what, total=None)

        def update(done: float, total: float, text: str = "", /) -> None:
            named = f"{what}: {text}" if text else what
            bar.update(task, completed=done, total=total, description=named)

        yield update
