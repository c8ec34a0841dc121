"""What learning from races is worth, over tables of runtimes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import Learner, PickbestError
from pickbest.core.progress import Progress
from pickbest.environments.runtimes import read_runtimes
from pickbest.learners.auto import Schedules, racing
from pickbest.portfolio.run.costs import as_cost
from pickbest.simulation.replay import (
    Races,
    Replay,
    best_fixed,
    orders,
    random_costs,
    random_sets,
    replay,
    replay_plans,
)
from pickbest.simulation.statistics import standard_error
from studies.censored_thompson import CensoredThompson

COSTS = ("solved", "runtime")
RULES = {
    "deadline": None,
    "intervals": 1.0,
    "intervals, 1/4": 0.25,
    "unwatched": 0.0,
    "thompson": 1.0,
    "buckley-james": 1.0,
}
PLAIN = ("unwatched",)
PRICES = (0.0, 0.1, 0.3, 1.0)
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What is played. deadline: of tables that do not say their own, in seconds."""

    rounds: int = 400
    replicates: int = 10
    costs: tuple[str, ...] = COSTS
    rules: tuple[str, ...] = tuple(RULES)
    prices: tuple[float, ...] = PRICES
    deadline: float = 1200.0


def censoring_rows(
    name: str,
    races: Races,
    cost: str,
    budget: int,
    rounds: int,
    replicates: int,
    rules: Sequence[str] = tuple(RULES),
) -> Iterator[Row]:
    """Each rule's share of the gap between random sets and the best, and its processor time."""
    order = orders(len(races.times), rounds, replicates, 0)
    gap = random_sets(races, budget).mean_cost - best_fixed(races, budget).mean_cost
    random = random_costs(races, budget)[order].mean(axis=1)
    for rule in rules:
        played = replay(races, _learner(rule, races, cost, budget), RULES[rule], order)
        shares = (random - played.paid.mean(axis=1)) / gap
        yield {
            "table": name,
            "cost": cost,
            "budget": budget,
            "rule": rule,
            "rounds": rounds,
            "share": float(shares.mean()),
            "error": standard_error(shares),
            "shares": shares.tolist(),
            **_means(played, races),
        }


def price_rows(
    name: str,
    races: Races,
    cost: str,
    rounds: int,
    replicates: int,
    prices: Sequence[float] = PRICES,
    most: int = 4,
) -> Iterator[Row]:
    """Auto with every fixed budget, and learned schedules at every price."""
    order = orders(len(races.times), rounds, replicates, 0)
    said = {"table": name, "cost": cost}
    for budget in range(1, min(most, races.n_arms) + 1):
        learner = racing(make_learner("auto", races.n_arms, budget))
        played = replay(races, learner, RULES["intervals"], order)
        for price in prices:
            yield {**said, "rule": f"auto, B = {budget}", **_priced(played, races, price)}
    for price in prices:
        planner = Schedules(races.n_arms, min(most, races.n_arms), price=price, cost=cost)
        played = replay_plans(races, planner, order)
        staged = float((played.arms[..., 0] >= 0).mean())
        yield {**said, "rule": "schedules", "staged": staged, **_priced(played, races, price)}


def _priced(played: Replay, races: Races, price: float) -> Row:
    """totals: of each order."""
    totals = (played.paid + price * played.cpu_seconds / races.deadline).mean(axis=1)
    return {
        "price": price,
        "total": float(totals.mean()),
        "totals": totals.tolist(),
        **_means(played, races),
    }


def _means(played: Replay, races: Races) -> Row:
    """Of the cost, of processor time as a share of the deadline, and of problems solved."""
    return {
        "paid": float(played.paid.mean()),
        "cpu": float(played.cpu_seconds.mean()) / races.deadline,
        "solved": float(played.solved.mean()),
    }


def _learner(rule: str, races: Races, cost: str, budget: int) -> Learner:
    if rule in ("thompson", "buckley-james"):
        filled = rule == "buckley-james"
        return CensoredThompson(races.n_arms, budget, cost == "runtime", filled)
    return racing(make_learner("auto", races.n_arms, budget))


def summary_of_censoring(rows: list[Row]) -> str:
    """Means over cells of every rule; processor time compared with the leanest rule."""
    cells = {(row["table"], row["cost"], row["budget"]) for row in rows}
    lean = min(np.mean([row["cpu"] for row in rows if row["rule"] == rule]) for rule in PLAIN)
    lines = [f"{len(cells)} cells; rule, mean share, processor time, times the leanest"]
    for rule in dict.fromkeys(row["rule"] for row in rows):
        own = [row for row in rows if row["rule"] == rule]
        share, cpu = (float(np.mean([row[key] for row in own])) for key in ("share", "cpu"))
        worse = [row for row in own if row["share"] < -2.0 * row["error"]]
        named = ", ".join(f"{row['table']} {row['cost']} B={row['budget']}" for row in worse)
        lines.append(
            f"{rule:14s} {share:.3f} {cpu:.3f} {cpu / lean:.3f}  worse than random: {named}"
        )
    return "\n".join(lines)


