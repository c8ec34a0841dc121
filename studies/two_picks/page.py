"""docs/two-picks.md from its template: every number comes from a function or a kept measurement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from typing import Any

from pickbest import theory
from pickbest.catalog import make_environment
from pickbest.core.errors import load_extra
from studies.small_games import (
    hedge_worst_case,
    minimax_regret,
    partial_worst_case,
    spared_rule_loss,
)
from studies.two_picks.measure import (
    BUDGETS,
    CURVE_ARMS,
    GAP,
    GROWTH_ARMS,
    KEPT,
    LAWS,
    LENGTHS,
    RACE_ARMS,
    RACE_BUDGET,
    RACE_LENGTHS,
    RACERS,
    catalog_games,
)

ROOT = Path(__file__).parents[2]
TEMPLATE, PAGE = Path(__file__).with_name("page.template"), ROOT / "docs" / "two-picks.md"
PICTURE = ROOT / "docs" / "img" / "two_picks.svg"
ARMS = 32
NAMES = {"bose-einstein": "Bose-Einstein", "shannon": "Shannon", "guan": "Guan"}
COLOURS = {"bose-einstein": "#0b6fb8", "shannon": "#c1440e", "guan": "#777777"}

Found = dict[str, list[list[float]]]


def page() -> str:
    """The page as Markdown."""
    found: Found = json.loads(KEPT.read_text(encoding="utf-8"))
    text = Template(TEMPLATE.read_text(encoding="utf-8"))
    return text.substitute(constants() | tables(found))


def constants() -> dict[str, str]:
    """The numbers of the text, by their names in the template."""
    two, three = ({"n_arms": ARMS, "budget": b} for b in (2, 3))
    far = 10**6
    closed = {
        b: theory.hedge_partial_bound(n_arms=far, budget=b) / (far - b + 1) for b in (2, 3, 4)
    }
    log = {b: theory.hedge_partial_bound(n_arms=ARMS, budget=b, law="shannon") for b in (2, 3)}
    ln = theory.hedge_bound(n_arms=ARMS, budget=2) * theory.constant_rate(budget=2)
    tuned = {b: theory.relative_tuning(budget=b) for b in (2, 3)}
    games = {game: minimax_regret(*game, rounds=4) for game in SMALL}
    worst = {way: max(hedge_worst_case(*game, 8, way) / value for game, value in games.items())
             for way in (False, True)}  # fmt: skip
    ours = {b: theory.hedge_partial_bound(n_arms=ARMS, budget=b) for b in (2, 3)}
    return {
        **{f"closed_{b}": f"{value:.2f}" for b, value in closed.items()},
        "rates": ", ".join(f"η_{b} = {theory.constant_rate(budget=b):.4f}" for b in (2, 3, 4, 6)),
        **{
            name: " / ".join(f"{bound(n_arms=ARMS, budget=b):.2f}" for b in (2, 3, 4))
            for name, bound in (
                ("nested", theory.lower_bound_nested),
                ("spared", _spared),
                ("nested_upper", theory.hedge_bound),
            )
        },
        "factor_spared": f"{theory.hedge_bound(**two) / _spared(**two):.2f}",
        "partial_worst": f"{partial_worst_case(3, 2, 4):.2f}",
        "partial_bound": f"{theory.hedge_partial_bound(n_arms=3, budget=2):.2f}",
        "rule_loss": f"{spared_rule_loss(5, 2, 3):.3f}",
        "factor_independent": f"{worst[False]:.2f}",
        "factor_distinct": f"{worst[True]:.2f}",
        **{f"g_{b}": f"{tuned[b].stretch:g}" for b in (2, 3)},
        **{f"z_{b}": f"{tuned[b].rate:g}" for b in (2, 3)},
        "e_2": f"{tuned[2].explore:g}",
        "pair_3": f"{log[3] / (ARMS - 2) / ln:.3f}",
        "pair_2": f"{log[2] / (ARMS - 1) / ln:.2f}",
        "gap_2": f"{ours[2] / theory.hidden_arm_lower_bound(**two):.0f}",
        "gap_3": f"{ours[3] / theory.hidden_arm_lower_bound(**three):.0f}",
        "guan_2": f"{theory.guan_bound(**two) / ours[2]:.1f}",
        "guan_3": f"{theory.guan_bound(**three) / ours[3]:.0f}",
        "race_arms": f"{RACE_ARMS}",
        "race_budget": f"{RACE_BUDGET}",
        "race_gap": f"{GAP:g}",
    }


SMALL = ((3, 2), (4, 2), (4, 3))
# Rounds that the spared arm is looked ahead: more bring more, and take longer.
SPARED_ROUNDS = 20


def _spared(n_arms: int, budget: int) -> float:
    return theory.lower_bound_spared(n_arms=n_arms, budget=budget, rounds=SPARED_ROUNDS)


def tables(found: Found) -> dict[str, str]:
    """The tables of the page, and what is said of the measurements."""
    longest = max(t for t in RACE_LENGTHS if f"race/{next(iter(RACERS))}/{t}" in found)
    return {
        "summary_table": _summary(),
        "small_table": _small(),
        "race_table": _races(found),
        "catalog_table": _catalog(found),
        "race_uniform": f"{GAP * longest * (1 - RACE_BUDGET / RACE_ARMS):,.0f}",
        "replicates": "20",
        "above": _above(found),
    }


def _summary() -> str:
    budgets = (2, 3, 4, 6)
    rows: list[tuple[str, list[float]]] = [
        ("FPML, Theorem 2, full feedback, T = 10^4",
         [theory.fpml_regret_bound(n_arms=ARMS, budget=b, rounds=10**4) for b in budgets]),
        ("Hedge, full feedback, every T",
         [theory.hedge_bound(n_arms=ARMS, budget=b) for b in budgets]),
        ("no learner is below, full feedback",
         [max(_spared(ARMS, b), theory.lower_bound_nested(n_arms=ARMS, budget=b))
          for b in budgets]),
        ("`hedge-partial`, every T",
         [theory.hedge_partial_bound(n_arms=ARMS, budget=b) for b in budgets]),
        ("the same with Hedge's law",
         [theory.hedge_partial_bound(n_arms=ARMS, budget=b, law="shannon") for b in budgets]),
        ("Guan 2026", [theory.guan_bound(n_arms=ARMS, budget=b) for b in budgets]),
        ("`hedge-partial`, races, 1 in 10 watched",
         [theory.watched_bound(n_arms=ARMS, budget=b, watched=0.1) for b in budgets]),
        ("no learner is below, semi-bandit",
         [theory.hidden_arm_lower_bound(n_arms=ARMS, budget=b) for b in budgets]),
    ]  # fmt: skip
    shown = [[name, *(_number(value) for value in values)] for name, values in rows]
    return _table([f"N = {ARMS}", *(f"B = {b}" for b in budgets)], shown)


def _small() -> str:
    rows = [
        [f"{n}, {b}", *(f"{value:.3f}" for value in (
            minimax_regret(n, b, rounds=4), theory.lower_bound_spared(n_arms=n, budget=b),
            hedge_worst_case(n, b, 8), hedge_worst_case(n, b, 8, distinct=True),
            theory.hedge_bound(n_arms=n, budget=b)))]
        for n, b in SMALL
    ]  # fmt: skip
    heads = ["N, B", "minimax", "spared arm", "Hedge, independent draws", "Hedge as played"]
    return _table([*heads, "ln N / η_B"], rows)


def _races(found: Found) -> str:
    lengths = [t for t in RACE_LENGTHS if all(f"race/{name}/{t}" in found for name in RACERS)]
    rows = []
    for name in RACERS:
        cells = [found[f"race/{name}/{t}"][0] for t in lengths]
        bound = f"{cells[0][2]:.0f}" if len(cells[0]) > 2 else "none"
        rows.append([name, *(f"{cell[0]:.0f} ± {cell[1]:.0f}" for cell in cells), bound])
    return _table(["", *(f"T = {t:,}" for t in lengths), "bound"], rows)


def _catalog(found: Found) -> str:
    """Rows: learner and T. Columns: B. Cells: the largest share of the bound."""
    shares: dict[tuple[str, int, int], float] = {}
    for name, rows in _catalog_cells(found):
        environment, rounds = name
        games = catalog_games(make_environment(environment).n_arms)
        for (spec, budget), (mean, _, bound) in zip(games, rows, strict=True):
            length = max((t for t in LENGTHS if t <= rounds), default=LENGTHS[0])
            key = spec, length, budget
            shares[key] = max(shares.get(key, 0.0), mean / bound)
    lines = []
    for spec in ("hedge", "hedge-partial"):
        for length in sorted({key[1] for key in shares})[::2]:
            values = [shares.get((spec, length, b)) for b in BUDGETS]
            lines.append([f"`{spec}`", f"{length:,}",
                          *("-" if v is None else f"{v:.2f}" for v in values)])  # fmt: skip
    return _table(["learner", "T", *(f"B = {b}" for b in BUDGETS)], lines)


def _above(found: Found) -> str:
    """Cells of the catalog that exceed their bound by more than three standard errors."""
    cells = [
        f"{environment}/{rounds}"
        for (environment, rounds), rows in _catalog_cells(found)
        if any(mean > bound + 3.0 * error for mean, error, bound in rows)
    ]
    which = f"These are above their bounds: {', '.join(cells)}." if cells else "None is above."
    return f"{which} (By more than three standard errors.)"


def _catalog_cells(found: Found) -> Iterable[tuple[tuple[str, int], list[list[float]]]]:
    for name, rows in found.items():
        kind, *rest = name.split("/")
        if kind == "catalog":
            yield (rest[0], int(rest[1])), rows


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (heads, *rows)]
    return "\n".join([lines[0], "|---" + "|---:" * (len(heads) - 1) + "|", *lines[1:]])


def draw() -> None:
    """The picture: regret against T, against N, and in races against T."""
    matplotlib: Any = load_extra("matplotlib", "plots", "drawing the picture of two-picks.md")
    matplotlib.use("svg")
    plt: Any = load_extra("matplotlib.pyplot", "plots", "drawing the picture of two-picks.md")
    found: Found = json.loads(KEPT.read_text(encoding="utf-8"))
    matplotlib.rcParams["svg.hashsalt"] = "two-picks"
    figure, (left, right, races) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for law in LAWS:
        for budget, line in ((2, "-"), (3, "--")):
            label = f"{NAMES[law]}, B = {budget}"
            style = {"color": COLOURS[law], "linestyle": line, "label": label}
            curve = found.get(f"curve/{law}/{budget}")
            if curve:
                times = LENGTHS[: len(curve)]
                left.loglog(times, [cell[0] for cell in curve], marker="o", **style)
                left.axhline(curve[0][2], color=COLOURS[law], linestyle=":", linewidth=0.8)
            sizes = [n for n in GROWTH_ARMS if f"growth/{law}/{n}/{budget}" in found]
            if sizes:
                cells = [found[f"growth/{law}/{n}/{budget}"][0] for n in sizes]
                right.loglog(sizes, [cell[0] for cell in cells], marker="o", **style)
                right.loglog(sizes, [cell[2] for cell in cells], ":", color=COLOURS[law], lw=0.8)
    left.set(xlabel="rounds T", ylabel="regret", title=f"One good arm of {CURVE_ARMS}")
    right.set(xlabel="arms N", title="One good arm of N, T = 300 N")
    for racer, colour in zip(RACERS, ("#0b6fb8", "#4aa3df", "#555555"), strict=True):
        cells = [found[f"race/{racer}/{rounds}"][0] for rounds in RACE_LENGTHS]
        races.loglog(RACE_LENGTHS, [c[0] for c in cells], "o-", color=colour, label=racer)
        if len(cells[0]) > 2:
            races.axhline(cells[0][2], color=colour, linestyle=":", linewidth=0.8)
    races.set(xlabel="rounds T", title=f"Races of {RACE_ARMS} arms, B = {RACE_BUDGET}")
    left.legend(fontsize=7)
    races.legend(fontsize=7)
    figure.savefig(PICTURE, metadata={"Date": None})
