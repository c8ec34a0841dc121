"""What is learned: censored runs, and arms that come and go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import Choice, Learner, PickbestError, Seen
from pickbest.core.states import same_state
from pickbest.learners.auto.learner import AutoState
from pickbest.learners.auto.sets import PairsState
from pickbest.portfolio import AskTell
from pickbest.portfolio.run.race import finished, times_of
from pickbest.portfolio.runs import Result, Run, RunStatus
from pickbest.portfolio.store.learner_states import carried, pick_shares

SEEN = Run("a", RunStatus.FINISHED, 0.2, 1.0)
UNSEEN = Run("b", RunStatus.STOPPED, None, 1.0, bounds=(0.1, 1.0))
ARMS = ("a", "b", "c", "d", "e")


def test_what_is_taught_of_a_run_that_was_stopped_is_an_interval() -> None:
    result = Result(3, "p", "a", 0.2, 1.0, None, (SEEN, UNSEEN))
    record = finished(result, [0.1, 0.1])
    assert (record.low, record.high, record.times) == ((0.2, 0.1), (0.2, 1.0), (0.1, 0.1))


def test_when_arms_answered_is_a_share_of_the_deadline() -> None:
    answered = replace(SEEN, ends_race=True)
    crashed = Run("c", RunStatus.CRASHED, 1.0, 0.5)
    assert times_of([answered, UNSEEN, crashed, SEEN], 4.0) == (0.25, 0.25, 1.0, 1.0)


# Arms that come and go ------------------------------------------------------------------------


def learned(name: str, played: int = 200, **options: object) -> tuple[AskTell, dict[str, float]]:
    """A book that knows arms a to e; a and b are good."""
    costs = dict(zip(ARMS, (0.1, 0.15, 0.8, 0.9, 0.95), strict=True))
    book = AskTell(ARMS, 2, learner=name, **options)  # type: ignore[arg-type]
    for _ in range(played):
        ticket = book.ask()
        book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    return book, costs


def test_a_new_arm_starts_level_with_the_trusted_ones() -> None:
    book, _ = learned("fpml-partial", 400, rounds=800)
    before = book.status()
    trusted = {arm.name: arm.share for arm in before.arms}
    assert trusted["a"] > 0.8
    book.add_arm("f")
    after = {arm.name: arm.share for arm in book.status().arms}
    assert after["f"] > 0.3, "a new arm must get its chance at once"
    assert after["a"] > 0.3, "a new arm must not push out those that are known to be good"
    assert after["e"] < 0.2, "bad arms stay bad"
    book.close()


@pytest.mark.parametrize(("cost", "chosen"), [(0.0, True), (1.0, False)])
def test_a_new_arm_rises_if_it_is_good_and_falls_if_it_is_bad(cost: float, chosen: bool) -> None:
    book, costs = learned("fpml-partial", 300, rounds=800)
    book.add_arm("f")
    costs["f"] = cost
    for _ in range(300):
        ticket = book.ask()
        book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    share = {arm.name: arm.share for arm in book.status().arms}["f"]
    assert share > 0.6 if chosen else share < 0.2
    book.close()


def test_a_removed_arm_comes_back_where_it_stood() -> None:
    book, costs = learned("fpml-partial", 300, rounds=800)
    state = book.ledger.state.live.state.inner.costs.copy()
    book.remove_arm("a")
    book.add_arm("a")  # the last one now
    assert np.array_equal(np.roll(book.ledger.state.live.state.inner.costs, 1), state)
    book.remove_arm("a")
    assert book.ledger.state.live.arms == ("b", "c", "d", "e")
    for _ in range(50):
        ticket = book.ask()
        assert "a" not in ticket.arms
        book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    assert {arm.name: arm.state for arm in book.status().arms}["a"] == "removed"
    book.add_arm("a")
    again = book.ledger.state.live.state.inner.costs
    # It was charged what the picked arms cost in the 50 rounds: b and one of the bad ones.
    assert 50 * 0.15 < again[0, 4] - state[0, 0] < 50 * 0.95
    assert np.all(again[0, 4] < again[0, 1:4])
    book.verify()
    book.close()


def test_results_of_arms_that_left_stay_in_the_journal_only() -> None:
    book, costs = learned("fpml-partial", 10, rounds=800)
    tickets = book.ask_many([""] * 8)
    ticket = next(ticket for ticket in tickets if "a" in ticket.arms)
    other = next(each for each in tickets if "a" not in each.arms)
    book.remove_arm("a")
    learned_before = book.status().learned
    book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    assert book.status().learned == learned_before
    book.tell(other, {arm: costs[arm] for arm in other.arms})
    assert book.status().learned == learned_before + 1
    assert book.history()[ticket.round].state == "finished"
    assert {arm.name: arm.state for arm in book.status().arms}["a"] == "removed"
    book.verify()
    book.close()


def test_bad_changes_are_refused_and_change_nothing() -> None:
    book, _ = learned("fpml-partial", 3, rounds=800)
    records = len(list(book.ledger.journal.entries()))
    for change, argument, message in (
        (book.add_arm, "a", "arms must have different names"),
        (book.add_arm, "", "text of 1 to 200 characters"),
        (book.remove_arm, "aa", "unknown arm 'aa'; did you mean 'a'"),
    ):
        with pytest.raises(PickbestError, match=message):
            change(argument)
    for arm in ("a", "b", "c"):
        book.remove_arm(arm)
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=1, got 2"):
        book.remove_arm("d")
    assert len(list(book.ledger.journal.entries())) == records + 3
    book.verify()
    book.close()


def test_a_change_that_the_learner_cannot_follow_is_refused_before_it_is_written() -> None:
    book = AskTell(ARMS, 2, learner={"name": "fixed", "arms": [3, 4]})
    with pytest.raises(PickbestError, match="arms must be distinct and between 0 and 3"):
        book.remove_arm("a")
    assert book.ask().arms == ("d", "e")
    assert book.ledger.state.live.arms == ARMS
    book.verify()
    book.close()


def test_axes_of_arms_are_declared() -> None:
    """Also when the number of arms happens to equal another size of the state."""

    def make(n_arms: int):  # type: ignore[no-untyped-def]
        return make_learner("fpml-partial", n_arms, 1, rounds=50)

    learner = make(1)
    state = learner.learn(
        learner.start(1), Choice(np.array([[0]]), np.array([[1.0]])), Seen.of(np.array([[0.5]]))
    )
    grown = carried(make, state, ["a"], ["b", "a"], {})
    assert grown.costs.tolist() == [[0.5, 0.5]]
    assert grown.round.tolist() == [1]
    assert pick_shares(make(2), grown).sum() == pytest.approx(1.0)


def test_a_learner_of_another_kind_begins_again() -> None:
    def make(n_arms: int) -> Learner:
        return make_learner("thompson" if n_arms < 3 else "fpml-partial", n_arms, 1, 100)

    state = make(2).learn(
        make(2).start(1), Choice(np.array([[0]]), np.array([[1.0]])), Seen.of(np.array([[0.5]]))
    )
    grown = carried(make, state, ["a", "b"], ["a", "b", "c"], {})
    assert same_state(grown, make(3).start(1))


def test_arms_come_and_go_where_pairs_are_too_many_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """With three arms there are pairs, with four there are none; arms keep what is theirs."""
    monkeypatch.setattr("pickbest.learners.auto.sets.MOST_PAIRED", 3)

    def make(n_arms: int):  # type: ignore[no-untyped-def]
        return make_learner("auto", n_arms, 2)

    def pairs_of(state: AutoState) -> PairsState:
        return state.sets.pairs

    learner, archive = make(3), {}
    choice = Choice(np.array([[0, 2]]), np.ones((1, 2)))
    few = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.5, 0.25]])))
    many = carried(make, few, ["a", "b", "c"], ["a", "b", "c", "d"], archive)
    assert pairs_of(many).plays[0, 0].tolist() == [1, 0, 1, 0]
    assert pairs_of(many).gains.size == 0
    back = carried(make, many, ["a", "b", "c", "d"], ["c", "d", "a"], archive)
    assert pairs_of(back).plays[0, 0].tolist() == [1, 0, 1]
    assert pairs_of(back).together.shape[-2:] == (3, 3)
    assert not pairs_of(back).together.any()
    again = carried(make, back, ["c", "d", "a"], ["c", "b", "a"], archive)
    assert pairs_of(again).plays[0, 0].tolist() == [1, 0, 1]
    assert pick_shares(make(3), again).sum() == pytest.approx(2.0)
