"""Theorem 2 in play: FPML's regret against the single best arm, by budget and rounds."""

import math
from collections.abc import Sequence

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.core import Environment
from pickbest.experiments.paper import cost_sequences
from pickbest.experiments.paper.estimates import NEAR, Estimate, slope
from pickbest.experiments.paper.experiment import Found, Setting, against_rounds, regret_of, shaded
from pickbest.report.document import Cell, Column, Figure, Series, Table, Text, Verdict

# Standard errors that a mean may be off what it should be.
SURE = 4.0


def trade_off(
    setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]
) -> Found:
    """Regret against T for several budgets on one good arm, with bounds and fitted slopes.

    The verdict fails where a mean is above the bound, there or on leaders that rotate; where it is
    not what the law of FPML gives; and where a slope is not the theorem's.
    """
    measured = {
        (budget, length): _regret(setting, cost_sequences.one_good_arm(n_arms, length), budget)
        for budget in budgets
        for length in rounds
    }
    bounds = {
        (budget, length): theory.fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=length)
        for budget, length in measured
    }
    rotating = {b: _rotating(setting, n_arms, rounds[-1], b).mean for b in budgets}
    slopes = {
        budget: slope(rounds, [measured[budget, length].mean for length in rounds])
        for budget in budgets
    }
    below = all(measured[key].mean <= bounds[key] for key in measured) and all(
        regret <= bounds[budget, rounds[-1]] for budget, regret in rotating.items()
    )
    farthest = max(one.off(_by_law(n_arms, *key)) for key, one in measured.items())
    bends = max(
        math.inf if value is None else abs(value - 1 / (budget + 1))
        for budget, value in slopes.items()
    )
    share = max(measured[key].mean / bounds[key] for key in measured)
    text = (
        f"Measured regret is at most {share:.0%} of the bound over all {len(measured)} points on "
        f"one good arm, and within {farthest:.1f} standard errors of what FPML's law gives. "
        f"Its fitted slope differs from 1/(B+1) by at most {bends:.3f}. Where leaders rotate, and "
        f"following them without noise would have a regret of up to {rounds[-1] // 2:,}, it "
        f"is at most {max(rotating.values()):.0f}."
    )
    holds = below and farthest <= SURE and bends <= NEAR
    verdict = Verdict("Theorem 2: regret ≤ 2 T^(1/(B+1)) (1 + ln N)^(B/(B+1))", text, holds)
    return Found(
        [
            verdict,
            _figure(n_arms, budgets, rounds, measured, bounds, slopes),
            _table(budgets, rounds, measured, bounds, slopes),
            Text(
                "Costs are fixed in advance. One arm always costs 0 and the others 1: the worst "
                "environment that we know for FPML with B ≥ 2 ([comparison](#environments), "
                "[computed for small games](#worst-sequence)). What grows with T here is the noise "
                "(1 + ln N)/ε that Theorem 2's ε asks for, not the number of overtaken leaders."
            ),
        ]
    )


def _regret(setting: Setting, environment: Environment, budget: int) -> Estimate:
    learner = make_learner("fpml", environment.n_arms, budget, environment.rounds)
    return regret_of(setting.play({"fpml": learner}, environment), "fpml")


def _by_law(n_arms: int, budget: int, rounds: int) -> float:
    """The exact expected regret on one good arm."""
    size = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
    return theory.good_arm_regret(**size, epsilon=theory.fpml_epsilon(**size))


def _rotating(setting: Setting, n_arms: int, rounds: int, budget: int) -> Estimate:
    """What following the leaders without noise cannot do."""
    return _regret(setting, cost_sequences.rotating_leaders(n_arms, rounds, budget), budget)


