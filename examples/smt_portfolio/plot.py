"""Draws the table of README.md beside this file: python examples/smt_portfolio/plot.py OUT.svg."""

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

ROW = re.compile(r"^\| (.+?) \| (\d+) \| ([\d.]+) \|", re.M)
SHOWN = {
    "all solvers at once": "all six at once",
    "`pickbest solve`": "pickbest solve",
    "best pair in hindsight": "best pair in hindsight",
    "random pairs of those that take the logic": "random pairs",
    "z3 alone": "z3 alone",
    "yices alone": "yices alone",
    "cvc5 alone": "cvc5 alone",
}


def main() -> None:
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    rows = {name.partition(":")[0]: (cores, float(s)) for name, cores, s in ROW.findall(text)}
    shown = [(label, *rows[name]) for name, label in SHOWN.items()][::-1]
    plt.rcParams |= {"font.size": 10, "svg.fonttype": "none", "font.family": "sans-serif"}
    figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
    labels = [f"{label} ({cores} core{'s' * (cores != '1')})" for label, cores, _ in shown]
    colours = ["#0072b2" if label == "pickbest solve" else "#b0b0b0" for label, *_ in shown]
    bars = axes.barh(labels, [seconds for *_, seconds in shown], color=colours)
    axes.bar_label(bars, fmt=" %.1f s")
    axes.spines[:].set_visible(False)
    axes.set_xticks([])
    axes.tick_params(left=False)
    axes.margins(x=0.1)
    title = "Processor seconds for 300 SMT problems of ten logics (2 s where there is no answer)"
    figure.suptitle(title, x=0.01, ha="left", size=10)
    figure.savefig(sys.argv[1], facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
