"""The picture of docs/two-picks.md: regret against T, oracle calls against 1/ε, small games.

PYTHONPATH=. python benchmarks/two_picks_figure.py [--out docs/img/two_picks.svg]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from rich.progress import track

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.simulation.simulate import simulate
from studies.linear_programs.generated_problems import FAMILIES
from studies.linear_programs.two_draws import solved
from studies.paper.cost_sequences import one_good_arm
from studies.small_games import hedge_worst_case, minimax_regret

ARMS = 32
LENGTHS = tuple(10**k for k in range(2, 7))
ACCURACIES = (0.08, 0.04, 0.02, 0.01, 0.005)
GAMES = ((3, 2), (4, 2), (4, 3))
COLOURS = {1: "#999999", 2: "#0b6fb8", 3: "#c1440e"}


def regret(spec: str, budget: int, rounds: int) -> float:
    environment = one_good_arm(ARMS, rounds)
    learner = make_learner(spec, ARMS, budget, rounds)
    return float(simulate({spec: learner}, environment, 20, seed=1).regret(spec).mean())


def draw_regret(axes: Axes) -> None:
    for budget, colour in COLOURS.items():
        paper = [regret("fpml", budget, rounds) for rounds in track(LENGTHS, f"B = {budget}")]
        axes.loglog(LENGTHS, paper, "--", color=colour, label=f"B = {budget}, FPML, Theorem 2")
        if budget > 1:
            constant = [regret("fpml:noise=gumbel", budget, rounds) for rounds in LENGTHS]
            axes.loglog(LENGTHS, constant, "-", color=colour, label=f"B = {budget}, Gumbel")
            bound = theory.gumbel_bound(n_arms=ARMS, budget=budget)
            least = theory.lower_bound_nested(n_arms=ARMS, budget=budget)
            axes.axhline(bound, color=colour, linestyle=":", linewidth=1)
            axes.axhline(least, color=colour, linestyle=(0, (1, 4)), linewidth=1)
    axes.set(xlabel="rounds T", ylabel="regret", title=f"One good arm of {ARMS}")
    axes.legend(fontsize=7)


def draw_calls(axes: Axes) -> None:
    """Medians over the feasible families."""
    problems = [make(np.random.default_rng([0, 0, i])) for i, make in enumerate(FAMILIES.values())]
    problems = [one for one in problems if solved(one, 0.01, "product").x is not None]
    for tuning, colour in (("proposition_8", "#999999"), ("product", "#0b6fb8")):
        calls = [
            np.median([solved(one, epsilon, tuning).calls for one in problems])
            for epsilon in track(ACCURACIES, tuning)
        ]
        label = {"product": "two draws", "proposition_8": "Proposition 8"}[tuning]
        axes.loglog([1 / e for e in ACCURACIES], calls, "o-", color=colour, label=label)
    axes.set_xticks([1 / e for e in ACCURACIES], [f"{1 / e:.0f}" for e in ACCURACIES], minor=False)
    axes.minorticks_off()
    axes.set(xlabel="1 / ε", ylabel="oracle calls, B = 2", title="Linear programs")
    axes.legend(fontsize=7)


def draw_games(axes: Axes) -> None:
    values = {
        "no learner below (minimax)": [minimax_regret(*game, rounds=4) for game in GAMES],
        "Hedge's worst case": [hedge_worst_case(*game, rounds=8) for game in GAMES],
        "ln N / η": [theory.hedge_bound(n_arms=n, budget=b) for n, b in GAMES],
    }
    places = np.arange(len(GAMES))
    for number, (label, heights) in enumerate(values.items()):
        colour = ("#999999", "#0b6fb8", "#c1440e")[number]
        axes.bar(places + 0.27 * (number - 1), heights, 0.25, label=label, color=colour)
    axes.set_xticks(places, [f"N = {n}, B = {b}" for n, b in GAMES])
    axes.set(ylabel="regret", ylim=(0, 1.45), title="Exact small games")
    axes.legend(fontsize=7)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/img/two_picks.svg"))
    options = parser.parse_args()
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    draw_regret(axes[0])
    draw_calls(axes[1])
    draw_games(axes[2])
    figure.savefig(options.out, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
