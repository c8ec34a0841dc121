"""Online greedy over schedules: identities, the compiled game, unbiased estimates, errors."""

from collections.abc import Callable

import numpy as np
import pytest

from pickbest.core import (
    Choice,
    PickbestError,
    State,
    play_rounds,
    replicate_keys,
    rng_for,
    visible,
)
from pickbest.core.states import arrays_of, copy_state, repeat_state, same_state
from pickbest.kernels.rules import AnyCompiled
from pickbest.learners import FPML, Exp3, FPMLPartial, Greedy, Hedge, Thompson, Uniform
from pickbest.submodular import (
    OnlineGreedy,
    PickedSchedules,
    online_greedy,
    online_hybrid,
    play_jobs,
)
from pickbest.submodular.jobs import (
    Action,
    FunctionJobs,
    Schedule,
    TableJobs,
    best_of,
    probabilistic_coverage,
)
from pickbest.submodular.play import JobRun

MakeSlot = Callable[[int, int], AnyCompiled]


def play_by_hand(
    learner: OnlineGreedy, jobs: object, replicates: int, seed: int
) -> tuple[JobRun, State, list[PickedSchedules]]:
    """Round by round, each job asked one schedule at a time, whatever is compiled."""
    state, keys = learner.start(replicates), replicate_keys(seed, replicates)
    values, lengths, plans = [], [], []
    for t in range(jobs.rounds):
        plan, job = learner.pick(state, rng_for(keys, t)), jobs.round(t)
        plans.append(plan)
        values.append(learner.values(plan, job))
        lengths.append((plan.kept * learner.durations[plan.choice.arms]).sum(axis=1))
        state = learner.learn(state, plan, job)
    return JobRun(np.stack(values, 1), np.stack(lengths, 1)), state, plans


def dyadic_costs(rounds: int, n_arms: int) -> np.ndarray:
    """Costs whose sums and differences have no rounding."""
    return np.random.default_rng(3).integers(0, 65, (rounds, n_arms)) / 64.0


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("budget", [1, 2])
def test_best_of_jobs_give_the_choices_of_the_min_cost_learners(
    slot: MakeSlot, budget: int, distinct: bool
) -> None:
    if slot(8, budget).budget != budget:
        pytest.skip("this learner fills a slot with one arm")
    inner = slot(8, budget)
    costs = dyadic_costs(60, 8)
    jobs = best_of(1.0 - costs)
    greedy, online = Greedy(inner, 3, distinct), OnlineGreedy(inner, 3, distinct=distinct)
    _, learned, plans = play_by_hand(online, jobs, 4, seed=5)
    state, keys = greedy.start(4), replicate_keys(5, 4)
    for t, plan in enumerate(plans):
        choice = greedy.pick(state, rng_for(keys, t))
        np.testing.assert_array_equal(choice.arms, plan.choice.arms)
        row = np.tile(costs[t], (4, 1))
        state = greedy.learn(state, choice, visible(greedy, choice, row))
    assert same_state(state, learned)
    table = costs[None]
    _, paid = play_rounds(greedy, greedy.start(4), table, keys, 0)
    np.testing.assert_array_equal(play_jobs(online, jobs, 4, seed=5).values, 1.0 - paid)


@pytest.mark.parametrize("distinct", [True, False])
def test_compiled_games_equal_games_by_hand(
    jobs: TableJobs, slot: MakeSlot, distinct: bool
) -> None:
    budget = 1 if jobs.durations.max() > 1 else slot(jobs.n_arms, 2).budget
    learner = OnlineGreedy(slot(jobs.n_arms, budget), 3, jobs.actions, distinct)
    run, _, _ = play_by_hand(learner, jobs, 3, seed=7)
    compiled = play_jobs(learner, jobs, 3, seed=7)
    np.testing.assert_allclose(run.values, compiled.values, atol=1e-12)
    np.testing.assert_array_equal(run.lengths, compiled.lengths)


