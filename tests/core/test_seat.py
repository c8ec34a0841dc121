"""The seat: one way to pick and learn, features that are refused by name, what a learner lacks."""

from dataclasses import dataclass

import numpy as np
import pytest

from pickbest.core import Choice, Feedback, PickbestError, Seat, Seen, check_is_learner
from pickbest.core.features import FeaturesError
from pickbest.core.states import arrays_of, same_state
from pickbest.learners import Auto, Racing, Thompson
from pickbest.simulation.simulate import simulate


def played(seat: Seat, rounds: int, known: np.ndarray | None = None) -> Seat:
    for number in range(rounds):
        features = None if known is None else np.repeat(known[number][None], seat.replicates, 0)
        choice = seat.pick(number, features)
        seat.learn(choice, Seen.of((choice.arms > 1).astype(float)), features)
    return seat


def test_picking_changes_nothing_also_with_the_first_features() -> None:
    seat = played(Seat(Auto(4, 2), seed=3), 5)
    before = {path: array.copy() for path, array in arrays_of(seat.state).items()}
    first = seat.pick(5, seat.encoded({"size": 3.0, "kind": "x"}))
    assert seat.names == ()
    assert all(np.array_equal(before[path], each) for path, each in arrays_of(seat.state).items())
    seat.expect(("kind", "size"))
    again = seat.pick(5, seat.encoded({"size": 3.0, "kind": "x"}))
    assert np.array_equal(first.arms, again.arms)


def test_what_was_learned_before_the_first_features_stays() -> None:
    seat = played(Seat(Auto(4, 2), seed=3), 5)
    sets = seat.state.sets
    seat.expect(("size",))
    assert same_state(seat.state.sets, sets)
    assert seat.state.features.number.shape == (1, 1)
    played(seat, 3, np.arange(3.0)[:, None])
    assert seat.state.features.number[0, 0] == 3


def test_features_are_refused_by_name() -> None:
    for learner in (Thompson(4, 2), Racing(Thompson(4, 2))):
        seat = Seat(learner)
        with pytest.raises(FeaturesError, match=f"{type(learner).__name__} uses no features"):
            seat.encoded([1.0])
        with pytest.raises(FeaturesError, match="uses no features"):
            seat.expect(("size",))


def test_a_race_is_watched_as_the_learner_wants() -> None:
    seat = Seat(Racing(Auto(4, 2)), seed=1, replicates=3)
    choice = seat.pick(0)
    assert seat.watched(0, choice, None)[1].all()
    assert seat.watched(0, choice, 1.0)[1].all(), "new pairs are always watched"
    assert not seat.watched(0, choice, 0.0)[1].any()
    watch, watched = seat.watched(0, choice, 0.5)
    assert watch.tolist() == [0.5] * 3
    assert np.array_equal(watched, seat.watch_draws(0) < 0.5)
    plain = Seat(Thompson(4, 2))
    assert not plain.watched(0, plain.pick(0), 1.0)[1].any(), "it has no use for it"


@dataclass(frozen=True)
class SoftMax:
    """Lacks what it sees."""

    n_arms: int
    budget: int

    def start(self, replicates: int) -> None: ...
    def pick(self, state, draws, features=None): ...  # type: ignore[no-untyped-def]
    def learn(self, state, choice, seen, features=None): ...  # type: ignore[no-untyped-def]


def test_what_a_learner_lacks_is_named() -> None:
    with pytest.raises(PickbestError, match=r"SoftMax has no `feedback`: .*check_learner"):
        check_is_learner(SoftMax(8, 2))
    with pytest.raises(PickbestError, match="SoftMax has no `feedback`"):
        simulate({"mine": SoftMax(3, 2)}, np.zeros((4, 3)))  # type: ignore[dict-item]
    with pytest.raises(PickbestError, match="SoftMax has no `feedback`"):
        simulate(SoftMax(3, 2), np.zeros((4, 3)))  # type: ignore[arg-type]
    with pytest.raises(PickbestError, match="the class SoftMax: make one"):
        check_is_learner(SoftMax)


def test_a_budget_that_is_not_the_learners_is_an_error() -> None:
    with pytest.raises(PickbestError, match="'mine' has budget=2, but budget=3 was asked for"):
        simulate({"mine": Thompson(4, 2)}, np.zeros((4, 4)), 2, budget=3)
    assert simulate({"mine": Thompson(4, 2)}, np.zeros((4, 4)), 2).learners["mine"].budget == 2


def test_planning_is_for_planners() -> None:
    with pytest.raises(PickbestError, match="Thompson makes no plans"):
        Seat(Thompson(4, 2)).plan(0)
    assert Choice(np.array([[0]])).watch is None
    assert Thompson(4, 2).feedback is Feedback.PICKED
