"""What learners cannot avoid: Proposition 1, the uniform subset, and Proposition 10."""

from collections.abc import Sequence

import numpy as np

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import FloatArray, replicate_keys, rng_for
from pickbest.environments import Halving, OneGoodArm, Predicting, Table
from pickbest.report.document import Series, Verdict
from studies.paper.experiment import Found, Setting, plot, regret_of, shaded


def deterministic(setting: Setting, *, n_arms: int, rounds: int) -> Found:
    """Proposition 1: the adversary that foresees a deterministic learner; FPML on its costs."""
    budgets = list(range(1, n_arms))
    foreseen, bounds, randomised = [], [], []
    for budget in budgets:
        costs = Table(foreseeing(n_arms, rounds, budget))
        simulation = setting.play_specs(costs, budget, "leaders", "fpml")
        foreseen.append(regret_of(simulation, "leaders").mean)
        randomised.append(regret_of(simulation, "fpml").mean)
        size = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
        bounds.append(theory.deterministic_lower_bound(**size))
    met = sum(seen >= bound - 1e-9 for seen, bound in zip(foreseen, bounds, strict=True))
    text = (
        f"Following the B leaders without noise has regret at least (1 − B/N) T at {met} of "
        f"{len(budgets)} budgets ({foreseen[0]:.0f} of {rounds:,} rounds at B = 1, "
        f"{foreseen[-1]:.0f} at B = {budgets[-1]}); on the same costs FPML's regret is at most "
        f"{max(randomised):.1f}."
    )
    figure = plot(
        "deterministic",
        f"Regret after {rounds:,} rounds on costs that foresee the B leaders, {n_arms} arms.",
        "budget B",
        "regret",
        [
            Series("B leaders, no noise", budgets, foreseen, "leaders"),
            Series("(1 − B/N) T", budgets, bounds, "best", "dotted", ""),
            Series("FPML, same costs", budgets, randomised, "fpml"),
        ],
    )
    statement = "Proposition 1: regret ≥ (1 − B/N) T"
    return Found([Verdict(statement, text, met == len(budgets)), figure])


def foreseeing(n_arms: int, rounds: int, budget: int) -> FloatArray:
    """(rounds, n_arms) costs of Proposition 1's adversary against following the B leaders."""
    leaders = make_learner("leaders", n_arms, budget, rounds)
    environment = Predicting(leaders, rounds)
    state = environment.start(1)
    costs = np.empty((rounds, n_arms))
    keys = replicate_keys(0, 1)
    for turn in range(rounds):
        rng = rng_for(keys, turn)
        arms = leaders.pick(state, rng).arms
        costs[turn] = environment.costs(state, turn, rng)[0]
        state = environment.react(state, arms, costs[turn : turn + 1])
    return costs


def uniform(setting: Setting, *, n_arms: int, rounds: int) -> Found:
    """Section 2: a uniformly random subset where one arm costs 0 and the others 1."""
    budgets = list(range(1, n_arms))
    measured, learned = [], []
    exact, printed = [], []
    for budget in budgets:
        simulation = setting.play_specs(OneGoodArm(n_arms, rounds), budget, "uniform", "fpml")
        measured.append(regret_of(simulation, "uniform"))
        learned.append(regret_of(simulation, "fpml").mean)
        size = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
        exact.append(theory.uniform_regret(**size))
        printed.append(theory.uniform_lower_bound_as_written(**size))
    met = sum(m.mean + 4 * m.error >= p for m, p in zip(measured, printed, strict=True))
    farthest = max(m.off(e) for m, e in zip(measured, exact, strict=True))
    middle = len(budgets) // 2
    text = (
        f"The regret is at least T (1 − B/N)^B at {met} of {len(budgets)} budgets; it equals "
        f"T (1 − B/N) within {farthest:.1f} standard errors (at B = {budgets[middle]}: "
        f"{measured[middle].mean:.1f}, exact {exact[middle]:.1f}, printed {printed[middle]:.1f})."
    )
    figure = plot(
        "uniform",
        f"Regret after {rounds} rounds where one of {n_arms} arms costs 0 and the others 1.",
        "budget B",
        "regret",
        [
            Series("B random arms", budgets, [m.mean for m in measured], "uniform"),
            Series("T (1 − B/N), exact", budgets, exact, "best", "dashed", ""),
            Series("T (1 − B/N)^B, printed", budgets, printed, "best", "dotted", ""),
            Series("FPML", budgets, learned, "fpml"),
        ],
    )
    statement = "Section 2: uniform subsets regret ≥ T (1 − B/N)^B, and exactly T (1 − B/N)"
    return Found([Verdict(statement, text, met == len(budgets) and farthest <= 4), figure])


def halving(setting: Setting, *, budgets: Sequence[int], log2_arms: Sequence[int]) -> Found:
    """Proposition 10: no learner escapes the halving construction."""
    series, holds, texts = [], True, []
    for look, budget in shaded(budgets):
        x, seen, floor = [], [], []
        for log2 in log2_arms:
            n_arms = 2**log2
            rounds = theory.halving_rounds(n_arms=n_arms, budget=budget)
            if rounds < 1:
                continue
            regret = setting.regret(Halving(n_arms, rounds), budget, "fpml")
            size = {"n_arms": n_arms, "budget": budget}
            exact = theory.halving_expected_cost(**size, rounds=rounds)
            holds = holds and regret.mean + 4 * regret.error >= exact
            x.append(n_arms)
            seen.append(regret.mean)
            floor.append(theory.halving_lower_bound(**size))
        series.append(Series(f"FPML, B = {budget}", x, seen, look))
        series.append(Series(f"(1/4)^B T, B = {budget}", x, floor, look, "dotted", ""))
        texts.append(f"B = {budget}: {seen[-1]:.2f} against {floor[-1]:.3f}")
    text = (
        f"FPML's regret lies above the bound for every N; at "
        f"N = {2 ** log2_arms[-1]:,}, {', '.join(texts)}."
        if holds
        else f"A measured regret lies below the exact value of the construction: {texts}."
    )
    figure = plot(
        "halving",
        "Regret where a random half of the good arms turns bad in each round, T = ⌊log2(2N/3B)⌋.",
        "number of arms N",
        "regret",
        series,
        "x",
    )
    statement = "Proposition 10: every learner has regret ≥ (1/4)^B log2(2N/3B)"
    return Found([Verdict(statement, text, holds), figure])