def test_schedules_have_the_length_of_the_budget_on_average() -> None:
    actions = [Action(v, span) for v in "ab" for span in (1, 2, 3)]
    jobs = best_of(np.random.default_rng(0).random((80, 6)), actions)
    run = play_jobs(online_greedy(actions, 4, 80), jobs, 200)
    assert run.lengths.max() > 4
    error = run.lengths.std() / np.sqrt(run.lengths.size)
    assert abs(run.lengths.mean() - 4.0) < 6 * error


def test_functions_give_what_tables_give(jobs: TableJobs) -> None:
    learner = online_greedy(jobs.actions, 3, jobs.rounds, feedback="picked")
    place = jobs.actions.index
    slow = FunctionJobs(
        lambda t, schedule: jobs.values([*map(place, schedule)])[t], jobs.actions, jobs.rounds
    )
    np.testing.assert_allclose(
        play_jobs(learner, slow, 2).values, play_jobs(learner, jobs, 2).values, atol=1e-12
    )


def test_only_pulled_actions_are_asked_for() -> None:
    asked: set[int] = set()

    def job(t: int, schedule: tuple[Action, ...]) -> float:
        asked.update(action.activity for action in schedule)
        return 1.0 - 0.5 ** len(schedule)

    actions = [Action(a, 1 + a % 2) for a in range(20)]
    for learner in (
        online_greedy(actions, 3, 10, feedback="picked"),
        online_greedy(actions, 3, 10, feedback="picked", distinct=True),
        online_hybrid(20, 6, 10, slot_budget=2, feedback="picked"),
    ):
        state = learner.start(1)
        plan = learner.pick(state, rng_for(replicate_keys(9, 1), 0))
        asked.clear()
        learner.learn(state, plan, FunctionJobs(job, learner.actions, 10).round(0))
        assert asked <= {a.activity for a in learner.schedules(plan)[0]}


LONG = tuple(Action(v, span) for v in range(3) for span in (1, 3))
SEMI_BANDIT = {
    "exp3": OnlineGreedy(Exp3(6, 0.3), 3),
    "exp3, distinct": OnlineGreedy(Exp3(6, 0.3), 3, distinct=True),
    "exp3, durations": OnlineGreedy(Exp3(6, 0.3), 3, LONG),
    "exp3, durations, distinct": OnlineGreedy(Exp3(6, 0.3), 3, LONG, distinct=True),
    "fpml": OnlineGreedy(FPMLPartial(6, 2, 0.1), 2),
    "fpml, distinct": OnlineGreedy(FPMLPartial(6, 2, 0.1), 2, distinct=True),
}


def estimate_errors(learner: OnlineGreedy, jobs: TableJobs) -> np.ndarray:
    """(replicates, slots, n_arms): what each slot was told of each arm, minus the truth.

    The truth of slot i is relative to the prefix of best arms of the slots before it.
    """
    replicates = 2_000
    state, keys = learner.start(1), replicate_keys(10, 1)
    for t in range(6):
        plan = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, plan, jobs.round(t))
    many = repeat_state(state, replicates)
    plan = learner.pick(many, rng_for(replicate_keys(11, replicates), 6))
    inner = FPML(learner.n_arms, learner.inner.budget, 1.0)
    full = OnlineGreedy(inner, learner.slots, learner.actions, learner.distinct)
    truth = full.fed(PickedSchedules(Choice(plan.choice.arms), plan.kept), jobs.round(6))
    errors = np.zeros((replicates, learner.slots, learner.n_arms))
    for (r, slot, choice, costs), (*_, true_costs) in zip(
        learner.fed(plan, jobs.round(6)), truth, strict=True
    ):
        np.add.at(errors[r, slot], choice.arms[0], choice.weights[0] * costs[0])
        errors[r, slot] -= true_costs[0]
    return errors


@pytest.mark.parametrize("name", SEMI_BANDIT)
def test_estimates_of_every_slot_are_unbiased(name: str) -> None:
    learner = SEMI_BANDIT[name]
    chances = 0.7 * np.random.default_rng(12).random((7, 6, 4))
    jobs = probabilistic_coverage(chances, np.full(4, 0.25), learner.actions)
    errors = estimate_errors(learner, jobs)
    mean = errors.mean(axis=0)
    error = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    assert np.all(np.abs(mean) <= 6 * error + 1e-9), (mean, error)


