"""Simulation: same result on any number of workers, same draws for all, regret and exports."""

import json

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import PickbestError
from pickbest.environments import Bernoulli, Chasing, OneGoodArm, Table, Task1
from pickbest.hindsight import best_subset, greedy_subset, top_arms
from pickbest.learners import FPML, Fixed, FPMLPartial, Leaders, Uniform
from pickbest.simulation.games import deal_all, play, play_dealt
from pickbest.simulation.simulate import simulate


def learners(n_arms, budget=2):
    return {
        "fpml": FPML(n_arms, budget, 0.3),
        "partial": FPMLPartial(n_arms, budget, 0.3),
        "random": Uniform(n_arms, budget),
    }


@pytest.mark.parametrize("environment", [Task1(40), Chasing(6, 40, 2)], ids=["task", "adaptive"])
def test_any_number_of_workers_gives_the_same_result(environment):
    players = learners(environment.n_arms)
    alone = simulate(players, environment, replicates=5, seed=2)
    spread = simulate(players, environment, replicates=5, seed=2, workers=3)
    for name in players:
        assert np.array_equal(alone.costs(name), spread.costs(name))
        assert np.array_equal(alone.regret_curve(name), spread.regret_curve(name))
        assert np.array_equal(alone.run(name).table, spread.run(name).table)


def test_every_learner_meets_the_same_draws():
    environment = Bernoulli(5, 30)
    simulation = simulate(
        {f"arm {a}": Fixed(5, (a,)) for a in range(5)}, environment, replicates=4, seed=1
    )
    table = simulation.run("arm 0").table
    for a in range(5):
        assert np.array_equal(simulation.costs(f"arm {a}"), table[:, :, a])
    other = simulate({"arm 0": Fixed(5, (0,))}, environment, replicates=4, seed=2)
    assert not np.array_equal(other.costs("arm 0"), simulation.costs("arm 0"))


def test_dealing_ahead_equals_round_by_round():
    environment, learner = Task1(50), FPMLPartial(15, 3, 0.2)
    ahead = play_dealt(learner, deal_all(environment, 4, seed=3), 4, seed=3)
    by_round = play(learner, environment, 4, seed=3)
    assert np.array_equal(ahead.paid, by_round.paid)
    assert np.allclose(ahead.best_arm, by_round.best_arm)
    assert np.array_equal(ahead.table, by_round.table)


def test_regret_against_every_comparator():
    environment = Task1(60)
    simulation = simulate({"random": Uniform(15, 3)}, environment, replicates=3, seed=0)
    run = simulation.run("random")
    total = run.paid.sum(axis=1)
    best_arm = run.table.sum(axis=1).min(axis=1)
    assert simulation.regret("random") == pytest.approx(total - best_arm)
    for name, find in (("best_subset", best_subset), ("greedy", greedy_subset), ("top", top_arms)):
        for budget in (None, 2, 5):
            costs = [find(table, budget or 3).cost for table in run.table]
            assert simulation.regret("random", name, budget) == pytest.approx(total - costs)
    assert np.all(simulation.regret("random", "best_subset") >= simulation.regret("random", "top"))


def test_bands_cover_the_mean_and_narrow_with_replicates():
    environment = Bernoulli(4, 25, (0.2, 0.5, 0.5, 0.5))
    widths = []
    for replicates in (20, 320):
        simulation = simulate({"random": Uniform(4, 1)}, environment, replicates, seed=0)
        band = simulation.band("random")
        assert np.all(band.low <= band.mean)
        assert np.all(band.mean <= band.high)
        widths.append((band.high - band.low)[-1])
    assert widths[1] < widths[0] / 2


def test_paired_differences_are_sharper_than_unpaired():
    environment = Bernoulli(6, 50, (0.1, 0.3, 0.5, 0.7, 0.7, 0.7))
    simulation = simulate(
        {"good": Fixed(6, (0, 1)), "worse": Fixed(6, (0, 2))}, environment, replicates=60, seed=0
    )
    difference = simulation.difference("good", "worse")
    assert difference.mean == pytest.approx(
        simulation.mean_cost("good") - simulation.mean_cost("worse")
    )
    assert difference.high < 0
    unpaired = np.hypot(
        *(simulation.costs(name).mean(axis=1).std(ddof=1) / 60**0.5 for name in ("good", "worse"))
    )
    assert difference.standard_error < unpaired