def _figure(
    n_arms: int,
    budgets: Sequence[int],
    rounds: Sequence[int],
    measured: dict[tuple[int, int], Estimate],
    bounds: dict[tuple[int, int], float],
    slopes: dict[int, float | None],
) -> Figure:
    x = [float(length) for length in rounds]
    series = []
    for look, budget in shaded(budgets):
        fitted = slopes[budget]
        label = f"B = {budget}: {fitted:.2f}" if fitted is not None else f"B = {budget}"
        y = [measured[budget, length].mean for length in rounds]
        series.append(Series(label, x, y, look))
        limit = [bounds[budget, length] for length in rounds]
        series.append(Series(f"{1 / (budget + 1):.2f}", x, limit, look, "dotted", ""))
    first, last = rounds[0], rounds[-1]
    ends = ", ".join(
        f"B = {b} from {measured[b, first].mean:.1f} to {measured[b, last].mean:.1f}"
        for b in budgets
    )
    return against_rounds(
        "trade-off",
        f"FPML's regret against the number of rounds, {n_arms} arms, one of them good. Solid: "
        "measured, with the fitted exponent of T; dotted: Theorem 2, with its exponent 1/(B+1).",
        f"Log-log plot of regret against rounds from {first} to {last}: {ends}."
        f" Bounds at T = {last}: " + ", ".join(f"B = {b} {bounds[b, last]:.0f}" for b in budgets),
        series,
    )


def _table(
    budgets: Sequence[int],
    rounds: Sequence[int],
    measured: dict[tuple[int, int], Estimate],
    bounds: dict[tuple[int, int], float],
    slopes: dict[int, float | None],
) -> Table:
    columns = [Column("B"), Column("measured", 3, group="slope")]
    columns.append(Column("1/(B+1)", 3, group="slope"))
    columns += [Column(f"T = {length:,}", 1, group="regret") for length in rounds[::2]]
    columns.append(Column(f"T = {rounds[-1]:,}", 1, group="bound"))
    rows: list[list[Cell]] = [
        [
            budget,
            slopes[budget],
            1 / (budget + 1),
            *(measured[budget, length].mean for length in rounds[::2]),
            bounds[budget, rounds[-1]],
        ]
        for budget in budgets
    ]
    return Table("trade-off", "Regret by budget and rounds", columns, rows)


NAMED = ("task-1", "task-2", "task-3", "regime-change", "bernoulli", "one-good-arm", "halving",
         "alternating", "chasing")  # fmt: skip


def environments(setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: int) -> Found:
    """Regret of FPML on every environment of the catalog and on ours, beside the bound.

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
            regret = _regret(setting, environment, budget).mean
            bound = theory.fpml_regret_bound(
                n_arms=environment.n_arms, budget=budget, rounds=rounds
            )
            row.append(regret)
            worst[budget] = max(worst.get(budget, (-math.inf, "")), (regret, name))
            if regret > bound:
                broken.append(f"{name}, B = {budget}")
        rows.append(row)
    bounds = [
        theory.fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds) for budget in budgets
    ]
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
    measured = {
        (budget, length): _regret(setting, cost_sequences.one_good_arm(n_arms, length), budget)
        for length, several in zip(rounds, growing, strict=True)
        for budget in (several, fixed_budget)
    }
    with_growing = [measured[key].mean for key in zip(growing, rounds, strict=True)]
    with_fixed = [measured[fixed_budget, length].mean for length in rounds]
    farthest = max(
        one.off(_by_law(n_arms, budget, length)) for (budget, length), one in measured.items()
    )
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
    x = [float(length) for length in rounds]
    figure = against_rounds(
        "constant-regret",
        "Regret against T when the budget grows like ln T, and when it stays.",
        f"Regret with B = ⌈ln T⌉ goes from {with_growing[0]:.2f} to {with_growing[-1]:.2f} while "
        f"T grows from {rounds[0]} to {rounds[-1]}; with B = {fixed_budget} it goes from "
        f"{with_fixed[0]:.1f} to {with_fixed[-1]:.1f}; the constant bound is {limit:.1f}.",
        [
            Series("bound 2e(1 + ln N)", x, [limit] * len(x), "best", "dotted", ""),
            Series(f"B = {fixed_budget}", x, with_fixed, "shade 2/5"),
            Series("B = ⌈ln T⌉", x, with_growing, "shade 4/5"),
        ],
    )
    statement = "Section 2: from B = ln T on, regret does not grow with T"
    return Found([Verdict(statement, text, holds), figure])
