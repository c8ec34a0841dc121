"""Work spread over processes, what is left when nobody wants more, and the bar that shows it."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

from pickbest.core.progress import progress_bar
from pickbest.core.workers import each_finished


def square(number: int) -> int:
    return number * number


def sleep_unless_first(number: int) -> int:
    if number:
        time.sleep(60.0)
    return number


def refuse_two(number: int) -> int:
    if number == 2:
        raise ValueError("two is not welcome")
    return number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def seconds(number: int) -> float:
    return float(-number)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_item_comes_back_with_its_result(workers: int) -> None:
    squares = {number: number**2 for number in range(5)}
    assert dict(each_finished(square, range(5), workers, seconds)) == squares


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_work_comes_through(workers: int) -> None:
    with pytest.raises(ValueError, match="two is not welcome"):
        dict(each_finished(refuse_two, range(4), workers, seconds))


def test_a_killed_worker_is_an_error_not_a_hang() -> None:
    with pytest.raises(BrokenProcessPool):
        dict(each_finished(die, range(4), 2, seconds))


def test_who_stops_asking_ends_the_processes_at_once() -> None:
    finished = each_finished(sleep_unless_first, range(4), 2, seconds)
    assert next(finished) == (0, 0)
    began = time.monotonic()
    finished.close()
    assert time.monotonic() - began < 20.0
    assert not multiprocessing.active_children()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brackets are no markup: what is worked on may be called anything."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("short") as bar:
        assert bar is not None
        bar(1.0, 2.0)
    assert "short" not in terminal.getvalue()
    monkeypatch.setattr("pickbest.core.progress.QUIET_SECONDS", 0.0)
    with progress_bar("playing [bold]") as bar:
        assert bar is not None
        bar(1.0, 2.0, "[red]cnf[/red]")
    assert "playing [bold]: [red]cnf[/red]" in terminal.getvalue()
