"""A queue of tuning jobs, two cores, nine optimizers: which two should run on the next job?

python examples/tune_many.py [--jobs N] [--data FOLDER] [--plot FILE]
python examples/tune_many.py --table [FOLDER]

For each job (a model on a data set) pickbest picks two optimizers, both really run, each in a
process of its own, and the better loss is kept. One fixed pair runs beside it: by default hyperopt
and random, which at 20 calls is random search twice, the weakest of all pairs; see --always.

What an optimizer costs must be known when its job ends, without hindsight: the scale is the job
itself (studies.tuning.job_costs).

Jobs come from --data (a folder of tables, such as PMLB's), else they are random parts of
scikit-learn's own sets. With --table nothing runs: the queue is a measured table (the one that
pickbest ships, or the FOLDER of `pickbest measure`), and every pair can be compared.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from pickbest import Player, make_learner
from pickbest.core.progress import Progress, progress_bar
from pickbest.report.palette import GREY, OKABE_ITO
from pickbest.report.plots import check_plot_path, label_ends, new_figure
from studies.commands.measure import optimizer_names
from studies.paper.recorded_rewards import measured_losses
from studies.tuning.job_costs import job_costs
from studies.tuning.measurement.engines import make_engine, play_units
from studies.tuning.measurement.rewards import Losses, best_loss
from studies.tuning.measurement.units import Unit
from studies.tuning.tasks import Task, dataset_names, load_dataset

CORES, JOBS, GAMES = 2, 10, 20
Pair = tuple[str, ...]
Run = Callable[[str, Pair], dict[str, Losses]]
"""run(job, pair): the losses of each optimizer of the pair."""


def choose(jobs: Sequence[str], optimizers: Pair, learner: str, run: Run, seed: int) -> list[float]:
    """The best loss on each job when pickbest chooses the pair."""
    player = Player(make_learner(learner, len(optimizers), CORES, len(jobs)), seed)
    kept = []
    for job in jobs:
        ticket = player.ask()
        found = run(job, tuple(optimizers[arm] for arm in ticket.arms))
        player.tell(ticket, job_costs(list(found.values())))
        kept.append(best_of(found))
    return kept


def best_of(found: Mapping[str, Losses]) -> float:
    """The smallest loss of several runs; infinite if nothing but failures came out."""
    loss = best_loss([best_loss(losses) for losses in found.values()])
    return float("inf") if loss is None else loss


class Live:
    """Runs optimizers on jobs in warm processes, and keeps what has run."""

    def __init__(self, tasks: dict[str, Task], optimizers: Pair, calls: int, seed: int) -> None:
        self.tasks, self.calls, self.seed = tasks, calls, seed
        self.known: dict[str, dict[str, list[float | None]]] = {job: {} for job in tasks}
        self.engine = make_engine("processes", CORES, optimizers)

    def run(self, job: str, pair: Pair) -> dict[str, Losses]:
        task, known = self.tasks[job], self.known[job]
        units = [Unit(task, name, 0, self.calls) for name in pair if name not in known]
        for unit, losses in play_units(self.engine, units, self.seed).items():
            known[unit.optimizer] = losses
        return {name: known[name] for name in pair}


def write_jobs(folder: Path, count: int) -> list[str]:
    """Small tables from scikit-learn's sets: random rows and columns, classes in two groups."""
    names, embedded = [], dataset_names("embedded")
    for number in range(count):
        source = embedded[number % len(embedded)]
        dataset = load_dataset("embedded", source)
        rng = np.random.default_rng(number)
        rows, width = dataset.features.shape
        kept = rng.permutation(rows)[:100]
        wanted = rng.permutation(len(dataset.classes))[: len(dataset.classes) // 2]
        columns = np.sort(rng.permutation(width)[: min(10, (width + 1) // 2)])
        names.append(f"{source}-{number + 1}")
        with (folder / f"{names[-1]}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{column}" for column in columns), "target"])
            for row in kept:
                target = int(dataset.labels[row] in wanted)
                writer.writerow([*dataset.features[row, columns], target])
    return names


def read_losses(folder: str) -> dict[str, dict[str, Losses]]:
    """The losses of a measurement by job and optimizer; those that pickbest ships for ""."""
    if not folder:
        return {task: found.runs for task, found in measured_losses().items()}
    found: dict[str, dict[str, Losses]] = {}
    with (Path(folder) / "losses.csv").open(newline="") as file:
        for task, optimizer, repetition, *calls in itertools.islice(csv.reader(file), 1, None):
            if repetition == "1":
                losses = [float(cell) if cell else None for cell in calls]
                found.setdefault(task, {})[optimizer] = losses
    return found


def counted(run: Run, total: int, progress: Progress | None) -> Run:
    """The same, and a bar moves with every job."""
    numbers = itertools.count(1)

    def counting(job: str, pair: Pair) -> dict[str, Losses]:
        found = run(job, pair)
        if progress:
            progress(next(numbers), total, f"{job}, {' and '.join(pair)}")
        return found

    return counting


def play_live(
    given: argparse.Namespace, folder: Path, progress: Progress | None
) -> dict[str, np.ndarray]:
    """(1, jobs) loss above the best known of pickbest and of one fixed pair, really run."""
    data = given.data or str(folder)
    names = dataset_names(data) if given.data else write_jobs(folder, given.jobs)
    listed = [Task(model, name, data) for name in names for model in given.models.split(",")]
    tasks = {task.name: task for task in listed}
    jobs = list(tasks)[: given.jobs]
    optimizers = optimizer_names(given.optimizers)
    always = tuple(given.always.split(","))
    live = Live(tasks, tuple(dict.fromkeys((*optimizers, *always))), given.calls, given.seed)
    run = counted(live.run, 2 * len(jobs), progress)
    try:
        chosen = choose(jobs, optimizers, given.learner, run, given.seed)
        fixed = [best_of(run(job, always)) for job in jobs]
    finally:
        live.engine.close()
    best = [best_of(live.known[job]) for job in jobs]
    return {
        "pickbest": np.subtract([chosen], best),
        f"always {' + '.join(always)}": np.subtract([fixed], best),
    }


def play_table(given: argparse.Namespace, progress: Progress | None) -> dict[str, np.ndarray]:
    """(games, jobs) loss above the best known of pickbest, random pairs and all fixed pairs."""
    losses = read_losses(given.table)
    optimizers = tuple(next(iter(losses.values())))
    above: dict[str, list[np.ndarray]] = {}
    for game in range(GAMES):
        # Which job comes when is chance: an order of its own in each game.
        queue = np.random.default_rng(game).permutation(list(losses)).tolist()
        best = [best_of(losses[job]) for job in queue]
        kept = {
            "pickbest": choose(queue, optimizers, given.learner, only(losses), game),
            "random pairs": choose(queue, optimizers, "uniform", only(losses), game),
        }
        for pair in itertools.combinations(optimizers, CORES):
            of_pair = [best_of(only(losses)(job, pair)) for job in queue]
            kept[f"always {' + '.join(pair)}"] = of_pair
        for rule, values in kept.items():
            above.setdefault(rule, []).append(np.subtract(values, best))
        if progress:
            progress(game + 1, GAMES, f"game {game + 1}")
    return {rule: np.stack(games) for rule, games in above.items()}


def only(losses: dict[str, dict[str, Losses]]) -> Run:
    """A run that looks into a table."""
    return lambda job, pair: {name: losses[job][name] for name in pair}


def shown(above: dict[str, np.ndarray]) -> dict[str, tuple[str, str]]:
    """(colour, line) of the rules that are named: ours, random, the best and the worst pair."""
    pairs = sorted((r for r in above if r.startswith("always")), key=lambda r: above[r].mean())
    looks = {"pickbest": (OKABE_ITO[0], "-"), pairs[-1]: (OKABE_ITO[1], "-")}
    looks[pairs[0]] = (OKABE_ITO[6] if len(pairs) > 1 else OKABE_ITO[1], "-")
    if "random pairs" in above:
        looks["random pairs"] = (GREY, ":")
    return looks


def draw(above: dict[str, np.ndarray], path: str) -> None:
    """The mean loss so far above the best known; thin lines are all other pairs."""
    figure, axes = new_figure(8.5, 4.2)
    looks, ends = shown(above), []
    for rule, games in above.items():
        when = np.arange(1, games.shape[1] + 1)
        curve = (np.cumsum(games, axis=1) / when).mean(axis=0)
        colour, line = looks.get(rule, ("#cccccc", "-"))
        width = 1.8 if rule in looks else 0.6
        axes.plot(when, curve, color=colour, linestyle=line, linewidth=width)
        if rule in looks:
            ends.append((float(when[-1]), float(curve[-1]), rule, colour))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("job")
    axes.set_ylabel("log loss above the best known, mean so far")
    axes.set_title("Two optimizers for each tuning job", loc="left")
    label_ends(axes, ends)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("--jobs", type=int, default=JOBS, help=f"how many jobs arrive ({JOBS})")
    add("--data", help="folder of data sets; else parts of scikit-learn's own")
    add("--models", default="lasso", help="what is tuned: lasso, mlp, or mlp,lasso (lasso)")
    add("--optimizers", default="paper", help="names with commas; paper: its nine")
    add("--always", default="hyperopt,random", help="the pair that is always used instead")
    add("--calls", type=int, default=20, help="evaluations of a run (20)")
    add("--learner", default="thompson", help="who chooses (thompson); see `pickbest learners`")
    add("--seed", type=int, default=0)
    add("--table", nargs="?", const="", help="replay a measured table; the shipped one if bare")
    add("--plot", default="tune_many.png", help="file for the plot")
    given = parser.parse_args()
    path = check_plot_path(given.plot)
    with tempfile.TemporaryDirectory() as folder, progress_bar("tuning") as progress:
        if given.table is None:
            above = play_live(given, Path(folder), progress)
        else:
            above = play_table(given, progress)
    width = max(map(len, shown(above)))
    print(f"{'rule':<{width}}{'loss above the best known':>28}{'best on':>10}")
    for rule in shown(above):
        games = above[rule]
        print(f"{rule:<{width}}{games.mean():>28.4f}{(games <= 0).mean():>10.0%}")
    draw(above, str(path))
    print(f"plot: {path}")


if __name__ == "__main__":
    main()
