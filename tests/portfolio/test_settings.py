"""One list of settings, and public names that tell the truth."""

from __future__ import annotations

import pytest

import pickbest.portfolio
from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, Portfolio, RaceSettings


def test_settings_are_taken_whole_or_one_by_one() -> None:
    settings = RaceSettings(learner="thompson", seed=3, stop="deadline")
    with Portfolio({"a": ["true"], "b": ["true"]}, 1, 9.0, settings=settings, seed=4) as portfolio:
        status = portfolio.status()
        assert (status.learner, status.seed) == ("thompson", 4)
        ticket = portfolio.ask("p")
        assert ticket.watched
        assert portfolio.open_tickets == (ticket,)
        portfolio.forget(ticket)
        assert portfolio.open_tickets == ()
    with AskTell(["a", "b"], 1, settings=settings) as book:
        assert book.status().seed == 3
    with pytest.raises(PickbestError, match="unknown setting 'engine'"):
        AskTell(["a", "b"], 1, engine="local")
    with pytest.raises(PickbestError, match="did you mean 'deadline'"):
        AskTell(["a", "b"], 1, stop="deadlin")


def test_every_public_name_exists_and_nothing_else_is_listed() -> None:
    names = pickbest.portfolio.__all__
    assert dir(pickbest.portfolio) == sorted(names)
    for name in names:
        assert getattr(pickbest.portfolio, name).__name__ == name
    assert pickbest.Ticket is pickbest.portfolio.Ticket
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pickbest.portfolio.nothing
