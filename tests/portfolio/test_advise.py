"""What a larger or smaller budget would have gained: exact where it is known, else a bracket."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell
from pickbest.portfolio.run.advise import advise, seen_costs


def test_advice_is_exact_where_every_cost_was_seen() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((60, 3)).round(2)
    book = AskTell(("a", "b", "c"), 3)
    for row in table:
        ticket = book.ask()
        book.tell(ticket, dict(zip("abc", row.tolist(), strict=True)))
    arms, costs, _ = seen_costs(list(book.ledger.journal.entries()))
    assert np.array_equal(costs[:, [arms.index(arm) for arm in "abc"]], table)
    advised = advise(list(book.ledger.journal.entries()), 3)
    (rows,) = advised.fills.values()
    assert advised.seen == 1.0
    assert rows[2].best_subset == pytest.approx(table.min(axis=1).mean())
    assert rows[0].best_subset == pytest.approx(table.mean(axis=0).min())
    assert all(row.promise >= row.best_subset for row in rows)
    book.close()


def test_advice_brackets_the_truth_where_costs_are_missing() -> None:
    rng = np.random.default_rng(2)
    hardness = rng.random((400, 1))
    table = np.clip(0.5 * hardness + 0.5 * rng.random((400, 4)), 0.0, 1.0)
    book = AskTell(("a", "b", "c", "d"), 2, learner="uniform")
    for begin in range(0, 400, 50):
        tickets = book.ask_many([""] * 50)
        book.tell_many(
            (ticket, [table[begin + n, "abcd".index(arm)] for arm in ticket.arms])
            for n, ticket in enumerate(tickets)
        )
    advised = advise(list(book.ledger.journal.entries()), 2)
    assert advised.seen == pytest.approx(0.5)
    truth = table.min(axis=1).mean()
    independent, alike = advised.fills["independent"][3], advised.fills["alike"][3]
    assert independent.best_subset - 0.03 < truth < alike.best_subset + 0.03
    book.close()


def test_advice_needs_rounds() -> None:
    book = AskTell(("a", "b"), 1)
    with pytest.raises(PickbestError, match="play more"):
        advise(list(book.ledger.journal.entries()), 1)
    book.close()