def summary_of_prices(rows: list[Row]) -> str:
    """Mean total costs over tables; and how far below auto with each fixed budget."""
    lines = [
        "price, mean total cost of each rule; schedules beside the best fixed budget of all "
        "tables (± standard error over orders), and beside that of each table"
    ]
    for price in sorted({row["price"] for row in rows}):
        own = [row for row in rows if row["price"] == price]
        rules = sorted({row["rule"] for row in own})
        tables = sorted({(row["table"], row["cost"]) for row in own})
        cost = {(row["table"], row["cost"], row["rule"]): row["total"] for row in own}
        whole = [t for t in tables if all((*t, rule) in cost for rule in rules)]
        means = {rule: float(np.mean([cost[(*t, rule)] for t in whole])) for rule in rules}
        fixed = [rule for rule in rules if rule != "schedules"]
        rival = min(fixed, key=lambda rule: means[rule])
        best = means[rival]
        orders_of = {
            (row["table"], row["cost"], row["rule"]): np.array(row["totals"]) for row in own
        }
        gaps = [orders_of[(*t, "schedules")] - orders_of[(*t, rival)] for t in whole]
        error = standard_error(np.mean(gaps, axis=0)) / best
        each = float(np.mean([min(cost[(*t, rule)] for rule in fixed) for t in whole]))
        lines.append(
            f"{price:g}: "
            + ", ".join(f"{rule} {mean:.4f}" for rule, mean in means.items())
            + f"; {means['schedules'] / best - 1.0:+.1%} ± {error:.1%}"
            + f", {means['schedules'] / each - 1.0:+.1%}"
        )
    return "\n".join(lines)


def draw(rows: list[Row], path: Path) -> None:
    """Mean cost of answers against processor time over all tables: one curve a rule."""
    from pickbest.report.plots import new_figure

    figure, axes = new_figure()
    tables = {(row["table"], row["cost"]) for row in rows if row["rule"] == "auto, B = 4"}
    whole = [row for row in rows if (row["table"], row["cost"]) in tables]
    curves = {
        "auto, a fixed number of arms": [
            (f"B = {budget}", _point(whole, f"auto, B = {budget}", PRICES[0]))
            for budget in range(1, 5)
        ],
        "learned schedules": [
            (f"price {price:g}", _point(whole, "schedules", price)) for price in PRICES
        ],
    }
    for name, points in curves.items():
        axes.plot(*zip(*(at for _, at in points), strict=True), marker="o", label=name)
        for text, at in points:
            axes.annotate(text, at, textcoords="offset points", xytext=(6, 4), fontsize=8)
    axes.set_xlabel("processor time a round, in deadlines")
    axes.set_ylabel("mean cost of the answer")
    axes.legend(frameon=False)
    figure.savefig(path)


def _point(rows: list[Row], rule: str, price: float) -> tuple[float, float]:
    own = [row for row in rows if row["rule"] == rule and row["price"] == price]
    return float(np.mean([row["cpu"] for row in own])), float(np.mean([row["paid"] for row in own]))


def play(
    tables: Sequence[Path],
    out: Path,
    study: str,
    options: Options,
    progress: Progress | None = None,
) -> list[Row]:
    """All rows of the study, of which those that `out` holds are not played again."""
    rows = read_rows(out)
    done = {row["key"] for row in rows}
    keys = []
    cells = [
        (path, cost, budget)
        for path in tables
        for cost in options.costs
        for budget in ((2, 3) if study == "censoring" else (0,))
    ]
    for number, (path, cost, budget) in enumerate(cells, start=1):
        table = read_runtimes(path)
        races = Races.of(table, table.cutoff or options.deadline, as_cost(cost))
        key = f"{path.stem}, {cost}, {budget}, {options}"
        keys.append(key)
        if key not in done and budget < races.n_arms:
            shape = (options.rounds, options.replicates)
            played = (
                censoring_rows(path.stem, races, cost, budget, *shape, options.rules)
                if study == "censoring"
                else price_rows(path.stem, races, cost, *shape, options.prices)
            )
            new = [{"key": key, **row} for row in played]
            with out.open("a") as file:
                file.write("".join(f"{json.dumps(row)}\n" for row in new))
            rows += new
        if progress:
            progress(number, len(cells), f"{path.stem}, {cost}")
    return [row for row in rows if row["key"] in keys]


def read_rows(path: Path) -> list[Row]:
    """What an earlier run has played; none where there is no file."""
    if not path.exists():
        return []
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except ValueError as error:
        raise PickbestError(f"{path}: every line must be a JSON object ({error})") from error
