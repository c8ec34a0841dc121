"""Theorem 2 in play: FPML's regret against the single best arm, by budget and rounds."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from pickbest import theory
from pickbest.catalog import make_environment
from pickbest.core import Environment, FloatArray
from pickbest.report.document import Cell, Column, Figure, Series, Table, Text, Verdict, alike
from studies.paper import cost_sequences
from studies.paper.estimates import NEAR, Estimate, slope
from studies.paper.experiment import Found, Setting, against_rounds, shaded
from studies.report.sections import shade

# Standard errors that a mean may be off what it should be.
SURE = 4.0


def trade_off(
    setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]
) -> Found:
    """Regret against T for several budgets on one good arm, with bounds and fitted slopes.

    The verdict fails where a mean is above the bound, there or on leaders that rotate; where it is
    not what the law of FPML gives; and where a slope is not the theorem's.
    """
    games = list(product(budgets, rounds))
    measured = [_good_arm(setting, n_arms, *game) for game in games]
    means = np.reshape([one.mean for one in measured], (len(budgets), -1))
    bounds = np.reshape([_bound(n_arms, *game) for game in games], means.shape)
    rotating = [_rotating(setting, n_arms, rounds[-1], budget).mean for budget in budgets]
    slopes = [slope(rounds, own) for own in means.tolist()]
    below = (means <= bounds).all() and (rotating <= bounds[:, -1]).all()
    farthest = max(o.off(_by_law(n_arms, *game)) for o, game in zip(measured, games, strict=True))
    bends = max(
        math.inf if fitted is None else abs(fitted - 1 / (budget + 1))
        for budget, fitted in zip(budgets, slopes, strict=True)
    )
    share = (means / bounds).max()
    text = (
        f"Measured regret is at most {share:.0%} of the bound over all {len(measured)} points on "
        f"one good arm, and within {farthest:.1f} standard errors of what FPML's law gives. "
        f"Its fitted slope differs from 1/(B+1) by at most {bends:.3f}. Where leaders rotate, and "
        f"following them without noise would have a regret of up to {rounds[-1] // 2:,}, it "
        f"is at most {max(rotating):.0f}."
    )
    holds = bool(below) and farthest <= SURE and bends <= NEAR
    verdict = Verdict("Theorem 2: regret ≤ 2 T^(1/(B+1)) (1 + ln N)^(B/(B+1))", text, holds)
    return Found(
        [
            verdict,
            _figure(n_arms, budgets, rounds, means, bounds, slopes),
            _table(budgets, rounds, means, bounds, slopes),
            Text(
                "Costs are fixed in advance. One arm always costs 0 and the others 1: the worst "
                "environment that we know for FPML with B ≥ 2 ([comparison](#environments), "
                "[computed for small games](#worst-sequence)). What grows with T here is the noise "
                "(1 + ln N)/ε that Theorem 2's ε asks for, not the number of overtaken leaders."
            ),
        ]
    )


def _good_arm(setting: Setting, n_arms: int, budget: int, rounds: int) -> Estimate:
    return setting.regret(cost_sequences.one_good_arm(n_arms, rounds), budget, "fpml")


def _rotating(setting: Setting, n_arms: int, rounds: int, budget: int) -> Estimate:
    """What following the leaders without noise cannot do."""
    return setting.regret(cost_sequences.rotating_leaders(n_arms, rounds, budget), budget, "fpml")


def _by_law(n_arms: int, budget: int, rounds: int) -> float:
    """The exact expected regret on one good arm."""
    size = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
    return theory.good_arm_regret(**size, epsilon=theory.fpml_epsilon(**size))


def _bound(n_arms: int, budget: int, rounds: int) -> float:
    return theory.fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds)


Slopes = Sequence[float | None]


def _figure(
    n_arms: int, budgets: Sequence[int], rounds: Sequence[int],
    means: FloatArray, bounds: FloatArray, slopes: Slopes,
) -> Figure:  # fmt: skip
    series = []
    curves = [*zip(budgets, slopes, means.tolist(), bounds.tolist(), strict=True)]
    for look, (budget, fitted, own, limit) in shaded(curves):
        label = f"B = {budget}: T^{fitted:.2f}" if fitted is not None else f"B = {budget}"
        series.append(Series(label, rounds, own, look))
        bound = f"bound, T^{1 / (budget + 1):.2f}"
        series.append(Series(bound, rounds, limit, look, "dotted", ""))
    return against_rounds(
        "trade-off",
        f"FPML's regret against the number of rounds, {n_arms} arms, one of them good. Solid: "
        "measured, with the fitted power of T. Dotted, in the same colour: Theorem 2's bound.",
        series,
    )


def _table(
    budgets: Sequence[int], rounds: Sequence[int],
    means: FloatArray, bounds: FloatArray, slopes: Slopes,
) -> Table:  # fmt: skip
    columns = [Column("B"), *alike("measured", "1/(B+1)", digits=3, group="slope")]
    columns += alike(*(f"T = {length:,}" for length in rounds[::2]), digits=1, group="regret")
    columns.append(Column(f"T = {rounds[-1]:,}", 1, group="bound"))
    rows: list[list[Cell]] = [
        [budget, fitted, 1 / (budget + 1), *own[::2], limit[-1]]
        for budget, fitted, own, limit in zip(
            budgets, slopes, means.tolist(), bounds.tolist(), strict=True
        )
    ]
    return Table("trade-off", "Regret by budget and rounds", columns, rows)


NAMED = ("task-1", "task-2", "task-3", "regime-change", "bernoulli", "one-good-arm", "halving",
         "alternating", "chasing")  # fmt: skip


def environments(setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: int) -> Found:
    """Regret of FPML on every environment of the catalog and on ours, compared with the bound.

    Two leaders that rotate are where one arm fewer than the theorem's two shows.
    """
    rows: list[list[Cell]] = []
    worst: dict[int, tuple[float, str]] = {}
    broken = []
    for name in (*NAMED, "narrowing", "rotating leaders", "two rotating leaders"):
        row: list[Cell] = [name]
        for budget in budgets:
            environment = _environment(name, n_arms, rounds, budget)
            if budget >= environment.n_arms:
                row.append(None)
                continue
            regret = setting.regret(environment, budget, "fpml").mean
            row.append(regret)
            worst[budget] = max(worst.get(budget, (-math.inf, "")), (regret, name))
            if regret > _bound(environment.n_arms, budget, rounds):
                broken.append(f"{name}, B = {budget}")
        rows.append(row)
    bounds = [_bound(n_arms, budget, rounds) for budget in budgets]
    rows.append([f"bound of Theorem 2, N = {n_arms}", *bounds])
    where = ", ".join(f"B = {b}: {name} ({regret:.1f})" for b, (regret, name) in worst.items())
    text = f"The bound holds everywhere. Worst at {where}."
    if broken:
        text = f"The bound is exceeded on {'; '.join(broken)}. Worst at {where}."
    marked = [
        (index, 1 + budgets.index(budget))
        for budget, (_, name) in worst.items()
        for index, row in enumerate(rows)
        if row[0] == name
    ]
    columns = [Column("environment"), *(Column(f"B = {b}", 1, group="regret") for b in budgets)]
    note = (
        "Below 0: B arms did better than the single best arm. chasing reacts to the player and "
        "is outside of the theorem. Bold: the worst of each column."
    )
    title = f"Regret of FPML after {rounds:,} rounds"
    return Found(
        [
            Verdict("Theorem 2 on every environment", text, not broken),
            Table("environments", title, columns, rows, note, marked),
        ]
    )


def _environment(name: str, n_arms: int, rounds: int, budget: int) -> Environment:
    if name == "narrowing":
        epsilon = theory.fpml_epsilon(n_arms=n_arms, budget=budget, rounds=rounds)
        return cost_sequences.narrowing(n_arms, rounds, stage=max(1, round(0.25 / epsilon)))
    if name.endswith("rotating leaders"):
        chased = 1 if name.startswith("two") else budget
        return cost_sequences.rotating_leaders(n_arms, rounds, chased)
    if name.startswith("task") or name == "regime-change":
        return make_environment(name, rounds=rounds)
    return make_environment(name, rounds=rounds, n_arms=n_arms)


def constant_regret(
    setting: Setting, *, n_arms: int, rounds: Sequence[int], fixed_budget: int
) -> Found:
    """With B = ceil(ln T), regret should not grow with T."""
    growing = [theory.constant_regret_budget(length) for length in rounds]
    games = [*zip(growing, rounds, strict=True), *((fixed_budget, length) for length in rounds)]
    measured = [_good_arm(setting, n_arms, *game) for game in games]
    with_growing, with_fixed = np.reshape([one.mean for one in measured], (2, -1)).tolist()
    farthest = max(o.off(_by_law(n_arms, *game)) for o, game in zip(measured, games, strict=True))
    rotating = [
        _rotating(setting, n_arms, length, budget).mean
        for length, budget in zip(rounds, growing, strict=True)
    ]
    limit = theory.constant_regret_bound(n_arms)
    rises = with_growing[-1] > with_growing[0]
    text = (
        f"With B = ⌈ln T⌉ (from {growing[0]} to {growing[-1]}) regret goes from "
        f"{with_growing[0]:.2f} at T = {rounds[0]:,} to {with_growing[-1]:.2f} at "
        f"T = {rounds[-1]:,}; the constant bound is {limit:.1f}. With B = {fixed_budget} it "
        f"goes from {with_fixed[0]:.1f} to {with_fixed[-1]:.1f}. All are within {farthest:.1f} "
        "standard errors of what FPML's law gives. Where leaders rotate, regret with B = ⌈ln T⌉ is "
        f"at most {max(rotating):.1f}."
    )
    holds = not rises and max(*with_growing, *rotating) <= limit and farthest <= SURE
    figure = against_rounds(
        "constant-regret",
        "Regret against T when the budget grows like ln T, and when it stays.",
        [
            Series("bound 2e(1 + ln N)", rounds, [limit] * len(rounds), "best", "dotted", ""),
            Series(f"B = {fixed_budget}", rounds, with_fixed, shade(2, 5)),
            Series("B = ⌈ln T⌉", rounds, with_growing, shade(4, 5)),
        ],
    )
    statement = "Section 2: from B = ln T on, regret does not grow with T"
    return Found([Verdict(statement, text, holds), figure])
