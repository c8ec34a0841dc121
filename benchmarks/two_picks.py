"""Regret that does not grow with time: every environment of the catalog, T = 10^2 … 10^6.

python benchmarks/two_picks.py [--most 1000000] [--replicates 20] [--out FOLDER]

Writes two_picks.json (finished cells are kept: run it again and it goes on) and two_picks.md: the
largest regret of Gumbel FPML, hedge and hedge-partial as a share of its bound, by T and B, and the
time of a round beside that of FPML, measured in turns in one process.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.progress import track

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.environments import Table
from pickbest.simulation.games import deal_all, play_dealt
from pickbest.simulation.simulate import simulate
from timing import best_of

LEARNERS = {
    "fpml:noise=gumbel": theory.gumbel_bound,
    "hedge": theory.hedge_bound,
    "hedge-partial": theory.hedge_partial_bound,
}
BUDGETS = (2, 3, 4, 5, 6)
# Environments that react to the player are played round by round: a million take minutes.
MOST_ADAPTIVE = 10_000
# The costs of an environment for all replicates together, as numbers.
MOST_COSTS = 40_000_000


def cells(most: int) -> list[tuple[str, int]]:
    """(environment, T)."""
    lengths = [10**k for k in range(2, 7) if 10**k <= most]
    found = []
    for name in environment_names():
        standard = make_environment(name)
        # Halving is over after log2(N) rounds.
        for rounds in [standard.rounds] if name == "halving" else lengths:
            if not (standard.adaptive and rounds > MOST_ADAPTIVE):
                found.append((name, rounds))
    return found


def regrets(name: str, rounds: int, replicates: int) -> dict[str, dict[str, list[float]]]:
    """By environment/T/B and learner: mean regret, its standard error, the bound."""
    environment = make_environment(name if name == "halving" else f"{name}:rounds={rounds}")
    n_arms = environment.n_arms
    fits = max(3, MOST_COSTS // (rounds * n_arms))
    games = [(one, b) for b in BUDGETS if b < n_arms for one in LEARNERS]
    players = {f"{one}/{b}": make_learner(one, n_arms, b, rounds) for one, b in games}
    played = simulate(players, environment, min(replicates, fits), seed=1, progress=None)
    found: dict[str, dict[str, list[float]]] = {}
    for one, b in games:
        regret = played.regret(f"{one}/{b}", "best_arm")
        error = float(np.std(regret, ddof=1) / np.sqrt(len(regret)))
        row = [float(np.mean(regret)), error, LEARNERS[one](n_arms=n_arms, budget=b)]
        found.setdefault(f"{name}/{rounds}/{b}", {})[one] = row
    return found


def speeds(rounds: int = 100_000) -> dict[str, dict[int, float]]:
    """Seconds of FPML's round over those of each learner's round, uniform costs, N = 10."""
    dealt = deal_all(Table(np.random.default_rng(0).random((rounds, 10))), 1, seed=0)

    def seconds(spec: str, budget: int) -> float:
        player = make_learner(spec, 10, budget, rounds)
        return best_of(lambda: play_dealt(player, dealt, 1, seed=0), 9)

    found: dict[str, dict[int, float]] = {}
    for budget in BUDGETS:
        paper = seconds("fpml", budget)
        for spec in ("fpml:noise=gumbel", "hedge"):
            found.setdefault(spec, {})[budget] = paper / seconds(spec, budget)
    return found


def markdown(found: dict[str, dict[str, list[float]]], speed: dict[str, dict[int, float]]) -> str:
    """The largest share of the bound over all environments, by learner, T and B."""
    lines = ["| learner | T | " + " | ".join(f"B = {b}" for b in BUDGETS) + " |"]
    lines.append("|---|---:|" + "---:|" * len(BUDGETS))
    lengths = sorted({int(key.split("/")[1]) for key in found})
    for learner in LEARNERS:
        for rounds in lengths:
            row = []
            for budget in BUDGETS:
                shares = [
                    (values[learner][0] / values[learner][2], key.split("/")[0])
                    for key, values in found.items()
                    if key.split("/")[1:] == [str(rounds), str(budget)]
                ]
                row.append("{:.2f} ({})".format(*max(shares)) if shares else "-")
            lines.append(f"| {learner} | {rounds:,} | " + " | ".join(row) + " |")
    lines += ["", "| rounds a second, beside FPML's | " + " | ".join(f"B = {b}" for b in BUDGETS)]
    lines[-1] += " |"
    lines.append("|---|" + "---:|" * len(BUDGETS))
    for spec, by_budget in speed.items():
        lines.append(f"| {spec} | " + " | ".join(f"{by_budget[b]:.2f}" for b in BUDGETS) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "two_picks.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name, rounds in track(cells(options.most), "playing"):
        if f"{name}/{rounds}/{BUDGETS[0]}" not in found:
            found |= regrets(name, rounds, options.replicates)
            kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
    text = markdown(found, speeds())
    (options.out / "two_picks.md").write_text(text, encoding="utf-8")
    print(text)
    above = [
        (key, learner)
        for key, values in found.items()
        for learner, (mean, error, bound) in values.items()
        if mean > bound + 3.0 * error
    ]
    print("above its bound by more than three standard errors:", above or "none")
    return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
