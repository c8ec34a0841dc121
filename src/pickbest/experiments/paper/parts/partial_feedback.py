"""Proposition 5: FPML on estimated costs, and the estimates on which its bound fails."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.experiments.paper import cost_sequences
from pickbest.experiments.paper.estimates import Estimate, growth
from pickbest.experiments.paper.experiment import Found, Setting, regret_of
from pickbest.report.document import Cell, Column, Figure, Series, Table, Verdict

# The good arm of the counterexample is better by this over sqrt(T).
GAP = 3.0
CAP = 2.0


def partial_feedback(
    setting: Setting,
    *,
    n_arms: int,
    budgets: Sequence[int],
    rounds: int,
    explore: Sequence[float],
    hard_arms: int,
    hard_budget: int,
    hard_rounds: Sequence[int],
) -> Found:
    """Regret against the cap K of the estimates; and regret on estimates that hide the best arm."""
    figure, below = _by_cap(setting, n_arms, budgets, rounds, explore)
    games = {length: _hidden_arm(setting, hard_arms, hard_budget, length) for length in hard_rounds}
    claims = {length: _claim(hard_arms, hard_budget, length) for length in hard_rounds}
    proved = {length: _proved(hard_arms, hard_budget, length) for length in hard_rounds}
    broken = [
        length for length, seen in games.items() if seen.mean - 2 * seen.error > claims[length]
    ]
    last = hard_rounds[-1]
    rate = growth(list(hard_rounds), [games[length].mean for length in hard_rounds])
    text = f"Where one arm explores and one arm is good, {below}. "
    if broken:
        text += (
            f"But it is **not true** for every unbiased estimate: with N = {hard_arms}, "
            f"B = {hard_budget} and estimates in [0, 2], regret at T = {last:,} is "
            f"{games[last].mean:.0f} ± {games[last].error:.0f}, above the printed bound "
            f"{claims[last]:.0f}; it grows like {rate}, not T^{1 / (hard_budget + 1):.2f}. "
            f"The bound that we can prove, 2 sqrt(T K ln N) = {proved[last]:.0f}, holds."
        )
    else:
        text += f"The estimates that hide the best arm stay under it too ({games[last].mean:.0f})."
    findings = []
    if broken:
        findings.append(
            f"Proposition 5 is false for B ≥ 2: with N = {hard_arms} arms, B = {hard_budget}, "
            f"T = {last:,} and unbiased estimates in [0, 2], FPML's regret is "
            f"{games[last].mean:.0f} ± {games[last].error:.0f} (standard error), the printed "
            f"bound {claims[last]:.0f}. Its proof treats the estimate of the arm that leads "
            "after a round as unbiased. [Details](#partial-feedback)"
        )
    verdict = Verdict("Proposition 5: regret ≤ 2 T^(1/(B+1)) (K ln N)^(B/(B+1))", text, not broken)
    return Found(
        [
            verdict,
            figure,
            _hidden_figure(hard_arms, hard_budget, games, claims, proved),
            _hidden_table(games, claims, proved),
        ],
        findings,
    )


def _by_cap(
    setting: Setting, n_arms: int, leaders: Sequence[int], rounds: int, explore: Sequence[float]
) -> tuple[Figure, str]:
    """B leaders and one more arm that explores: unbiased estimates, at most K = N / explore."""
    caps = [n_arms / chance for chance in explore]
    series, met, total = [], 0, 0
    ends = []
    for index, budget in enumerate(leaders):
        look = f"shade {index + 1}/{len(leaders)}"
        learners = {
            str(chance): make_learner(
                "fpml-partial", n_arms, budget + 1, rounds, "proposition_5",
                weights="explore", explore=chance,
            )
            for chance in explore
        }  # fmt: skip
        simulation = setting.play(learners, cost_sequences.one_good_arm(n_arms, rounds))
        seen = [regret_of(simulation, str(chance)).mean for chance in explore]
        size = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
        limit = [theory.partial_regret_bound_as_written(**size, estimate_cap=cap) for cap in caps]
        met += sum(s <= b for s, b in zip(seen, limit, strict=True))
        total += len(caps)
        series.append(Series(f"B = {budget}", caps, seen, look))
        series.append(Series(f"bound, B = {budget}", caps, limit, look, "dotted", ""))
        ends.append(f"B = {budget} from {seen[0]:.1f} to {seen[-1]:.1f}")
    figure = Figure(
        "partial-by-cap",
        f"Regret of FPML-partial against the cap K of its estimates: B leaders and one more arm "
        f"that explores with probability N/K; {n_arms} arms, one of them good, T = {rounds:,}.",
        f"Log-log plot of regret against K from {caps[0]:.0f} to {caps[-1]:.0f}: "
        f"{', '.join(ends)}; the dotted bounds are met at {met} of {total} points.",
        "cap K of the estimates",
        "regret",
        series,
        log_x=True,
        log_y=True,
    )
    return figure, f"the printed bound holds at {met} of {total} points"


def _hidden_arm(setting: Setting, n_arms: int, budget: int, rounds: int) -> Estimate:
    """Regret of FPML when its unbiased estimates cannot tell the good arm from the others.

    The estimates do not depend on the picks, so one kept perturbation has the same expected
    regret as fresh ones.
    """
    epsilon = theory.partial_epsilon(n_arms=n_arms, budget=budget, rounds=rounds, estimate_cap=CAP)
    gap = GAP / math.sqrt(rounds)
    rng = np.random.default_rng([setting.seed, rounds])
    regrets = []
    for _ in range(setting.replicates):
        totals = np.empty((rounds, n_arms))
        totals[0] = -rng.exponential(1 / epsilon, n_arms)
        totals[1:] = cost_sequences.noisy_estimates(n_arms, rounds - 1, gap, rng)
        np.cumsum(totals, axis=0, out=totals)
        ahead = (totals[:, :-1] < totals[:, -1:]).sum(axis=1)
        regrets.append(gap * float((ahead >= budget).sum()))
    return Estimate.of(regrets)


def _claim(n_arms: int, budget: int, rounds: int) -> float:
    return theory.partial_regret_bound_as_written(
        n_arms=n_arms, budget=budget, rounds=rounds, estimate_cap=CAP
    )


def _proved(n_arms: int, budget: int, rounds: int) -> float:
    return theory.partial_regret_bound(
        n_arms=n_arms, budget=budget, rounds=rounds, estimate_cap=CAP
    )


def _hidden_figure(
    n_arms: int,
    budget: int,
    games: dict[int, Estimate],
    claims: dict[int, float],
    proved: dict[int, float],
) -> Figure:
    x = [float(length) for length in games]
    last = max(games)
    return Figure(
        "partial-counterexample",
        f"The counterexample to Proposition 5: N = {n_arms}, B = {budget}, estimates 0 or 2, one "
        "arm better by 3/√T. Bars are two standard errors.",
        f"Measured regret is {games[last].mean:.0f}, the printed bound "
        f"{claims[last]:.0f}, at T = {last}; our bound is {proved[last]:.0f}.",
        "rounds T",
        "regret",
        [
            Series("proved (ours)", x, list(proved.values()), "best", "dashed", ""),
            Series(
                "FPML, measured", x, [e.mean for e in games.values()], "fpml",
                spread=[2 * e.error for e in games.values()],
            ),
            Series("printed bound", x, list(claims.values()), "og", "dotted", ""),
        ],
        log_x=True,
        log_y=True,
    )  # fmt: skip


def _hidden_table(
    games: dict[int, Estimate], claims: dict[int, float], proved: dict[int, float]
) -> Table:
    rows: list[list[Cell]] = [
        [length, seen.mean, seen.error, claims[length], proved[length]]
        for length, seen in games.items()
    ]
    columns = [
        Column("T"),
        Column("regret", 1, group="measured"),
        Column("standard error", 1, group="measured"),
        Column("printed", 1, group="bound"),
        Column("proved (ours)", 1, group="bound"),
    ]
    return Table("partial-counterexample", "The counterexample", columns, rows)
