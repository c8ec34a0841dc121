"""The bar on a terminal: what it says, to the letter."""

from __future__ import annotations

import io

import pytest

from pickbest.core.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_names_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brackets are no markup: what is worked on may be called anything."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("playing [bold]") as bar:
        assert bar is not None
        bar(1.0, 2.0, "[red]cnf[/red]")
    assert "playing [bold]: [red]cnf[/red]" in terminal.getvalue()
