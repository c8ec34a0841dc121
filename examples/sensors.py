"""Where to put six sensors in a town, when what happens where changes from day to day.

python examples/sensors.py [--plot FILE]

Each of 80 posts can hold a sensor that hears what happens near it. Every morning six are
placed; in the evening it is known where things happened, so the day can be judged for any
placement (full feedback). The share of events that some sensor heard is a coverage job. Week
days and weekends differ, the town shifts over the two years, and there are days of one big event.
"""

from __future__ import annotations

import argparse

import numpy as np

from pickbest.core import replicate_keys, rng_for
from pickbest.learners import Uniform
from pickbest.report.palette import GREY, OKABE_ITO
from pickbest.report.plots import check_plot_path, name_lines, style
from pickbest.submodular import OnlineGreedy, online_greedy, online_hybrid, play_jobs
from pickbest.submodular.jobs import TableJobs, best_schedule, coverage, greedy_schedule

POSTS, SENSORS, DAYS, GAMES = 80, 6, 730, 20
REACH = 0.16
WINDOW = 60


class Town:
    """Posts and places where things happen, and how much happens there each day."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.posts = rng.random((POSTS, 2))
        self.places = rng.random((150, 2))
        self.covers = np.linalg.norm(self.posts[:, None] - self.places[None], axis=2) < REACH
        centres = rng.random((5, 2))
        near = np.exp(-((self.places[None] - centres[:, None]) ** 2).sum(axis=2) / 0.02)
        days = np.arange(DAYS)
        weekend = days % 7 >= 5
        rising = days / DAYS
        activity = np.stack(
            [
                np.where(weekend, 0.2, 1.0),
                np.where(weekend, 1.0, 0.3),
                1.0 - rising,
                rising,
                np.full(DAYS, 0.5),
            ],
            axis=1,
        )
        events = activity @ near + 0.05
        events *= rng.gamma(1.0, 1.0, events.shape)
        for day in np.flatnonzero(rng.random(DAYS) < 0.08):
            centre = self.places[rng.integers(len(self.places))]
            distance = ((self.places - centre) ** 2).sum(axis=1)
            events[day] += 3.0 * np.exp(-distance / 0.005)
        self.shares = events / events.sum(axis=1, keepdims=True)

    def jobs(self) -> TableJobs:
        return coverage(self.covers, self.shares)


LOOKS = {
    "best fixed six": (OKABE_ITO[6], "--"),
    "greedy fixed six": (OKABE_ITO[5], "--"),
    "OG (AdaHedge)": (OKABE_ITO[1], "-"),
    "OG (Hedge, theorem)": (OKABE_ITO[4], "-"),
    "OG_hybrid, slots of 2": (OKABE_ITO[2], "-"),
    "random": (GREY, ":"),
}


def rules() -> dict[str, OnlineGreedy]:
    size = (POSTS, SENSORS, DAYS)
    return {
        "OG (AdaHedge)": online_greedy(*size, distinct=True),
        "OG (Hedge, theorem)": online_greedy(*size, distinct=True, tuning="theorem"),
        "OG_hybrid, slots of 2": online_hybrid(*size, slot_budget=2, distinct=True),
    }


def play(jobs: TableJobs) -> dict[str, np.ndarray]:
    """(games, days) share of events heard, for every rule."""
    heard = {name: play_jobs(rule, jobs, GAMES).values for name, rule in rules().items()}
    uniform, keys = Uniform(POSTS, SENSORS), replicate_keys(0, GAMES)
    picks = [uniform.pick({}, rng_for(keys, t)).arms for t in range(DAYS)]
    heard["random"] = np.stack([jobs.values(row) for row in np.swapaxes(picks, 0, 1)])
    heard["greedy fixed six"] = jobs.values(greedy_schedule(jobs, SENSORS).arms)[None]
    heard["best fixed six"] = jobs.values(best_schedule(jobs, SENSORS).arms)[None]
    return heard


def posts_used(jobs: TableJobs) -> np.ndarray:
    """(posts,) on how many of the last days one game of OG had a sensor there."""
    learner = rules()["OG (AdaHedge)"]
    state, keys = learner.start(1), replicate_keys(0, 1)
    used = np.zeros(POSTS)
    for t in range(DAYS):
        plan = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, plan, jobs.round(t))
        if t >= DAYS - WINDOW:
            used[plan.choice.arms[0]] += 1
    return used


def draw(town: Town, used: np.ndarray, best: list[int], heard: dict, path: str) -> None:
    """The town with its sensors, and what they heard over time."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    figure = Figure(figsize=(10.5, 4.4), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
    busy = town.shares[-WINDOW:].mean(axis=0)
    left.scatter(*town.places.T, s=2500 * busy, color="#bbbbbb", linewidth=0, label="what happens")
    for post in np.flatnonzero(used >= 0.2 * WINDOW):
        circle = Circle(
            town.posts[post], REACH, color=OKABE_ITO[1], alpha=0.28 * used[post] / WINDOW
        )
        left.add_patch(circle)
    shown = used > 0
    left.scatter(*town.posts[shown].T, s=90 * used[shown] / WINDOW, color=OKABE_ITO[1],
                 label="OG's sensors")  # fmt: skip
    left.scatter(*town.posts[best].T, s=110, facecolor="none", edgecolor=OKABE_ITO[6],
                 linewidth=1.2, label="best fixed six")  # fmt: skip
    left.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[], yticks=[], aspect="equal")
    left.set_title(f"The last {WINDOW} days", loc="left", fontsize=11)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False, fontsize=8.5,
                handletextpad=0.2, columnspacing=1.0)  # fmt: skip

    style(right)
    when = np.arange(WINDOW, DAYS)
    for name, (colour, line) in LOOKS.items():
        total = np.cumsum(heard[name].mean(axis=0))
        curve = (total[WINDOW:] - total[:-WINDOW]) / WINDOW
        right.plot(when, curve, color=colour, linestyle=line, linewidth=1.5, label=name)
    right.set_xlabel("day")
    right.set_ylabel(f"events heard, mean of {WINDOW} days")
    right.set_title(f"{SENSORS} sensors on {POSTS} posts", loc="left", fontsize=11)
    name_lines(right)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Placing six sensors in a changing town.")
    parser.add_argument("--plot", default="sensors.png", help="file for the plot")
    path = check_plot_path(parser.parse_args().plot)
    town = Town()
    jobs = town.jobs()
    heard = play(jobs)
    greedy = heard["greedy fixed six"].mean()
    print(f"{'rule':<24}{'heard':>8}{'of greedy':>11}{'last half':>11}")
    for name in LOOKS:
        days = heard[name]
        print(
            f"{name:<24}{days.mean():>8.1%}{days.mean() / greedy:>11.1%}"
            f"{days[:, DAYS // 2 :].mean():>11.1%}"
        )
    best = list(best_schedule(jobs, SENSORS).arms)
    draw(town, posts_used(jobs), best, heard, str(path))
    print(f"plot: {path}")


if __name__ == "__main__":
    main()
