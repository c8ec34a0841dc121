"""Which bidders to invite to a first-price auction, when there is room for four of twenty.

python examples/bidding.py [--plot FILE]

Each page view is sold to the highest of the invited bidders, if the bid reaches the reserve
price. Bidders care for different audiences; half-way, some run out of money and others arrive.
The seller sees the bids of those that were invited, nothing else. The revenue of an auction is
the best of the invited bids: a best-of job.
"""

from __future__ import annotations

import argparse

import numpy as np

from pickbest.core import replicate_keys, rng_for
from pickbest.learners import Uniform
from pickbest.report.palette import GREY, OKABE_ITO
from pickbest.report.plots import check_plot_path, name_lines, new_figure
from pickbest.submodular import online_greedy, online_hybrid, play_jobs
from pickbest.submodular.jobs import TableJobs, best_of, best_schedule

BIDDERS, INVITED, AUCTIONS, GAMES = 20, 4, 6_000, 20
AUDIENCES = ("sport", "travel", "tech", "news")
RESERVE = 0.25
WINDOW = 300


def auctions(seed: int = 0) -> TableJobs:
    """What each bidder would pay in each auction: 0 below the reserve price, at most 1."""
    rng = np.random.default_rng(seed)
    audience = rng.choice(len(AUDIENCES), AUCTIONS, p=[0.4, 0.3, 0.2, 0.1])
    taste = 0.25 * rng.random((2, BIDDERS, len(AUDIENCES)))
    for half in range(2):
        # A few bidders of each half pay well, each for one audience; the strongest also compete.
        keen = rng.choice(BIDDERS, 8, replace=False)
        taste[half, keen, np.arange(8) % 4] = [0.75, 0.7, 0.7, 0.65, 0.55, 0.6, 0.5, 0.5]
    half = (np.arange(AUCTIONS) >= AUCTIONS // 2).astype(int)
    value = taste[half[:, None], np.arange(BIDDERS), audience[:, None]]
    # A first-price bid is shaded below the value, and bidders disagree on what a view is worth.
    bids = np.clip(0.9 * value * rng.lognormal(0.0, 0.25, value.shape), 0.0, 1.0)
    bids[rng.random(bids.shape) < 0.1] = 0.0
    return best_of(np.where(bids >= RESERVE, bids, 0.0))


def play(jobs: TableJobs) -> dict[str, np.ndarray]:
    """(games, auctions) revenue of every rule."""
    learners = {
        "OG (Exp3)": online_greedy(BIDDERS, INVITED, AUCTIONS, feedback="picked", distinct=True),
        "OG_hybrid, slots of 2": online_hybrid(
            BIDDERS, INVITED, AUCTIONS, slot_budget=2, feedback="picked", distinct=True
        ),
        "FPML (one slot of 4)": online_hybrid(
            BIDDERS, INVITED, AUCTIONS, slot_budget=INVITED, feedback="picked"
        ),
    }
    revenue = {name: play_jobs(rule, jobs, GAMES).values for name, rule in learners.items()}
    uniform, keys = Uniform(BIDDERS, INVITED), replicate_keys(0, GAMES)
    picks = [uniform.pick({}, rng_for(keys, t)).arms for t in range(AUCTIONS)]
    revenue["random"] = np.stack([jobs.values(row) for row in np.swapaxes(picks, 0, 1)])
    best = best_schedule(jobs, INVITED)
    revenue["best fixed four"] = jobs.values(best.arms)[None]
    return revenue


LOOKS = {
    "best fixed four": (OKABE_ITO[6], "--"),
    "OG_hybrid, slots of 2": (OKABE_ITO[2], "-"),
    "OG (Exp3)": (OKABE_ITO[1], "-"),
    "FPML (one slot of 4)": (OKABE_ITO[0], "-"),
    "random": (GREY, ":"),
}


def draw(revenue: dict[str, np.ndarray], path: str) -> None:
    """Revenue of an auction over time, as a moving average."""
    figure, axes = new_figure(7.5, 4.0)
    for name, (colour, line) in LOOKS.items():
        total = np.cumsum(revenue[name].mean(axis=0))
        curve = (total[WINDOW:] - total[:-WINDOW]) / WINDOW
        when = np.arange(WINDOW, AUCTIONS)
        axes.plot(when, curve, color=colour, linestyle=line, linewidth=1.6, label=name)
    axes.axvline(AUCTIONS // 2, color=GREY, linewidth=0.8)
    axes.annotate("bidders change", (AUCTIONS // 2, axes.get_ylim()[0]), xytext=(4, 6),
                  textcoords="offset points", color=GREY, fontsize=9)  # fmt: skip
    axes.set_xlabel("auction")
    axes.set_ylabel(f"revenue, mean of {WINDOW} auctions")
    axes.set_title(f"Inviting {INVITED} of {BIDDERS} bidders", loc="left")
    name_lines(axes)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--plot", default="bidding.png", help="file for the plot")
    path = check_plot_path(parser.parse_args().plot)
    revenue = play(auctions())
    print(f"{'rule':<24}{'revenue':>9}{'sold':>8}{'first half':>12}{'second half':>13}")
    half = AUCTIONS // 2
    for name in LOOKS:
        games = revenue[name]
        print(
            f"{name:<24}{games.mean():>9.3f}{(games > 0).mean():>8.1%}"
            f"{games[:, :half].mean():>12.3f}{games[:, half:].mean():>13.3f}"
        )
    draw(revenue, str(path))
    print(f"plot: {path}")


if __name__ == "__main__":
    main()
