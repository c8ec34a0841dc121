"""Guarantees with a probability, and Lemmas 3 and 4 on overtaken leaders."""

from collections.abc import Sequence

import numpy as np

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.core import FloatArray, Learner
from pickbest.environments.adversarial import Chasing
from pickbest.report.document import Cell, Column, Figure, Series, Table, Verdict, alike
from pickbest.simulation.games import deal
from studies.paper import cost_sequences
from studies.paper.estimates import Estimate
from studies.paper.experiment import Found, Setting, plot, regret_of, shaded
from studies.paper.parts.lower_bounds import foreseeing

# Of the figure of Lemma 4: noise is drawn once for each game, so many short games tell most.
DRAWS, SHORT = 1_000, 60


def markov(setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: int) -> Found:
    """The tail of FPML's regret with one kept perturbation, compared with Markov's inequality."""
    series, rows = [], list[list[Cell]]()
    shares, farthest = [], 0.0
    for look, budget in shaded(budgets):
        learners = _fixed_and_fresh(n_arms, budget, rounds)
        simulation = setting.play(learners, cost_sequences.one_good_arm(n_arms, rounds))
        game = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
        regrets = {kind: simulation.regret(kind) for kind in learners}
        law = theory.good_arm_regret(**game, epsilon=theory.fpml_epsilon(**game))
        farthest = max(farthest, *(Estimate.of(own).off(law) for own in regrets.values()))
        grid = _grid(regrets["fixed"])
        tail = _tail(regrets["fixed"], grid)
        bound = theory.fpml_regret_bound(**game)
        shares += _promised(bound, grid, tail)
        chased = cost_sequences.rotating_leaders(n_arms, rounds, budget)
        rotating = setting.play({"fixed": learners["fixed"]}, chased).regret("fixed")
        shares += _promised(bound, _grid(rotating), _tail(rotating, _grid(rotating)))
        series.append(Series(f"B = {budget}", grid, tail, look, "solid", ""))
        wide = _grid(np.array([grid[0], theory.markov_guarantee(**game, probability=0.05)]))
        promised = [min(1.0, bound / value) for value in wide]
        series.append(Series(f"Markov, B = {budget}", wide, promised, look, "dotted", ""))
        fixed, fresh = (float(np.quantile(own, 0.9)) for own in regrets.values())
        rows.append([budget, fixed, theory.markov_guarantee(**game, probability=0.1),
                     fresh, theory.hoeffding_guarantee(**game, probability=0.1)])  # fmt: skip
    holds = all(shares) and farthest <= 4
    text = (
        f"The empirical tail stays under Markov's bound at {sum(shares)} of {len(shares)} points, "
        f"on one good arm and where leaders rotate; means are within {farthest:.1f} standard "
        "errors of what FPML's law gives. "
        "Measured and promised: "
        + ", ".join(
            f"at B = {row[0]} one run in ten exceeds {row[1]:.0f}, the bound says {row[2]:.0f}"
            for row in rows
        )
        + "."
    )
    columns = [
        Column("B"),
        *alike("90% of runs stay below", "Markov", digits=1, group="kept perturbation"),
        *alike("90% of runs stay below", "Hoeffding (ours)", digits=1, group="fresh perturbations"),
    ]
    note = (
        "Markov's inequality needs the pathwise bound of Lemma 3, which a kept perturbation has "
        "and fresh ones have not; for those Hoeffding's inequality helps."
    )
    figure = plot(
        "markov",
        f"How often the regret reaches a value: FPML with one kept perturbation, {n_arms} arms, "
        f"T = {rounds:,} (solid), and Markov's bound (dotted).",
        "regret",
        "share of runs with at least this regret",
        series,
        "xy",
    )
    table = Table("markov", "The regret that one run in ten exceeds", columns, rows, note)
    return Found([Verdict("Section 2: Markov guarantee", text, holds), figure, table])


def fresh_noise(setting: Setting, *, rounds: int) -> Found:
    """One kept perturbation and fresh ones against an adversary that sees the picks, B = 1.

    The arm that was picked last costs 1, the other one 0, which finds out a learner that keeps its
    perturbation.
    """
    game = {"n_arms": 2, "budget": 1, "rounds": rounds}
    bound = theory.fpml_regret_bound(**game)
    learners = _fixed_and_fresh(2, 1, rounds)
    simulation = setting.play(learners, Chasing(2, rounds, width=1, memory=0.0))
    kept, fresh = (regret_of(simulation, kind) for kind in learners)
    text = (
        f"Two arms, T = {rounds:,}; the arm picked last costs 1, the other 0. With one kept "
        f"perturbation regret is {kept.mean:.0f} ± {kept.error:.0f}, with fresh ones "
        f"{fresh.mean:.0f} ± {fresh.error:.0f} (standard errors); the bound for costs fixed in "
        f"advance is {bound:.0f}."
    )
    statement = "Proof of Theorem 2: fresh perturbations are necessary against adaptive adversaries"
    return Found([Verdict(statement, text, kept.above(bound) and fresh.mean <= bound)])