def test_results_know_their_settings_and_go_to_files(tmp_path):
    import pandas as pd

    simulation = simulate(learners(15), Task1(20), replicates=3, seed=9)
    assert json.loads(json.dumps(simulation.settings))["seed"] == 9
    assert simulation.settings["learners"]["partial"]["weights"] == "exact"
    frame = simulation.to_pandas()
    assert len(frame) == 3 * 3 * 20
    assert list(frame.columns) == ["learner", "replicate", "round", "cost", "regret"]
    mean = frame[frame.learner == "fpml"].cost.mean()
    assert mean == pytest.approx(simulation.mean_cost("fpml"))
    simulation.to_csv(tmp_path / "s.csv")
    read = pd.read_csv(tmp_path / "s.csv")
    assert np.allclose(read.cost, frame.cost)
    assert list(read.learner) == list(frame.learner)


def test_progress_reaches_the_end():
    seen = []
    simulate(learners(15), Task1(100), 2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (300, 300)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_tables_too_large_to_keep_still_give_regret_against_the_best_arm(monkeypatch):
    monkeypatch.setattr("pickbest.simulation.simulate.MOST_KEPT", 10)
    kept = simulate({"fpml": FPML(15, 2, 0.3)}, Task1(40), replicates=3, seed=1)
    assert kept.run("fpml").table is None
    monkeypatch.undo()
    full = simulate({"fpml": FPML(15, 2, 0.3)}, Task1(40), replicates=3, seed=1)
    assert kept.regret("fpml") == pytest.approx(full.regret("fpml"))
    with pytest.raises(PickbestError, match="too large to keep"):
        kept.regret("fpml", "top")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate({}, Task1()), "at least one learner"),
        (lambda: simulate({"x": Uniform(4, 2)}, Task1()), "'x' has n_arms=4"),
        (lambda: simulate({"x": Uniform(15, 2)}, Task1(), 0), "replicates must be a whole"),
        (lambda: simulate({"x": Uniform(15, 2)}, Task1(), 2, -1), "seed must be"),
        (lambda: simulate({"x": Uniform(15, 2)}, Task1(), 2, workers=0), "workers must be"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(PickbestError, match=message):
        call()


def test_bad_questions_are_refused():
    simulation = simulate({"fpml": FPML(6, 2, 0.3)}, Chasing(6, 20, 2), 3)
    with pytest.raises(PickbestError, match="did you mean 'fpml'"):
        simulation.costs("fmpl")
    with pytest.raises(PickbestError, match="unknown comparator 'best'"):
        simulation.regret("fpml", "best")
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=6, got 7"):
        simulation.regret("fpml", "top", 7)
    with pytest.raises(PickbestError, match="each learner its own costs"):
        simulation.difference("fpml", "fpml")


class Lying(Bernoulli):
    """An environment that leaves [0, 1] in its third round."""

    def costs(self, state, round_index, rng):
        return super().costs(state, round_index, rng) * (2.0 if round_index == 2 else 1.0)


def test_an_environment_that_leaves_the_range_is_caught():
    with pytest.raises(PickbestError, match="round 2: costs must be between 0 and 1"):
        simulate({"x": Leaders(4, 1)}, Lying(4, 10, 1.0), 2)


def test_theorem_2_slope_on_the_hardest_environment(record_property):
    """Regret against T on log-log axes grows no faster than the bound's 1 / (B + 1)."""
    from pickbest.environments import Alternating

    for budget in (1, 2, 3):
        regrets = []
        horizons = (250, 1000, 4000, 16000)
        for rounds in horizons:
            learner = make_learner("fpml", 10, budget, rounds)
            worst = 0.0
            for world in (Alternating(10, rounds), OneGoodArm(10, rounds)):
                run = simulate({"x": learner}, world, replicates=40, seed=1)
                worst = max(worst, run.regret("x").mean())
            regrets.append(worst)
        slope = np.polyfit(np.log(horizons), np.log(regrets), 1)[0]
        record_property(f"slope_budget_{budget}", float(slope))
        assert slope <= 1 / (budget + 1) + 0.1


def test_recorded_tables_are_played_in_order():
    table = np.random.default_rng(0).random((30, 3))
    simulation = simulate({"x": Fixed(3, (1,))}, Table(table), replicates=2)
    assert np.array_equal(simulation.costs("x"), [table[:, 1]] * 2)


def test_one_arm_a_round_unless_more_are_asked_for():
    simulation = simulate(["uniform", "fpml"], Task1(10), replicates=2)
    assert {learner.budget for learner in simulation.learners.values()} == {1}
