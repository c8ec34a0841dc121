"""Auto: its proposals, its memories, its guard, and what it reaches."""

from pathlib import Path

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import Choice, PickbestError, Seen, replicate_keys, rng_for
from pickbest.environments import (
    OneGoodArm,
    RegimeChange,
    Shuffled,
    Task1,
    Task2,
    read_scenario,
    read_table,
)
from pickbest.learners import Auto
from pickbest.learners.auto.guard import (
    DOUBT,
    FIRST_RATE,
    FIRST_SHARE,
    first_probability,
    many_arms,
    rate_of,
)
from pickbest.learners.auto.sets import MEMORY
from pickbest.simulation.simulate import simulate
from pickbest.testing.learners import check_learner, check_long_run
from pickbest.theory import exponential_weights

ASLIB = Path(__file__).parents[3] / "shared" / "data" / "aslib"


@pytest.mark.parametrize("learner", [Auto(5, 1), Auto(1, 1)], ids=str)
def test_it_conforms(learner):
    check_learner(learner)
    check_long_run(learner, 20_000)


def test_bad_input_is_refused():
    with pytest.raises(PickbestError, match="budget"):
        Auto(3, 4)
    with pytest.raises(PickbestError, match="weights"):
        Auto(3, 2).learn(Auto(3, 2).start(1), Choice(np.array([[0, 1]])), Seen.of(np.zeros((1, 2))))


def test_constants_of_the_bounds_are_those_of_the_learner():
    assert exponential_weights.FIRST_RATE == FIRST_RATE
    assert (exponential_weights.FIRST_SHARE, exponential_weights.DOUBT) == (FIRST_SHARE, DOUBT)


# Auto's parts --------------------------------------------------------------------------------


def test_sets_complement_each_other_where_that_pays():
    """Arms 0 and 1 solve the same 60%, arm 2 the other 40%: the pair is {0 or 1, 2}."""
    first = np.random.default_rng(5).random((30, 600)) < 0.6
    costs = np.stack([1.0 - first, 1.0 - first, first], axis=2).astype(float)
    paid = {}
    for learner in (Auto(3, 2), make_learner("thompson", 3, 2)):
        _, cost = learner.play_table(learner.start(30), costs, replicate_keys(2, 30), 0)
        paid[type(learner).__name__] = cost[:, 300:].mean()
    assert paid["Auto"] < 0.05
    assert paid["Thompson"] > 0.3


def test_auto_forgets_when_the_world_changes():
    world = RegimeChange(Task2(600))
    learners = {"auto": Auto(10, 1), "thompson": make_learner("thompson", 10, 1)}
    runs = simulate(learners, world, 30, seed=1).runs
    after = {name: run.paid[:, 340:420].mean() for name, run in runs.items()}
    assert after["auto"] < after["thompson"] - 0.05


def test_the_guard_takes_over_where_its_arm_would_be_better():
    """Every proposal costs 1 and every arm that the guard puts in costs 0."""
    learner = Auto(4, 1)
    state, keys = learner.start(1), replicate_keys(6, 1)
    shares = []
    for t in range(6000):
        choice = learner.pick(state, rng_for(keys, t))
        guarded = choice.weights[0, 0] > 2.0
        state = learner.learn(state, choice, Seen.of(np.array([[0.0 if guarded else 1.0]])))
        shares.append(state.sets.guard.share[0])
    assert shares[0] == FIRST_SHARE
    assert shares[-1] == 1.0
    assert np.all(np.diff(shares) >= 0.0)


def test_a_guard_with_share_one_picks_by_its_own_law():
    learner = Auto(3, 2)
    state = learner.start(4000)
    state.sets.guard.share[:] = 1.0
    state.sets.guard.slack[:] = 2.0
    state.sets.guard.costs[:] = [0.0, 0.5, 1.0]
    arms = learner.pick(state, rng_for(replicate_keys(7, 4000), 0)).arms
    spread = np.exp(rate_of(3, 2.0) * np.array([0.0, 0.5, 1.0]))
    for arm in range(3):
        led = first_probability(spread, 1.0, arm, many_arms(3))
        # The guard's leader is always there; other arms come from the proposal besides.
        assert (arms == arm).any(axis=1).mean() > led - 0.03


