"""What every learner must do, as checks that anyone can run on a learner of their own.

    from pickbest.testing.learners import check_learner
    check_learner(MyLearner(n_arms=6, budget=2))

Each check raises AssertionError with one sentence. Nothing here is random: seeds are fixed.
"""

from collections.abc import Iterable

import numpy as np

from pickbest.core import (
    Choice,
    Environment,
    Feedback,
    FloatArray,
    Learner,
    Seat,
    Seen,
    State,
    check_is_learner,
    is_unbiased,
    play_rounds,
    replicate_keys,
    rng_for,
    uses_features,
    visible,
)
from pickbest.core.states import arrays_of, copy_state, repeat_state, same_state
from pickbest.core.types import start_state
from pickbest.environments import Bernoulli, OneGoodArm
from pickbest.kernels.compiled import always
from pickbest.simulation.games import play


def check_learner(learner: Learner, *, learns: bool = True, distinct: bool = True) -> None:
    """Run every check that fits the learner; the long run and bounds are separate.

    learns: whether it should beat random arms where one arm is good.
    distinct: whether its arms within a round must differ.
    """
    check_is_learner(learner)
    check_picks(learner, distinct=distinct)
    check_pick_is_pure(learner)
    check_split_replicates(learner)
    check_replayed_learning(learner)
    check_every_way(learner)
    check_intervals(learner)
    if uses_features(learner):
        check_features(learner)
    if is_unbiased(learner):
        check_unbiased(learner)
    if learns:
        check_learns(learner)


def check_picks(learner: Learner, *, distinct: bool = True, rounds: int = 50) -> None:
    """Picks are in range, of the right shape, and distinct."""
    for _, choice in _rounds(learner, replicates=20, rounds=rounds):
        shape = (20, learner.budget)
        assert choice.arms.shape == shape, f"arms must have shape {shape}, got {choice.arms.shape}"
        assert choice.arms.min() >= 0, "an arm below 0 was picked"
        assert choice.arms.max() < learner.n_arms, "an arm beyond n_arms was picked"
        if choice.weights is not None:
            assert choice.weights.shape == shape, "weights must have the shape of arms"
            assert np.all(np.isfinite(choice.weights)), "weights must be finite"
            assert np.all(choice.weights >= 0), "weights must not be negative"
        if distinct:
            ordered = np.sort(choice.arms, axis=1)
            assert np.all(np.diff(ordered, axis=1) > 0), "an arm was picked twice in a round"


def check_pick_is_pure(learner: Learner) -> None:
    """pick leaves the state unchanged and depends on nothing but state and randomness."""
    for state, _ in _rounds(learner, replicates=3, rounds=10):
        before = copy_state(state)
        rng = rng_for(replicate_keys(7, 3), 99)
        first, second = learner.pick(state, rng), learner.pick(state, rng)
        assert same_state(before, state), "pick changed the state"
        assert same_choice(first, second), "the same randomness gave two different picks"


def check_split_replicates(learner: Learner) -> None:
    """The same seed gives the same bits, and replicates do not influence each other."""
    world = _world(learner)
    whole = play(learner, world, 5, seed=4).paid
    parts = [play(learner, world, 2, 4, first_replicate=0), play(learner, world, 3, 4, 2)]
    joined = np.concatenate([part.paid for part in parts])
    assert np.array_equal(whole, joined), "replicates played apart differ from those together"


def check_replayed_learning(learner: Learner) -> None:
    """learn is a deterministic fold: replaying the same choices gives the same state."""
    history: list[tuple[Choice, Seen]] = []
    final: State = None
    for state, _ in _rounds(learner, replicates=2, rounds=30, history=history):
        final = state
    replayed = learner.start(2)
    for choice, seen in history:
        replayed = learner.learn(replayed, choice, seen)
    assert same_state(final, replayed), "replaying the same rounds gave another state"


def check_every_way(learner: Learner) -> None:
    """Rounds one by one, interpreted or compiled, and whole tables give the same bits."""
    table = np.random.default_rng(10).random((3, 60, learner.n_arms)).round(1)
    keys = replicate_keys(13, 3)
    for costs in (table, table[:1]):
        seat = Seat(learner, 13, 3)
        parts = ((0, costs[:, :25]), (25, costs[:, 25:]))
        paid = [seat.play_table(np.ascontiguousarray(part), first) for first, part in parts]
        with always("compiled"):
            state, by_round = play_rounds(learner, learner.start(3), costs, keys, 0)
        assert np.array_equal(np.hstack(paid), by_round), "the compiled loop paid other costs"
        assert same_state(seat.state, state), "the compiled loop learned another state"
    seat = Seat(learner, 13, 3)
    seat.play_table(np.ascontiguousarray(table[:, :12]), 0)
    with always("interpreted"):
        state, _ = play_rounds(learner, learner.start(3), table[:, :12], keys, 0)
    assert same_state(seat.state, state), "interpreted and compiled rounds learned another state"


def check_intervals(learner: Learner) -> None:
    """A race whose losers were stopped can be learned: deterministically, and nothing breaks."""
    if learner.feedback is Feedback.FULL:
        return
    states = []
    for _ in range(2):
        state, keys = learner.start(2), replicate_keys(16, 2)
        for t in range(8):
            choice = learner.pick(state, rng_for(keys, t))
            shape = choice.arms.shape
            low = np.full(shape, 0.25)
            high, times = np.full(shape, 0.75), np.full(shape, 0.25)
            high[:, 0] = low[:, 0]
            watch = np.full(2, 0.5)
            seen = Seen(low, high, times, watch, np.array([False, t % 2 == 0]))
            state = learner.learn(state, choice, seen)
        states.append(state)
    assert same_state(states[0], states[1]), "the same races gave two different states"
    for name, array in arrays_of(states[0]).items():
        assert np.all(np.isfinite(array)), f"{name} is not finite after races with stopped losers"