def _fixed_and_fresh(n_arms: int, budget: int, rounds: int) -> dict[str, Learner]:
    """FPML with one kept perturbation, and with fresh ones."""
    return {
        kind: make_learner("fpml", n_arms, budget, rounds, perturbations=kind)
        for kind in ("fixed", "fresh")
    }


def _tail(regrets: FloatArray, grid: Sequence[float]) -> list[float]:
    return [float(np.mean(regrets >= value)) for value in grid]


def _promised(bound: float, grid: Sequence[float], tail: Sequence[float]) -> list[bool]:
    """Whether Markov's inequality allows each share of runs."""
    return [share <= bound / value + 1e-12 for share, value in zip(tail, grid, strict=True)]


def _grid(values: FloatArray) -> list[float]:
    top = float(max(values.max(), 2.0))
    return [float(value) for value in np.geomspace(1.0, top, 40)]


def overtaking(setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: int) -> Found:
    """Lemma 3: regret of the B leaders ≤ overtakings; Lemma 4: how rare noise makes them."""
    rows: list[list[Cell]] = []
    holds = True
    rng = np.random.default_rng(setting.seed)
    for name in ("alternating", "bernoulli", "task-2", "rotating leaders", "Proposition 1"):
        for budget in budgets:
            costs = _costs(name, n_arms, rounds, budget, setting.seed)
            events = np.cumsum(theory.overtakings(costs, budget))
            regret = theory.leaders_regret(costs, budget)
            met = bool((regret <= events + 1e-9).all())
            size = {"n_arms": costs.shape[1], "budget": budget, "rounds": rounds}
            epsilon = theory.fpml_epsilon(**size)
            seen = _overtaken(setting, costs, budget, epsilon, setting.replicates, rng)
            limit = rounds * (1 - float(np.exp(-epsilon))) ** budget
            holds = holds and met and seen.mean <= limit + 4 * seen.error
            rows.append([name, budget, int(events[-1]), float(regret[-1]), seen.mean, limit])
    text = (
        f"Regret stays at or under the count in every round of {len(rows)} games, and noise with "
        "Theorem 2's ε keeps the mean count under T (1 − e^−ε)^B."
        if holds
        else "A count or a bound is exceeded; see the table."
    )
    columns = [
        *alike("costs", "B"),
        Column("overtakings", group="no noise (Lemma 3)"),
        Column("regret", 1, group="no noise (Lemma 3)"),
        *alike("overtakings", "bound", digits=1, group="Theorem 2's ε (Lemma 4)"),
    ]
    table = Table("overtaking", f"After {rounds:,} rounds", columns, rows)
    return Found([Verdict("Lemmas 3 and 4: overtaken leaders", text, holds),
                  _overtaking_figure(setting, n_arms, budgets), table])  # fmt: skip


def _overtaken(
    setting: Setting,
    costs: FloatArray,
    budget: int,
    epsilon: float,
    games: int,
    rng: np.random.Generator,
) -> Estimate:
    """In how many rounds the B leaders are overtaken, with noise of mean 1/ε."""
    scale = 1 / (epsilon * setting.sabotage.epsilon)
    noises = rng.exponential(scale, (games, costs.shape[1]))
    return Estimate.of([theory.overtakings(costs, budget, noise).sum() for noise in noises])


def _overtaking_figure(setting: Setting, n_arms: int, budgets: Sequence[int]) -> Figure:
    """Lemma 4 on the costs that are worst without noise: the less noise, the more overtakings."""
    series, rng = [], np.random.default_rng(setting.seed)
    grid = np.geomspace(0.3, 3.0, 6).tolist()
    for look, budget in shaded(budgets):
        costs = cost_sequences.rotating_leaders(n_arms, SHORT, budget).costs_table
        seen = [_overtaken(setting, costs, budget, e, DRAWS, rng).mean / SHORT for e in grid]
        known = {x: y for x, y in zip(grid, seen, strict=True) if y > 0}
        series.append(Series(f"B = {budget}", [*known], [*known.values()], look))
        bound = [(1 - float(np.exp(-epsilon))) ** budget for epsilon in grid]
        series.append(Series(f"bound, B = {budget}", grid, bound, look, "dotted", ""))
    return plot(
        "overtaking",
        "Lemma 4: the share of rounds in which the B leaders are overtaken, where "
        "leaders rotate (without noise: every round), against the ε of the noise. Dotted: the "
        "bound (1 − e^−ε)^B.",
        "ε (noise has mean 1/ε)",
        "share of rounds with an overtaking",
        series,
        "xy",
    )


def _costs(name: str, n_arms: int, rounds: int, budget: int, seed: int) -> FloatArray:
    if name == "Proposition 1":
        return foreseeing(n_arms, rounds, budget)
    if name == "rotating leaders":
        return cost_sequences.rotating_leaders(n_arms, rounds, budget).costs_table
    size = None if name == "task-2" else n_arms
    return deal(make_environment(name, rounds=rounds, n_arms=size), seed)