def test_the_anchor_forgets_nothing_and_the_memory_does():
    learner, keys = Auto(6, 2), replicate_keys(5, 20)
    state = learner.start(20)
    for t in range(300):
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, Seen.of(np.random.default_rng(t).random((20, 2))))
    pairs = state.sets.pairs
    plays = pairs.plays.sum(axis=2) * pairs.unit
    assert plays[:, 0] == pytest.approx(600)
    assert plays[:, 1] == pytest.approx(2 / (1 - MEMORY), rel=0.01)


def test_auto_stays_under_its_bound_where_good_arms_keep_turning_bad():
    """Arm 0 always costs 0.35; the others are good for 40 rounds, then bad, by turns."""
    rounds, replicates = 150_000, 2
    bound = theory.auto_bound(n_arms=5, rounds=rounds)
    assert bound < 0.65 * rounds
    phase = (np.arange(rounds) // 40)[:, None] + np.arange(5)
    costs = (phase % 4 != 0).astype(float)
    costs[:, 0] = 0.35
    for budget in (1, 2):
        learner = Auto(5, budget)
        keys = replicate_keys(8, replicates)
        _, paid = learner.play_table(learner.start(replicates), costs[None], keys, 0)
        regret = paid.sum(axis=1).mean() - 0.35 * rounds
        assert regret < 0.05 * rounds < bound


def test_many_arms_are_played_without_a_table_of_pairs():
    learner = Auto(20_000, 3)
    state = learner.start(1)
    assert state.sets.pairs.gains.size == 0
    assert state.sets.pairs.together.size == 0
    choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    state = learner.learn(state, choice, Seen.of(np.array([[0.0, 0.5, 1.0]])))
    assert len(set(choice.arms[0].tolist())) == 3


# What it reaches -----------------------------------------------------------------------------

TARGETS = {1: 0.488, 2: 0.664, 3: 0.753, 4: 0.815, 5: 0.86, 6: 0.89}


@pytest.mark.parametrize(("budget", "target"), TARGETS.items())
def test_auto_on_the_papers_rewards(paper_rewards, budget, target):
    table = read_table(paper_rewards, rewards=True)
    simulation = simulate({"auto": Auto(9, budget)}, table, 300, seed=1)
    assert simulation.mean_reward("auto") >= target


@pytest.mark.parametrize(
    ("name", "budget", "target"),
    [("CPMP-2015", 2, 0.905), ("MAXSAT12-PMS", 2, 0.81), ("MAXSAT12-PMS", 3, 0.838)],
)
def test_auto_on_complementary_portfolios(name, budget, target):
    if not (ASLIB / name).exists():
        pytest.skip(f"ASlib scenarios are not shipped; looked for {ASLIB / name}")
    world = Shuffled(read_scenario(ASLIB / name).costs())
    simulation = simulate({"auto": Auto(world.n_arms, budget)}, world, 300, seed=1)
    assert simulation.mean_reward("auto") >= target


@pytest.mark.parametrize(
    "world", [OneGoodArm(10, 300), Task1(), Task2(), RegimeChange(Task2())], ids=str
)
@pytest.mark.parametrize("budget", [1, 2, 4])
def test_auto_is_not_worse_than_fpml_as_run(world, budget):
    assert_not_worse(world, budget)


def assert_not_worse(world, budget):
    learners = {
        "auto": Auto(world.n_arms, budget),
        "as run": make_learner(
            "fpml-partial", world.n_arms, budget, rounds=world.rounds, tuning="as_run"
        ),
    }
    runs = simulate(learners, world, 60, seed=2).runs
    excess = (runs["auto"].paid - runs["as run"].paid).mean(axis=1)
    assert excess.mean() <= 3.0 * excess.std(ddof=1) / np.sqrt(60) + 1e-12


@pytest.mark.parametrize(("name", "budget"), [("CPMP-2015", 3), ("ASP-POTASSCO", 6)])
def test_auto_is_not_worse_where_most_arms_run_and_problems_come_in_families(name, budget):
    if not (ASLIB / name).exists():
        pytest.skip(f"ASlib scenarios are not shipped; looked for {ASLIB / name}")
    assert_not_worse(read_scenario(ASLIB / name).costs(), budget)