def check_features(learner: Learner, n_features: int = 3) -> None:
    """With features, too, pick is pure and learn a fold, interpreted and compiled alike.

    Rounds without features may come between.
    """
    known = np.random.default_rng(17).random((20, 2, n_features)).round(1)
    with always("interpreted"):
        first = _with_features(learner, known)
    with always("compiled"):
        second = _with_features(learner, known)
    assert same_state(first, second), "the same rounds gave two different states"


def _with_features(learner: Learner, known: FloatArray) -> State:
    """The state after rounds with these features (rounds, 2, n_features)."""
    state, keys = start_state(learner, 2, known.shape[2]), replicate_keys(18, 2)
    for t in range(len(known)):
        features = known[t] if t % 5 else None
        before = copy_state(state)
        choice = learner.pick(state, rng_for(keys, t), features)
        assert same_state(before, state), "pick with features changed the state"
        costs = (choice.arms % 2 == 0).astype(np.float64)
        if learner.feedback is Feedback.FULL:
            costs = np.tile(np.arange(learner.n_arms) % 2.0, (2, 1))
        state = learner.learn(state, choice, Seen.of(costs), features)
    return state


def check_unbiased(learner: Learner, replicates: int = 40_000, rounds: int = 5) -> None:
    """The weights with which an arm occurs have expectation 1, in states that differ by arm.

    All replicates are given one learned state, so each arm has a sample mean with a known
    standard error; six of them never happen by chance.
    """
    state: State = learner.start(1)
    keys = replicate_keys(11, 1)
    costs = np.linspace(0.0, 1.0, learner.n_arms)[None, :]
    for t in range(rounds):
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, visible(learner, choice, costs))
    many = repeat_state(state, replicates)
    choice = learner.pick(many, rng_for(replicate_keys(12, replicates), rounds))
    assert choice.weights is not None, "an unbiased learner must give weights"
    totals = np.zeros((replicates, learner.n_arms))
    np.add.at(totals, (np.arange(replicates)[:, None], choice.arms), choice.weights)
    error = totals.std(axis=0, ddof=1) / np.sqrt(replicates)
    gap = np.abs(totals.mean(axis=0) - 1.0)
    assert np.all(gap <= 6.0 * error + 1e-9), (
        f"weights are biased: means {totals.mean(axis=0).round(3)}, errors {error.round(4)}"
    )


def check_learns(learner: Learner, rounds: int = 3_000) -> None:
    """Where one arm is good, the last quarter costs at most half of what random arms cost."""
    if learner.budget == learner.n_arms:
        return
    run = play(learner, OneGoodArm(learner.n_arms, rounds), 20, seed=5, keep_table=False)
    late = float(run.paid[:, -rounds // 4 :].mean())
    random = 1.0 - learner.budget / learner.n_arms
    assert late <= 0.5 * random, f"mean cost {late:.3f} at the end, random arms cost {random:.3f}"


def check_bound(learner: Learner, environment: Environment, bound: float) -> None:
    """Mean regret against the best arm stays under the theorem's bound."""
    run = play(learner, environment, 50, seed=6, keep_table=False)
    regret = run.paid.sum(axis=1) - run.best_arm[:, -1]
    assert regret.mean() <= bound, f"mean regret {regret.mean():.2f} is above {bound:.2f}"


def check_long_run(learner: Learner, rounds: int = 1_000_000) -> None:
    """Very many rounds, arms good and bad by turns: no overflow, no NaN, picks stay valid."""
    seat = Seat(learner, seed=8)
    table = np.random.default_rng(9).random((1, 1000, learner.n_arms))
    table[:, ::2, 0] = 0.0
    table[:, :, -1] = 1.0
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for first in range(0, rounds, table.shape[1]):
            seat.play_table(table, first)
    choice = seat.pick(rounds)
    for name, array in arrays_of(seat.state).items():
        assert np.all(np.isfinite(array)), f"{name} is no longer finite after {rounds} rounds"
    assert 0 <= choice.arms.min() <= choice.arms.max() < learner.n_arms, "picks left the range"
    if choice.weights is not None:
        assert np.all(np.isfinite(choice.weights)), "weights are no longer finite"


def same_choice(first: Choice, second: Choice) -> bool:
    """Whether two choices are equal bit for bit."""
    if first.weights is None or second.weights is None:
        return first.weights is second.weights and np.array_equal(first.arms, second.arms)
    return np.array_equal(first.arms, second.arms) and np.array_equal(first.weights, second.weights)


def _world(learner: Learner) -> Environment:
    return Bernoulli(learner.n_arms, rounds=40, probability=0.6)


def _rounds(
    learner: Learner, replicates: int, rounds: int, history: list[tuple[Choice, Seen]] | None = None
) -> Iterable[tuple[State, Choice]]:
    """(state after the round, its choice) for every round of a small game."""
    world = _world(learner)
    state = learner.start(replicates)
    keys, world_keys = replicate_keys(1, replicates), replicate_keys(2, replicates)
    for t in range(rounds):
        choice = learner.pick(state, rng_for(keys, t))
        seen = visible(learner, choice, world.costs({}, t, rng_for(world_keys, t)))
        state = learner.learn(state, choice, seen)
        if history is not None:
            history.append((choice, seen))
        yield state, choice
