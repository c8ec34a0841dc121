"""The statements of the paper: their values, their limits, and games that check them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pickbest import theory
from pickbest.core import BoolArray, FloatArray, PickbestError

GAME: dict[str, Any] = {"n_arms": 9, "budget": 2, "rounds": 368}
LN9, E = math.log(9), math.e
GRID = list(itertools.product((2, 9, 500), (1, 2), (1, 30, 10**6)))


def fpml_run(costs: FloatArray, budget: int, noise: FloatArray) -> tuple[float, BoolArray]:
    """Total cost of FPML with this perturbation kept, and its overtakings."""
    regret = theory.leaders_regret(costs, budget, noise)[-1]
    return regret + costs.sum(axis=0).min(), theory.overtakings(costs, budget, noise)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (theory.fpml_regret_bound(**GAME), 2 * 368 ** (1 / 3) * (1 + LN9) ** (2 / 3)),
        (theory.fpml_epsilon(**GAME), ((1 + LN9) / 368) ** (1 / 3)),
        (theory.fpml_regret_bound_at(**GAME, epsilon=0.5), 368 / 4 + 2 * (1 + LN9)),
        (theory.deterministic_lower_bound(**GAME), 368 * 7 / 9),
        (theory.uniform_lower_bound_as_written(**GAME), 368 * 49 / 81),
        (theory.uniform_regret(**GAME), 368 * 7 / 9),
        (theory.overtaking_probability_bound([1, 0.5], epsilon=2), (1 - E**-2) * (1 - 1 / E)),
        (theory.partial_regret_bound_as_written(**GAME, estimate_cap=4),
         2 * 368 ** (1 / 3) * (4 * LN9) ** (2 / 3)),
        (theory.partial_regret_bound(**GAME, estimate_cap=4), 2 * math.sqrt(368 * 4 * LN9)),
        (theory.hybrid_regret_bound(n_arms=9, slot_budget=1, target_budget=1, rounds=20),
         3 * 2 * math.sqrt(20 * (1 + LN9)) + 1),
        (theory.greedy_guarantee(best_value=2, target_budget=3, errors=[0.1, 0.2],
                                 durations=[1, 2]), 2 * (1 - 1 / E) - 0.5),
        (theory.og_hedge_regret_bound(**GAME), 2 * math.sqrt((E - 2) * 368 * 2 * LN9)),
        (theory.constant_regret_bound(9), 2 * E * (1 + LN9)),
        (theory.anytime_regret_bound(n_arms=9, budget=1, rounds=3),
         math.sqrt(3 / (1 + LN9)) * LN9 + math.sqrt(1 + LN9) * (1 + 2**-0.5 + 3**-0.5)),
        (theory.partial_epsilon(**GAME, estimate_cap=4), (LN9 / (368 * 16)) ** (1 / 3)),
        (theory.partial_epsilon_as_written(n_arms=9, slot_budget=1, rounds=368),
         (LN9 / 368 * LN9 / (368 * 9)) ** (1 / 3)),
        (theory.partial_epsilon_as_run(n_arms=9, slot_budget=2, rounds=368), 1 / 3),
        (theory.partial_epsilon_as_run(n_arms=9, slot_budget=5, rounds=368),
         (368 / LN9) ** 0.25 / 3),
        (theory.top_set_epsilon(**GAME), math.sqrt((0.5 + math.log(4.5)) / 736)),
        (theory.hedge_rate(n_arms=9, rounds=368), math.sqrt(8 * LN9 / 368)),
    ],
)  # fmt: skip
def test_values_by_hand(value: float, expected: float) -> None:
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n_arms", "budget", "rounds"), GRID)
def test_theorem_2(n_arms: int, budget: int, rounds: int) -> None:
    game = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
    tuned, epsilon = theory.fpml_regret_bound(**game), theory.fpml_epsilon(**game)
    assert theory.fpml_regret_bound_at(**game, epsilon=epsilon) == pytest.approx(tuned)
    best = epsilon / budget ** (1 / (budget + 1))
    least = theory.fpml_regret_bound_at(**game, epsilon=best)
    factor = (1 + 1 / budget) * budget ** (1 / (budget + 1)) / 2
    assert least == pytest.approx(factor * tuned)
    assert tuned / 2 <= least <= tuned * (1 + 1e-12)
    for scale in (0.3, 0.9, 1.1, 3.0):
        at = {**game, "epsilon": best * scale}
        assert theory.fpml_regret_bound_at(**at) >= least
    if budget == 1:
        assert tuned == pytest.approx(2 * math.sqrt(rounds * (1 + math.log(n_arms))))


@pytest.mark.parametrize("seed", range(40))
def test_lemma_3(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(2, 8))
    budget = int(rng.integers(1, n_arms + 1))
    costs = rng.random((50, n_arms))
    if seed % 2:
        costs = costs.round()  # many ties
    events, regret = theory.overtakings(costs, budget), theory.leaders_regret(costs, budget)
    assert (regret <= np.cumsum(events) + 1e-9).all()
    assert (np.diff(regret, prepend=0) <= events + 1e-9).all()
    noise = rng.exponential(3.0, n_arms)
    spread = noise.max() - noise[costs.cumsum(axis=0).argmin(axis=1)]
    bound = np.cumsum(theory.overtakings(costs, budget, noise)) + spread
    assert (theory.leaders_regret(costs, budget, noise) <= bound + 1e-9).all()
    if budget == n_arms:
        assert not events.any()


def test_proposition_1s_adversary_against_the_leaders() -> None:
    costs = np.zeros((60, 3))
    for turn in range(60):
        costs[turn, np.argsort(costs.sum(axis=0), kind="stable")[:2]] = 1
    regret = theory.leaders_regret(costs, 2)[-1]
    assert regret == theory.deterministic_lower_bound(n_arms=3, budget=2, rounds=60) == 20


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_lemma_4_theorem_2_and_markov_in_play(budget: int) -> None:
    rng, epsilon, runs = np.random.default_rng(budget), 0.4, 800
    costs = (rng.random((80, 5)) < 0.7).astype(float)
    played = [fpml_run(costs, budget, rng.exponential(1 / epsilon, 5)) for _ in range(runs)]
    paid = np.array([cost for cost, _ in played])
    counts = np.array([events.sum() for _, events in played])
    slack = 4 * counts.std() / math.sqrt(runs)
    assert counts.mean() - slack <= epsilon**budget * paid.mean()
    assert counts.mean() - slack <= 80 * (1 - math.exp(-epsilon)) ** budget
    game = {"n_arms": 5, "budget": budget, "rounds": 80}
    regret = paid - costs.sum(axis=0).min()
    assert regret.mean() <= theory.fpml_regret_bound_at(**game, epsilon=epsilon)
    noises = rng.exponential(1 / theory.fpml_epsilon(**game), (200, 5))
    regrets = np.array([theory.leaders_regret(costs, budget, noise)[-1] for noise in noises])
    assert np.mean(regrets > theory.markov_guarantee(**game, probability=0.5)) <= 0.5


def test_markov_and_hoeffding() -> None:
    bound = theory.fpml_regret_bound(**GAME)
    assert theory.markov_guarantee(**GAME, probability=0.5) == pytest.approx(2 * bound)
    assert theory.markov_guarantee(**GAME, probability=1e-6) == 368
    assert theory.hoeffding_guarantee(**GAME, probability=1) == pytest.approx(bound)


def test_lower_bounds() -> None:
    for n_arms, budget in itertools.product((8, 64, 1024), (1, 2, 5)):
        size = {"n_arms": n_arms, "budget": budget}
        turns = math.floor(math.log2(n_arms) - math.log2(budget) - math.log2(1.5))
        assert theory.halving_rounds(**size) == max(0, turns)
        exact = theory.halving_expected_cost(**size, rounds=max(1, turns))
        assert theory.halving_lower_bound(**size) == max(0, turns) / 4**budget <= exact
        assert exact <= theory.fpml_regret_bound(**size, rounds=max(1, turns))
        uniform = theory.uniform_lower_bound_as_written(**size, rounds=7)
        assert uniform <= theory.uniform_regret(**size, rounds=7)
    assert theory.halving_rounds(n_arms=1500, budget=2) == 8
    by_counting = math.comb(6, 4) / math.comb(8, 4) + math.comb(2, 2) / math.comb(4, 2)
    counted = theory.halving_expected_cost(n_arms=8, budget=2, rounds=99)
    assert counted == pytest.approx(by_counting)


def test_proposition_5_and_its_counterexample() -> None:
    tuned = theory.partial_regret_bound_as_written(**GAME, estimate_cap=4)
    epsilon = theory.partial_epsilon(**GAME, estimate_cap=4)
    printed = LN9 / epsilon + 368 * (1 - math.exp(-4 * epsilon)) ** 2
    assert tuned / 2 < printed <= tuned
    single = {"n_arms": 9, "budget": 1, "rounds": 368, "estimate_cap": 4}
    assert theory.partial_regret_bound(**single) == pytest.approx(
        theory.partial_regret_bound_as_written(**single)
    )

    game = {"n_arms": 100, "budget": 5, "rounds": 20_000, "estimate_cap": 2.0}
    epsilon, gap, rng = (
        theory.partial_epsilon(**game),
        3 / math.sqrt(20_000),
        np.random.default_rng(0),
    )
    regrets = []
    for _ in range(20):
        estimates = 2.0 * (rng.random((20_000, 100)) < np.append(np.full(99, 0.5), 0.5 - gap / 2))
        totals = np.vstack([-rng.exponential(1 / epsilon, 100), estimates[:-1]]).cumsum(axis=0)
        missed = (totals[:, :-1] < totals[:, -1:]).sum(axis=1) >= 5
        regrets.append(gap * missed.sum())
    mean, error = np.mean(regrets), np.std(regrets) / math.sqrt(20)
    assert mean - 2 * error > theory.partial_regret_bound_as_written(**game)
    assert mean + 2 * error < theory.partial_regret_bound(**game)


def test_proposition_7_and_its_counterexample() -> None:
    game, turn = {"n_arms": 4, "budget": 2, "rounds": 2000}, np.arange(2000)
    flat = np.where(turn < 1000, 0.4, 0.7)
    costs = np.column_stack([turn % 2, 1 - turn % 2, flat, flat])
    assert set(np.argsort(costs.sum(axis=0))[:2]) == {0, 1}
    assert costs[:, :2].min(axis=1).sum() == 0
    epsilon, rng = theory.top_set_epsilon(**game), np.random.default_rng(1)
    paid = np.mean([fpml_run(costs, 2, rng.exponential(1 / epsilon, 4))[0] for _ in range(30)])
    assert paid > 3 * theory.top_set_regret_bound_as_written(**game, epsilon=epsilon)


@pytest.mark.parametrize("seed", range(30))
def test_lemma_11_and_its_sharper_form(seed: int) -> None:
    """Any schedule is greedy with some errors: here f(S) is the mean over rounds of a maximum."""
    rng = np.random.default_rng(seed)
    rewards, target, slots = rng.random((20, 6)) ** 3, 1 + seed % 3, 4
    best = max(rewards[:, s].max(axis=1).mean() for s in itertools.combinations(range(6), target))
    kept, errors = np.zeros(20), []
    for arm in rng.integers(0, 6, slots):
        gains = np.maximum(rewards, kept[:, None]).mean(axis=0) - kept.mean()
        errors.append(float(gains.max() - gains[arm]))
        kept = np.maximum(kept, rewards[:, arm])
    floor = theory.greedy_guarantee(best_value=best, target_budget=target, errors=errors)
    assert kept.mean() >= floor - 1e-12
    # Lemma 12: slots of equal error bounds.
    assert best - kept.mean() <= slots * max(errors) + math.exp(-slots / target) + 1e-12


def test_theorem_6_and_og() -> None:
    for target, slot, rounds in itertools.product((1, 2, 5), (1, 3), (2, 50, 10**5)):
        size = {"target_budget": target, "rounds": rounds}
        slots, budget = theory.hybrid_slots(**size), theory.hybrid_budget(slot_budget=slot, **size)
        assert budget == slots * slot >= math.ceil(target * slot * math.log(rounds))
        one = theory.fpml_regret_bound(n_arms=20, budget=slot, rounds=rounds)
        bound = theory.hybrid_regret_bound(n_arms=20, slot_budget=slot, **size)
        assert slots * one + rounds * math.exp(-slots / target) <= bound + 1e-9
        og = theory.og_hedge_regret_bound(n_arms=20, budget=slots, rounds=rounds)
        assert theory.og_regret_bound(n_arms=20, budget=slots, **size) == og + 1
    rate = theory.og_hedge_rate(**GAME)
    for other in (0.8 * rate, 1.2 * rate):
        assert theory.og_hedge_regret_bound(**GAME) < (E - 2) * other * 368 + 2 * LN9 / other


def test_proposition_8() -> None:
    for budget, accuracy in itertools.product((1, 2, 7), (0.01, 0.3)):
        size = {"n_constraints": 12, "budget": budget}
        calls = theory.oracle_calls(**size, width=3, accuracy=accuracy)
        regret = theory.fpml_regret_bound(n_arms=12, budget=budget, rounds=calls)
        assert 2 * 3 * regret / calls <= accuracy * (1 + 1e-12)


def test_budgets() -> None:
    size = {"n_arms": 100, "rounds": 10_000}
    budget = theory.budget_for_regret(**size, regret=40)
    assert theory.fpml_regret_bound(**size, budget=budget) <= 40
    assert theory.fpml_regret_bound(**size, budget=budget - 1) > 40
    with pytest.raises(PickbestError, match="no budget up to n_arms=100"):
        theory.budget_for_regret(**size, regret=1)
    for rounds in (1, 2, 1000, 10**12):
        enough = theory.constant_regret_budget(rounds)
        regret = theory.fpml_regret_bound(n_arms=100, budget=enough, rounds=rounds)
        assert regret <= theory.constant_regret_bound(100)


@pytest.mark.parametrize("budget", [1, 2, 6])
def test_unknown_horizon(budget: int) -> None:
    for rounds in (1, 368, 10_001, 10**6):
        game = {"n_arms": 9, "budget": budget, "rounds": rounds}
        half = theory.fpml_regret_bound(**game) / 2
        first, decay = theory.fpml_anytime(n_arms=9, budget=budget)
        assert theory.anytime_regret_bound(**game) <= (budget + 2) * half
        assert first / rounds**decay == pytest.approx(theory.fpml_epsilon(**game))
    rng, turns = np.random.default_rng(budget), np.arange(1, 301)
    costs = (rng.random((300, 9)) < 0.6).astype(float)
    before = np.vstack([np.zeros(9), costs[:-1]]).cumsum(axis=0)
    regrets = []
    for noise in rng.exponential(1.0, (40, 9)):
        leaders = np.argsort(before - noise * (turns[:, None] ** decay / first))[:, :budget]
        paid = np.take_along_axis(costs, leaders, axis=1).min(axis=1).sum()
        regrets.append(paid - costs.sum(axis=0).min())
    bound = theory.anytime_regret_bound(n_arms=9, budget=budget, rounds=300)
    assert np.mean(regrets) <= bound


@pytest.mark.parametrize(("n_arms", "rounds"), [(1, 1), (1, 500), (2, 1), (10**6, 1)])
def test_tunings_are_positive_everywhere(n_arms: int, rounds: int) -> None:
    size = {"n_arms": n_arms, "rounds": rounds}
    one, slot = {**size, "budget": 1}, {**size, "slot_budget": 1}
    rates = [
        theory.fpml_epsilon(**one),
        theory.partial_epsilon(**one, estimate_cap=3), theory.partial_epsilon_as_written(**slot),
        theory.partial_epsilon_as_run(**slot), theory.partial_resamples_as_written(**slot),
        theory.partial_resamples_as_run(**slot), theory.top_set_epsilon(**one),
        theory.hedge_rate(**size), theory.og_hedge_rate(**one), theory.exp3_gamma(**size),
        theory.exp3_gamma_as_written(**size), theory.exp3_gamma_as_run(**size),
    ]  # fmt: skip
    assert all(0 < rate < math.inf for rate in rates)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.fpml_regret_bound(n_arms=3, budget=4, rounds=9), "budget must be between"),
        (lambda: theory.fpml_regret_bound(n_arms=3, budget=1, rounds=0), "rounds must be"),
        (lambda: theory.fpml_regret_bound_at(**GAME, epsilon=0), "epsilon must be"),
        (lambda: theory.markov_guarantee(**GAME, probability=0), "probability must be"),
        (lambda: theory.hoeffding_guarantee(**GAME, probability=1.1), "probability must be"),
        (lambda: theory.overtakings([0, 1], 1), "costs must have the shape"),
        (lambda: theory.overtakings([[0, 2]], 1), "costs must be between 0 and 1"),
        (lambda: theory.leaders_regret([[0, 1]], 1, [0]), "perturbation must be 2 finite"),
        (lambda: theory.overtaking_probability_bound([], epsilon=1), "leader_costs must be"),
        (lambda: theory.partial_regret_bound(**GAME, estimate_cap=0), "estimate_cap must be"),
        (lambda: theory.partial_epsilon_as_run(n_arms=2, slot_budget=3, rounds=9), "slot_budget"),
        (lambda: theory.hybrid_regret_bound(n_arms=2, slot_budget=5, target_budget=1, rounds=99),
         "slot_budget must be between 1 and n_arms=2, got 5"),
        (lambda: theory.greedy_guarantee(best_value=1, target_budget=1, errors=[0],
                                         durations=[1, 2]), "durations must be as many"),
        (lambda: theory.greedy_guarantee(best_value=1, target_budget=1, errors=[-1]), "errors"),
        (lambda: theory.og_regret_bound(**GAME, target_budget=2), "here 12, got 2"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        call()


def test_every_public_function_is_exported_and_shown() -> None:
    for name in (name for name, thing in vars(theory).items() if callable(thing)):
        assert ">>>" in getattr(theory, name).__doc__


def test_bounds_of_adaptive_rates_by_hand() -> None:
    """After one round every term counts."""
    factor = 1.0 + math.log(2.0)
    slack = math.sqrt((2.0 * factor) ** 2 + 2.0 * factor * 65.0) + 33.0
    excess = sum(math.sqrt(12.0 * (1.0 + 2**k)) + 2.0 * 2**k + 1.0 for k in range(1, 6))
    assert theory.auto_bound(n_arms=2, rounds=1) == pytest.approx(2.0 * slack + excess)
