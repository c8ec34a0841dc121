"""What is learned: censored runs, and arms that come and go."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    PickbestError,
    State,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import Kind, arrays_of, copy_state, fields
from pickbest.experiments.races import compare, race, read_runtimes
from pickbest.kernels.pairs import PairsState
from pickbest.portfolio import AskTell
from pickbest.portfolio.censoring import Stopping, learned_costs
from pickbest.portfolio.costs import Runtime, Solved
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.state.learner_states import carried, pick_shares

SEEN = Run("a", RunStatus.FINISHED, 0.2, 1.0)
UNSEEN = Run("b", RunStatus.STOPPED, None, 1.0, bounds=(0.1, 1.0))
ARMS = ("a", "b", "c", "d", "e")


def test_what_stands_in_for_an_unknown_cost() -> None:
    runs = [SEEN, UNSEEN]
    assert learned_costs(runs, Stopping.of("first", "optimistic", 0.5), False) == ((0.2, 0.1), 1.0)
    assert learned_costs(runs, Stopping.of("first", "pessimistic", 0.5), False) == ((0.2, 1.0), 1.0)
    watch = Stopping.of("first", "watch", 0.5)
    assert learned_costs(runs, watch, True) == (None, 1.0)
    assert learned_costs([SEEN, SEEN], watch, True) == ((0.2, 0.2), 2.0)
    assert learned_costs([SEEN, SEEN], watch, False) == (None, 1.0)
    assert learned_costs([SEEN, SEEN], Stopping.of("deadline", "watch", 0.5), True)[1] == 1.0


def test_watched_rounds_keep_estimates_unbiased() -> None:
    """Slow arms are the ones that get stopped, and still every estimate has the right mean."""
    times = np.array([1.0, 4.0, 9.0, 20.0])
    deadline, cost = 10.0, Runtime()
    stopping = Stopping.of("first", "watch", 0.25)
    learner = make_learner("fpml-partial", 4, 2, rounds=100)
    state = learner.start(1)
    state.costs[0] = [3.0, 2.0, 0.0, 5.0]
    keys, watch_keys = replicate_keys(3, 1), replicate_keys(3, 1, stream=3)
    rounds = 8_000
    estimates = np.zeros((rounds, 4))
    for number in range(rounds):
        choice = learner.pick(state, rng_for(keys, number))
        watched = rng_for(watch_keys, number).uniforms(1)[0, 0] < 0.25
        runs = race(times[choice.arms[0]], deadline, cost, stopping, bool(watched))
        costs, scale = learned_costs(runs, stopping, bool(watched))
        if costs is not None and choice.weights is not None:
            estimates[number, choice.arms[0]] = choice.weights[0] * scale * np.array(costs)
    error = estimates.std(axis=0, ddof=1) / np.sqrt(rounds)
    expected = np.array([0.1, 0.4, 0.9, 1.0])
    assert np.all(np.abs(estimates.mean(axis=0) - expected) < 6.0 * error)


def test_a_replayed_race_sees_what_a_live_one_would() -> None:
    first, second = race([2.0, 7.0], 10.0, Runtime(), Stopping.of("first", "watch", 0.5), False)
    assert (first.cost, second.cost, second.low, second.seconds) == (0.2, None, 0.2, 2.0)
    first, second = race([2.0, 7.0], 10.0, Runtime(), Stopping.of("first", "watch", 0.5), True)
    assert (first.cost, second.cost) == (0.2, 0.7)
    first, second = race([np.inf, 12.0], 10.0, Solved(), Stopping.of("first", "watch", 0.5), False)
    assert (first.cost, second.cost, first.seconds) == (1.0, 1.0, 10.0)


def test_the_study_ranks_policies_between_random_and_best(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    runtimes = rng.exponential([1.0, 30.0, 30.0, 30.0, 30.0], (600, 5))
    rows = {row.policy: row for row in compare(runtimes, 5.0, 2, "solved", replicates=3)}
    best, worst = rows["best fixed subset"].cost, rows["random subsets"].cost
    for policy in ("deadline", "first, pessimistic", "first, watch 1/4"):
        assert best - 0.02 < rows[policy].cost < worst
    assert rows["first, pessimistic"].cpu_seconds < rows["deadline"].cpu_seconds
    table = tmp_path / "runtimes.csv"
    table.write_text("problem,x,y\np1,0.5,\np2,1.5,2.5\n")
    names, read = read_runtimes(table)
    assert names == ["x", "y"]
    assert read.tolist() == [[0.5, np.inf], [1.5, 2.5]]
    table.write_text("problem,x,y\np1,0.5,fast\n")
    with pytest.raises(PickbestError, match="must be numbers or empty"):
        read_runtimes(table)


# Arms that come and go ------------------------------------------------------------------------


def learned(name: str, played: int = 200, **options: object) -> tuple[AskTell, dict[str, float]]:
    """A book that knows arms a to e; a and b are good."""
    costs = dict(zip(ARMS, (0.1, 0.15, 0.8, 0.9, 0.95), strict=True))
    book = AskTell(ARMS, 2, learner=name, **options)  # type: ignore[arg-type]
    for _ in range(played):
        ticket = book.ask()
        book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    return book, costs


@pytest.mark.parametrize(
    "name", ["auto", "fpml-partial", "thompson", "og-hybrid", "exp3-m", "ucb", "pairwise"]
)
def test_arms_keep_what_is_known_of_them(name: str) -> None:
    book, _ = learned(name)
    held = arrays_of(copy_state(book.ledger.state.live.state))
    book.add_arm("f")
    book.remove_arm("c")
    stay = [0, 1, 3, 4]
    for path, array, field in fields(book.ledger.state.live.state):
        if field.arm_axes == (-1,) and field.kind is not Kind.DERIVED:
            kept = held[path][..., stay]
            assert np.allclose(array[..., :4], kept, rtol=1e-12, atol=1e-12)
    assert book.ledger.state.live.arms == ("a", "b", "d", "e", "f")
    book.verify()
    book.close()


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


def test_a_paused_arm_comes_back_where_it_stood() -> None:
    book, costs = learned("fpml-partial", 300, rounds=800)
    state = book.ledger.state.live.state.costs.copy()
    book.pause_arm("a")
    book.resume_arm("a")
    assert np.array_equal(book.ledger.state.live.state.costs, state)
    book.pause_arm("a")
    assert book.ledger.state.live.arms == ("b", "c", "d", "e")
    for _ in range(50):
        ticket = book.ask()
        assert "a" not in ticket.arms
        book.tell(ticket, {arm: costs[arm] for arm in ticket.arms})
    assert {arm.name: arm.state for arm in book.status().arms}["a"] == "paused"
    book.resume_arm("a")
    again = book.ledger.state.live.state.costs
    # It was charged what the picked arms cost in the 50 rounds: b and one of the bad ones.
    assert 50 * 0.15 < again[0, 0] - state[0, 0] < 50 * 0.95
    assert np.all(again[0, 0] < again[0, 2:])
    book.verify()
    book.close()


def test_results_of_arms_that_left_stay_in_the_journal_only() -> None:
    book, costs = learned("fpml-partial", 10)
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
    book, _ = learned("fpml-partial", 3)
    records = len(book.ledger.entries())
    for change, argument, message in (
        (book.add_arm, "a", "is in the portfolio already"),
        (book.add_arm, "", "text of 1 to 200 characters"),
        (book.remove_arm, "aa", "unknown arm 'aa'; did you mean 'a'"),
        (book.pause_arm, "z", "unknown arm 'z'"),
    ):
        with pytest.raises(PickbestError, match=message):
            change(argument)
    for arm in ("a", "b", "c"):
        book.pause_arm(arm)
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=1, got 2"):
        book.pause_arm("d")
    assert len(book.ledger.entries()) == records + 3
    book.verify()
    book.close()


def test_a_change_that_the_learner_cannot_follow_is_refused_before_it_is_written() -> None:
    book = AskTell(ARMS, 2, learner="fixed", learner_options={"arms": [3, 4]})
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
        learner.start(1), Choice(np.array([[0]]), np.array([[1.0]])), np.array([[0.5]])
    )
    grown = carried(make, state, ["a"], ["b", "a"], {})
    assert grown.costs.tolist() == [[0.5, 0.5]]
    assert grown.round.tolist() == [1]
    assert pick_shares(make(2), grown).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["auto", "pairwise"])
def test_arms_come_and_go_where_pairs_are_too_many_to_keep(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three arms there are pairs, with four there are none; arms keep what is theirs."""
    monkeypatch.setattr("pickbest.kernels.pairs.MOST_PAIRED", 3)

    def make(n_arms: int):  # type: ignore[no-untyped-def]
        return make_learner(name, n_arms, 2)

    def pairs_of(state: State) -> PairsState:
        return state.pairs if name == "auto" else state

    learner, archive = make(3), {}
    choice = Choice(np.array([[0, 2]]), np.ones((1, 2)))
    few = learner.learn(learner.start(1), choice, np.array([[0.5, 0.25]]))
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