@pytest.mark.parametrize("distinct", [True, False])
def test_late_results_are_learned_with_the_weights_of_their_pick(distinct: bool) -> None:
    jobs = best_of(np.random.default_rng(15).random((3, 5)))
    learner = OnlineGreedy(Exp3(5, 0.3), 2, distinct=distinct)
    keys = replicate_keys(16, 1)
    plans = [learner.pick(learner.start(1), rng_for(keys, t)) for t in range(3)]
    states = []
    for order in ([0, 1, 2], [2, 0, 1]):
        state = learner.start(1)
        for t in order:
            state = learner.learn(state, plans[t], jobs.round(t))
        states.append(state)
    for first, second in zip(*(arrays_of(state).values() for state in states), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-12)


# A job that misbehaves is named, with its round and schedule, and teaches nothing -----------------


def too_much(t: int, schedule: Schedule) -> float:
    return 0.7 * len(schedule)


def failing(t: int, schedule: Schedule) -> float:
    if len(schedule) == 2:
        raise KeyError("no such file")
    return 0.1


@pytest.mark.parametrize("feedback", ["full", "picked"])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (too_much, r"round 3: a job must be between 0 and 1, got 1.4 for the schedule ⟨\d, \d⟩"),
        (failing, r"round 3: the job failed on the schedule ⟨\d, \d⟩: KeyError: 'no such file'"),
        (lambda t, s: float("nan"), r"round 3: .* got nan for the schedule"),
        (lambda t, s: "many", r"round 3: the job failed .*ValueError"),
    ],
)
def test_nothing_is_learned_from_a_bad_round(
    function: Callable[[int, Schedule], float], message: str, feedback: str
) -> None:
    learner = online_greedy(4, 3, 10, feedback=feedback)
    state = learner.start(2)
    before = copy_state(state)
    plan = learner.pick(state, rng_for(replicate_keys(0, 2), 3))
    with pytest.raises(PickbestError, match=message):
        learner.learn(state, plan, FunctionJobs(function, range(4), rounds=10).round(3))
    assert same_state(before, state)


def test_a_plan_over_the_budget_is_refused() -> None:
    learner = online_greedy(4, 2, 10)
    state, job = learner.start(1), best_of(np.full((10, 4), 0.5)).round(7)
    for arms in ([[0, 1, 2]], [[0, 4]], [[-1, 0]]):
        plan = PickedSchedules(Choice(np.array(arms)), np.ones(np.shape(arms), np.bool_))
        with pytest.raises(PickbestError, match=r"round 7: .*\[\["):
            learner.learn(state, plan, job)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: online_hybrid([Action("a", 2), Action("b")], 2, 9, 2), "duration 1"),
        (lambda: online_hybrid(4, 3, 9, 2), "2 does not divide 3"),
        (lambda: online_greedy(4, 5, 9, distinct=True), "budget must be between 1 and n_arms=4"),
        (lambda: online_greedy(4, 0, 9), "budget"),
        (lambda: online_greedy(4, 2, 9, feedback="all"), "unknown feedback"),
        (lambda: online_greedy(4, 2, 9, tuning="best"), "unknown tuning"),
        (lambda: OnlineGreedy(Hedge(3, 0.1), 2, (Action("a"),)), "1 actions for n_arms=3"),
        (lambda: play_jobs(online_greedy(4, 2, 9), best_of([[0.1]])), "n_arms=4"),
        (
            lambda: play_jobs(online_greedy(1, 1, 9), best_of([[0.1]], [Action("a", 2)])),
            "durations",
        ),
    ],
)
def test_bad_settings_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        make()


def test_a_slot_needs_a_learner_that_leaves_arms_out() -> None:
    for learner in (Uniform(4, 1), Thompson(4, 1)):
        with pytest.raises(PickbestError, match=f"{type(learner).__name__} cannot fill a slot"):
            OnlineGreedy(learner, 2)
