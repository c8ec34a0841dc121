"""Advice on budgets from journals: near the truth, and silent where it must be."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import FloatArray, PickbestError
from pickbest.portfolio import AskTell
from pickbest.portfolio.run.advise import (
    BudgetEstimate,
    Interval,
    Model,
    advise,
    sentence,
    timed_rounds,
)
from pickbest.portfolio.run.race import finished, times_of
from pickbest.portfolio.runs import Result, Run, RunStatus
from pickbest.portfolio.store.records import Entry, Opened, Picked, Roster

NAMES = ("a", "b", "c", "d")


def journal(times: FloatArray, budget: int, seed: int = 0) -> list[Entry]:
    """Races of random arms, the losers stopped; times: (rounds, arms), shares of the deadline."""
    rng = np.random.default_rng(seed)
    records: list[object] = [Opened(0, "auto"), Roster(NAMES, budget)]
    for number, row in enumerate(times):
        arms = rng.permutation(4)[:budget]
        first = min(row[arms].min(), 1.0)
        runs = []
        for arm in arms:
            if row[arm] > first:
                bounds = (float(first), 1.0)
                runs.append(Run(NAMES[arm], RunStatus.STOPPED, seconds=first, bounds=bounds))
            elif first >= 1.0:
                runs.append(Run(NAMES[arm], RunStatus.TIMEOUT, 1.0, 1.0))
            else:
                status = RunStatus.FINISHED
                runs.append(Run(NAMES[arm], status, float(first), float(first), ends_race=True))
        picked = tuple(NAMES[arm] for arm in arms)
        records.append(Picked(number, picked, None, 0.0, watched=False, watch=0.1))
        winner = next((run.arm for run in runs if run.ends_race), None)
        result = Result(number, "", winner, float(first), 0.0, None, tuple(runs))
        records.append(finished(result, times_of(runs, 1.0)))
    return [Entry(place, record) for place, record in enumerate(records, 1)]  # type: ignore[arg-type]


def two_kinds(rounds: int = 600) -> FloatArray:
    """Arms a and b answer each other's problems, c and d few."""
    rng = np.random.default_rng(1)
    left = rng.random(rounds) < 0.5
    quick, slow = rng.uniform(0.05, 0.15, (2, rounds))
    times = np.full((rounds, 4), 2.0)
    times[:, 0], times[:, 1] = np.where(left, quick, 2.0), np.where(left, 2.0, slow)
    times[:, 2:] = np.where(rng.random((rounds, 2)) < 0.2, 0.5, 2.0)
    return times


def test_estimates_are_near_the_truth_and_beside_what_was_paid() -> None:
    times = two_kinds()
    entries = journal(times, 2)
    advised = advise(entries, 2)
    assert advised.stopped > 0.1
    one, two, *_ = advised.estimates
    truth = np.minimum(times[:, :2].min(axis=1), 1.0).mean()
    assert two.arms
    assert set(two.arms) == {"a", "b"}
    assert two.cost.low - 0.05 < truth < two.cost.high + 0.05
    assert abs(one.cost.mean - np.minimum(times[:, 0], 1.0).mean()) < 0.12
    assert two.realised == pytest.approx(np.mean([e.record.cost for e in entries[3::2]]))
    assert one.realised is None
    assert "arm" in advised.advice


def test_no_arms_are_named_where_the_rounds_do_not_tell() -> None:
    alike = np.random.default_rng(2).exponential(0.5, (60, 4))
    rounds = timed_rounds(journal(alike, 2))
    assert rounds.timed
    model = Model(rounds)
    assert not model.best(1).arms
    assert not model.best(2).arms


def test_few_rounds_give_no_estimates() -> None:
    with pytest.raises(PickbestError, match="at least 5 finished rounds, got 4: play more"):
        advise(journal(two_kinds(4), 2), 2)


def test_advice_where_every_cost_was_told() -> None:
    """Nothing was stopped: the whole is what was paid, and parts are near the truth."""
    table = np.random.default_rng(1).random((200, 3)).round(2)
    with AskTell(("a", "b", "c"), 3, learner="uniform") as book:
        for row in table:
            book.tell(book.ask(), dict(zip("abc", row.tolist(), strict=True)))
        advised = advise(list(book.ledger.journal.entries()), 3)
    assert (advised.seen, advised.stopped) == (1.0, 0.0)
    assert advised.estimates[2].cost.mean == pytest.approx(table.min(axis=1).mean(), abs=0.03)
    assert advised.estimates[0].cost.mean == pytest.approx(table.mean(axis=0).min(), abs=0.1)


def made(budget: int, cost: float, processor: float, spread: float = 0.01) -> BudgetEstimate:
    around = Interval(cost, cost - spread, cost + spread)
    return BudgetEstimate(budget, around, Interval(processor, processor, processor), (), None)


def test_the_advice_is_one_sentence() -> None:
    found = [made(1, 0.6, 0.6), made(2, 0.5, 1.0), made(3, 0.4, 1.2)]
    more = "One arm more would save about 20% of the time for 20% more processor time"
    assert sentence(found, 2, True) == more
    assert "of the failures" in sentence(found, 2, False)
    alike = [made(1, 0.5, 0.5), made(2, 0.5, 1.0), made(3, 0.5, 1.5)]
    less = "One arm less would cost about as much, for 50% less processor time"
    assert sentence(alike, 2, True) == less
    unclear = [made(1, 0.9, 0.9), made(2, 0.5, 1.0), made(3, 0.49, 1.5, 0.2)]
    assert "do not tell whether one arm more" in sentence(unclear, 2, True)
    assert "too few to say" in sentence(found, 5, True)
