"""The bar of everything that takes its time: on a terminal, in a notebook, nowhere else."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from html import escape
from typing import Protocol

# A notebook redraws its bar at most so often.
REDRAW_SECONDS = 0.2


class Progress(Protocol):
    """done of total; text: what was finished last."""

    def __call__(self, done: float, total: float, text: str = "", /) -> None: ...


@contextmanager
def progress_bar(
    what: str, unseen: Progress | None = None, after: float = 0.0
) -> Iterator[Progress | None]:
    """A bar with the time left where somebody looks; else `unseen`.

    after: seconds that must pass before it is shown, so that short work shows none.
    """
    draw = _bar()
    if draw is None:
        yield unseen
        return
    with ExitStack() as stack:
        began = time.monotonic()
        bar = stack.enter_context(draw(what)) if after <= 0.0 else None

        def update(done: float, total: float, text: str = "", /) -> None:
            nonlocal bar
            if bar is None:
                if time.monotonic() - began < after:
                    return
                bar = stack.enter_context(draw(what))
            bar(done, total, text)

        yield update


def _bar() -> Callable[[str], AbstractContextManager[Progress]] | None:
    """How a bar is drawn here, if at all."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    # IPython in a terminal has no kernel: its bar is the terminal's.
    if getattr(shell, "kernel", None) is not None:
        return _in_notebook
    return _on_terminal if sys.stderr.isatty() else None


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


@contextmanager
def _in_notebook(what: str) -> Iterator[Progress]:
    from IPython.display import HTML, display

    handle = display(HTML(escape(what)), display_id=True)
    began, drawn = time.monotonic(), 0.0

    def update(done: float, total: float, text: str = "", /) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn < REDRAW_SECONDS:
            return
        drawn = now
        left = (now - began) * (total - done) / done if done else 0.0
        shown = escape(f"{what}: {text}" if text else what)
        bar = f'<progress value="{done:g}" max="{total:g}"></progress>'
        handle.update(HTML(f"{shown} {bar} {done / total:.0%}, {left:.0f} s left"))

    try:
        yield update
    finally:
        # As on a terminal, nothing is left of it.
        handle.update(HTML(""))
