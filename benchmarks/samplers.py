"""`PortfolioSampler` beside single samplers of Optuna and a fixed rule, at equal trials.

    python benchmarks/samplers.py [--trials 40] [--seeds 5] [--out samplers.jsonl]

Tasks: a model on scikit-learn's own sets (`pickbest.tuning.tasks`), really fitted. The fixed rule
is like Optuna's AutoSampler where no Gaussian process is at hand: TPE for the first half of the
trials, CMA-ES for the rest. The figure of a run is its best loss on the scale of its task: 0 is the
best that anybody found, 1 the mean end of random search. Every run is a line of the file; started
again, it goes on.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import optuna
from optuna.samplers import BaseSampler, CmaEsSampler, QMCSampler, RandomSampler, TPESampler

from pickbest.core.progress import progress_bar
from pickbest.optuna import PortfolioSampler
from pickbest.simulation.statistics import Estimate
from pickbest.tuning.space import Categorical, Integer, Point, Space, Warp
from pickbest.tuning.tasks import Task, evaluate

MODELS, DATASETS = ("lasso",), ("iris", "wine", "breast_cancer", "digits")


class FirstHalf(BaseSampler):
    """TPE for the first half of the trials, CMA-ES for the rest."""

    def __init__(self, seed: int, trials: int) -> None:
        self.parts = TPESampler(seed=seed), CmaEsSampler(seed=seed, warn_independent_sampling=False)
        self.half = trials // 2

    def of(self, trial: optuna.trial.FrozenTrial) -> BaseSampler:
        return self.parts[trial.number >= self.half]

    def infer_relative_search_space(self, study, trial):  # type: ignore[no-untyped-def]
        return self.of(trial).infer_relative_search_space(study, trial)

    def sample_relative(self, study, trial, search_space):  # type: ignore[no-untyped-def]
        return self.of(trial).sample_relative(study, trial, search_space)

    def sample_independent(self, study, trial, name, distribution):  # type: ignore[no-untyped-def]
        return self.of(trial).sample_independent(study, trial, name, distribution)

    def after_trial(self, study, trial, state, values):  # type: ignore[no-untyped-def]
        self.of(trial).after_trial(study, trial, state, values)


Make = Callable[[int, int], BaseSampler]
SAMPLERS: dict[str, Make] = {
    "portfolio": lambda seed, trials: PortfolioSampler(seed=seed),
    "random": lambda seed, trials: RandomSampler(seed=seed),
    "tpe": lambda seed, trials: TPESampler(seed=seed, multivariate=False),
    "tpe-multivariate": lambda seed, trials: TPESampler(seed=seed, multivariate=True),
    "cmaes": lambda seed, trials: CmaEsSampler(seed=seed, warn_independent_sampling=False),
    "qmc": lambda seed, trials: QMCSampler(seed=seed, scramble=True),
    "rule: tpe, then cmaes": FirstHalf,
}


def suggested(trial: optuna.Trial, space: Space) -> Point:
    """A point in Optuna's own terms; what has a scale of its own is a place on it."""
    point: Point = {}
    for one in space.parameters:
        if isinstance(one, Categorical):
            point[one.name] = trial.suggest_categorical(one.name, one.choices)
        elif isinstance(one, Integer):
            point[one.name] = trial.suggest_int(one.name, one.low, one.high, log=one.log)
        elif one.warp is Warp.LOGIT:
            point[one.name] = one.from_unit(trial.suggest_float(one.name, 0.0, 1.0))
        else:
            log = one.warp is Warp.LOG
            point[one.name] = trial.suggest_float(one.name, one.low, one.high, log=log)
    return point


def best_of_run(task: Task, name: str, seed: int, trials: int) -> float:
    """The best loss after so many trials."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=SAMPLERS[name](seed, trials))

        def objective(trial: optuna.Trial) -> float:
            loss = evaluate(task, suggested(trial, task.space)).loss
            if loss is None:
                raise ValueError("the evaluation failed")
            return loss

        study.optimize(objective, n_trials=trials, catch=ValueError)
    return study.best_value


def missing(given: argparse.Namespace, known: set[tuple[str, str, int]]) -> Iterator[tuple]:
    for seed in range(given.seeds):
        for model in given.models.split(","):
            for dataset in given.datasets.split(","):
                task = Task(model, dataset)
                for name in SAMPLERS:
                    if (task.name, name, seed) not in known:
                        yield task, name, seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--trials", type=int, default=40)
    add("--seeds", type=int, default=5)
    add("--models", default=",".join(MODELS))
    add("--datasets", default=",".join(DATASETS))
    add("--out", type=Path, default=Path("samplers.jsonl"))
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows = []
    if given.out.exists():
        rows = [json.loads(line) for line in given.out.read_text().splitlines()]
    rows = [row for row in rows if row["trials"] == given.trials]
    todo = list(missing(given, {(row["task"], row["sampler"], row["seed"]) for row in rows}))
    with given.out.open("a") as file, progress_bar("tuning") as progress:
        for done, (task, name, seed) in enumerate(todo):
            if progress:
                progress(done, len(todo), f"{task.name}, {name}")
            loss = best_of_run(task, name, seed, given.trials)
            row = {"task": task.name, "sampler": name, "seed": seed, "trials": given.trials}
            rows.append({**row, "loss": loss})
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    show(rows, given.trials)


def show(rows: list[dict], trials: int) -> None:
    """Means over tasks and seeds with 95% intervals, and paired differences to the portfolio."""
    losses = {(row["task"], row["sampler"], row["seed"]): row["loss"] for row in rows}
    tasks = sorted({task for task, _, _ in losses})
    seeds = [s for s in sorted({s for _, _, s in losses})
             if all((t, n, s) in losses for t in tasks for n in SAMPLERS)]  # fmt: skip
    scaled = {}
    for name in SAMPLERS:
        ends = []
        for task in tasks:
            best = min(loss for (t, _, _), loss in losses.items() if t == task)
            random = np.mean([losses[task, "random", seed] for seed in seeds])
            scale = max(random - best, 1e-12)
            ends += [(losses[task, name, seed] - best) / scale for seed in seeds]
        scaled[name] = np.array(ends)
    print(
        f"{len(tasks)} tasks, {len(seeds)} seeds, {trials} trials; 0: best known, 1: random search"
    )
    print(f"{'sampler':<24}{'distance to the best':>24}{'minus the portfolio':>24}")
    for name in sorted(scaled, key=lambda name: scaled[name].mean()):
        mean = Estimate.of(scaled[name], 0.95)
        paired = Estimate.of(scaled[name] - scaled["portfolio"], 0.95)
        print(f"{name:<24}{mean!s:>24}{'' if name == 'portfolio' else str(paired):>24}")


if __name__ == "__main__":
    main()
