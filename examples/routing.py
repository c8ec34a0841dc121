"""Sending each packet over three of thirty routes at once, when delays drift.

python examples/routing.py [--plot FILE]

The network is Zachary's karate club (Zachary 1977), a real topology that ships with NetworkX;
packets go from member 0 to member 33. A link is a queue whose load drifts. A packet takes the
first copy that arrives: its worth falls with the delay, and is 0 after the deadline. Routes
that share links are slow together, so good sets of routes avoid each other's links. Only the
delays of the routes that were used are seen.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import islice, pairwise

import networkx as nx
import numpy as np

from pickbest.core import replicate_keys, rng_for
from pickbest.learners import Uniform
from pickbest.report.palette import GREY, OKABE_ITO
from pickbest.report.plots import check_plot_path, name_lines, style
from pickbest.submodular import OnlineGreedy, online_greedy, online_hybrid, play_jobs
from pickbest.submodular.jobs import TableJobs, best_of, best_schedule

SOURCE, GOAL = 0, 33
ROUTES, COPIES, PACKETS, GAMES = 30, 3, 5_000, 20
DEADLINE = 20.0
WINDOW = 250
Route = list[int]


def shortest_routes(network: nx.Graph) -> list[Route]:
    """The thirty shortest simple paths."""
    plain = nx.Graph(network.edges)
    return list(islice(nx.shortest_simple_paths(plain, SOURCE, GOAL), ROUTES))


def packets(routes: list[Route], seed: int = 0) -> tuple[TableJobs, np.ndarray]:
    """(jobs, delays): what every packet would take on every route (packets, routes)."""
    rng = np.random.default_rng(seed)
    links = sorted({tuple(sorted(link)) for route in routes for link in pairwise(route)})
    uses = np.array(
        [
            [tuple(sorted(link)) in map(tuple, map(sorted, pairwise(r))) for link in links]
            for r in routes
        ]
    )
    # The load of a link is a slow random walk that returns to the link's own usual load.
    usual = rng.normal(0.6, 0.8, len(links))
    steps = rng.normal(0.0, 0.05, (PACKETS, len(links)))
    load = np.empty((PACKETS, len(links)))
    level = usual.copy()
    for t in range(PACKETS):
        level += 0.001 * (usual - level) + steps[t]
        load[t] = 0.95 / (1.0 + np.exp(-level))
    # Time in an M/M/1 queue of service rate 1 is exponential with mean 1 / (1 - load).
    waits = rng.exponential(1.0, load.shape) / (1.0 - load)
    delays = waits @ uses.T
    return best_of(np.clip(1.0 - delays / DEADLINE, 0.0, 1.0)), delays


def rules() -> dict[str, OnlineGreedy]:
    size = (ROUTES, COPIES, PACKETS)
    return {
        "OG (Exp3)": online_greedy(*size, feedback="picked", distinct=True),
        "OG_hybrid, slots of 1": online_hybrid(
            *size, slot_budget=1, feedback="picked", distinct=True
        ),
        "FPML (one slot of 3)": online_hybrid(*size, slot_budget=COPIES, feedback="picked"),
    }


LOOKS = {
    "best fixed three": (OKABE_ITO[6], "--"),
    "FPML (one slot of 3)": (OKABE_ITO[0], "-"),
    "OG_hybrid, slots of 1": (OKABE_ITO[2], "-"),
    "OG (Exp3)": (OKABE_ITO[1], "-"),
    "random": (GREY, ":"),
    "one best route": (OKABE_ITO[3], "-."),
}


def play(jobs: TableJobs) -> dict[str, np.ndarray]:
    """(games, packets) worth for every rule."""
    worth = {name: play_jobs(rule, jobs, GAMES).values for name, rule in rules().items()}
    uniform, keys = Uniform(ROUTES, COPIES), replicate_keys(0, GAMES)
    picks = [uniform.pick({}, rng_for(keys, t)).arms for t in range(PACKETS)]
    worth["random"] = np.stack([jobs.values(row) for row in np.swapaxes(picks, 0, 1)])
    worth["best fixed three"] = jobs.values(best_schedule(jobs, COPIES).arms)[None]
    worth["one best route"] = jobs.values(best_schedule(jobs, 1).arms)[None]
    return worth


def links_used(jobs: TableJobs, routes: list[Route], name: str) -> Counter[tuple[int, ...]]:
    """How often each link was used by the last packets of one game of a rule."""
    learner = rules()[name]
    state, keys = learner.start(1), replicate_keys(0, 1)
    used: Counter[tuple[int, ...]] = Counter()
    for t in range(PACKETS):
        plan = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, plan, jobs.round(t))
        if t >= PACKETS - WINDOW:
            for arm in plan.choice.arms[0]:
                used.update(tuple(sorted(link)) for link in pairwise(routes[arm]))
    return used


def draw(
    network: nx.Graph, used: Counter[tuple[int, ...]], worth: dict[str, np.ndarray], path: str
) -> None:
    """The network with the links of the last packets, and the worth of packets over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.2), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.35])
    places = nx.kamada_kawai_layout(nx.Graph(network.edges))
    nx.draw_networkx_edges(network, places, ax=left, edge_color="#cccccc", width=0.7)
    shown = list(used)
    nx.draw_networkx_edges(
        network,
        places,
        edgelist=shown,
        width=[0.8 + 5.0 * used[link] / WINDOW for link in shown],
        edge_color=OKABE_ITO[0],
        ax=left,
    )
    ends = {SOURCE, GOAL}
    others = [node for node in network if node not in ends]
    nx.draw_networkx_nodes(network, places, others, node_size=28, node_color="#999999", ax=left)
    nx.draw_networkx_nodes(
        network, places, list(ends), node_size=220, node_color=OKABE_ITO[4], ax=left
    )
    nx.draw_networkx_labels(network, places, {node: str(node) for node in ends}, 9, ax=left)
    left.set_title(f"Links of FPML's last {WINDOW} packets", loc="left", fontsize=11)
    left.axis("off")

    style(right)
    when = np.arange(WINDOW, PACKETS)
    for name, (colour, line) in LOOKS.items():
        total = np.cumsum(worth[name].mean(axis=0))
        curve = (total[WINDOW:] - total[:-WINDOW]) / WINDOW
        right.plot(when, curve, color=colour, linestyle=line, linewidth=1.5, label=name)
    right.set_xlabel("packet")
    right.set_ylabel(f"worth, mean of {WINDOW} packets")
    right.set_title(f"Copies over {COPIES} of {ROUTES} routes", loc="left", fontsize=11)
    name_lines(right)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sending packets over three of thirty routes.")
    parser.add_argument("--plot", default="routing.png", help="file for the plot")
    path = check_plot_path(parser.parse_args().plot)
    network = nx.karate_club_graph()
    routes = shortest_routes(network)
    jobs, _ = packets(routes)
    worth = play(jobs)
    print(f"{'rule':<24}{'worth':>8}{'delay':>8}{'in time':>9}")
    for name in LOOKS:
        games = worth[name]
        delay = DEADLINE * (1.0 - games)
        print(f"{name:<24}{games.mean():>8.3f}{delay.mean():>8.2f}{(games > 0).mean():>9.1%}")
    draw(network, links_used(jobs, routes, "FPML (one slot of 3)"), worth, str(path))
    print(f"plot: {path}")


if __name__ == "__main__":
    main()
