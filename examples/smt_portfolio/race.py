"""A live race, recorded and drawn: python examples/smt_portfolio/race.py [--again] OUT.svg.

--again runs it anew: pickbest, two at a time, with every SMT solver that is installed and takes the
logic QF_ABV. Else what is kept beside this file is drawn: what each process did, and for how long.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

sys.path.append(str(Path(__file__).parents[1]))
from pickbest import Portfolio
from pickbest.portfolio.solve.known import SMTLIB, installed
from smt_portfolio import logics

RECORD = Path(__file__).parent / "race.json"
LOGIC, PROBLEMS, DEADLINE = "QF_ABV", 60, 5.0
COLOURS = {"won": "#0072b2", "later": "#9ecae1", "stopped": "#b8b8b8", "failed": "#d55e00"}
SHOWN = {"won": "first", "later": "answered later", "stopped": "stopped", "failed": "no answer"}
FATES = {"finished": "later", "stopped": "stopped"}


def race() -> list[list[tuple[str, str, float]]]:
    """For every problem, what became of the solvers that were picked: (solver, fate, seconds)."""
    solvers = installed(SMTLIB, LOGIC)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in logics.stream(10 * PROBLEMS + 100, 1):
            if name.endswith(f"-{LOGIC}") and len(paths) < PROBLEMS:
                paths.append(Path(folder) / f"{name}.smt2")
                paths[-1].write_text(text)
        arms = {name: list(solver.on("{problem}")) for name, solver in solvers.items()}
        with Portfolio(arms, budget=2, deadline=DEADLINE, seed=1) as portfolio:
            for result in portfolio.map([str(path) for path in paths]):
                told = []
                for run in result.runs:
                    won = run.arm == result.winner
                    fate = "won" if won else FATES.get(run.status, "failed")
                    told.append((run.arm, fate, round(run.seconds, 4)))
                rounds.append(told)
    return rounds


def draw(rounds: list[list[tuple[str, str, float]]], path: str) -> None:
    """A row for each solver, a column for each problem, a square for each process."""
    wins = Counter({arm: 0 for runs in rounds for arm, *_ in runs})
    wins.update(arm for runs in rounds for arm, fate, _ in runs if fate == "won")
    lanes = sorted(wins, key=lambda arm: wins[arm])
    waited = sum(seconds for runs in rounds for _, fate, seconds in runs if fate == "won")
    plt.rcParams |= {"font.size": 10, "svg.fonttype": "none", "font.family": "sans-serif"}
    figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
    for fate, colour in COLOURS.items():
        places = [
            (t, arm) for t, runs in enumerate(rounds, 1) for arm, met, _ in runs if met == fate
        ]
        columns, rows = [t for t, _ in places], [lanes.index(arm) for _, arm in places]
        axes.scatter(columns, rows, s=38, marker="s", color=colour, label=SHOWN[fate])
    axes.set_yticks(range(len(lanes)), [f"{arm}: {wins[arm]} × first" for arm in lanes])
    axes.set(xlim=(0, len(rounds) + 1), ylim=(-0.6, len(lanes) - 0.4), xlabel="problem")
    axes.spines[:].set_visible(False)
    axes.tick_params(left=False)
    title = (
        f"{len(rounds)} problems, two of {len(lanes)} solvers each: {waited:.1f} s to the answers"
    )
    figure.suptitle(title, x=0.01, ha="left", size=10)
    figure.legend(loc="outside lower right", ncols=4, frameon=False, handletextpad=0)
    figure.savefig(path, facecolor="white", metadata={"Date": None})


def main() -> None:
    if "--again" in sys.argv:
        RECORD.write_text(json.dumps(race()).replace("]], ", "]],\n") + "\n")
    draw(json.loads(RECORD.read_text()), sys.argv[-1])


if __name__ == "__main__":
    main()
