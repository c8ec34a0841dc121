"""Run the parts of the report, keep what is finished, and go on where a run was interrupted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pickbest._version import __version__
from pickbest.document import Section, section_from_json, section_to_json
from pickbest.game import check_count, check_seed
from pickbest.paper.experiment import Setting
from pickbest.paper.parts import run_part, why_missing
from pickbest.paper.recipes import RECIPES, Recipe, recipe_named
from pickbest.paper.rewards import Rewards, find_rewards
from pickbest.savefile import write_atomically

RESULTS_DEPEND_ON = (
    "paper", "simulation.py", "outcome.py", "hindsight.py", "catalog", "learners", "environments",
    "theory", "kernels", "game.py", "document.py", "feasibility", "jobs", "submodular",
)  # fmt: skip
Finished = Callable[[Recipe, bool], None]


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run is asked to do.

    replicates: None for each recipe's own number.
    kept: the folder of finished parts.
    """

    kept: Path
    seed: int = 0
    replicates: int | None = None
    rewards_path: Path | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_count("workers", self.workers)
        if self.replicates is not None:
            check_count("replicates", self.replicates)


def chosen_recipes(names: Sequence[str]) -> list[Recipe]:
    """The recipes with these names, in the report's order; all where none is named."""
    wanted = {recipe_named(name).name for name in names}
    return [recipe for recipe in RECIPES if not names or recipe.name in wanted]


def run_parts(
    plan: Plan, recipes: Sequence[Recipe], finished: Finished | None = None
) -> dict[str, Section]:
    """The results of the recipes, from what is kept or run anew; each is kept when it is done.

    Parts that cannot run here are left out (see `why_missing`). finished(recipe, was_kept) is
    called after each part.
    """
    rewards = find_rewards(plan.rewards_path)
    able = [recipe for recipe in recipes if why_missing(recipe) is None]
    results: dict[str, Section] = {}
    to_run = []
    for recipe in able:
        section = _read_kept(_place(plan, recipe, rewards))
        if section is None:
            to_run.append(recipe)
            continue
        results[recipe.name] = section
        if finished:
            finished(recipe, True)
    if to_run:
        plan.kept.mkdir(parents=True, exist_ok=True)
    for recipe, section in _run_all(plan, to_run, rewards):
        place = _place(plan, recipe, rewards)
        write_atomically(place, (section_to_json(section) + "\n").encode())
        results[recipe.name] = section
        if finished:
            finished(recipe, False)
    return {recipe.name: results[recipe.name] for recipe in able}


def kept_parts(plan: Plan) -> dict[str, Section]:
    """Every part that an earlier run of the same plan has finished."""
    rewards = find_rewards(plan.rewards_path)
    found = {
        recipe.name: _read_kept(_place(plan, recipe, rewards))
        for recipe in RECIPES
        if why_missing(recipe) is None
    }
    return {name: section for name, section in found.items() if section is not None}


def part_key(recipe: Recipe, seed: int, replicates: int | None, rewards_digest: str) -> str:
    """What a kept result is valid for: recipe, seed, replicates, rewards, version and code."""
    content: Mapping[str, object] = {
        "recipe": dataclasses.asdict(recipe),
        "seed": seed,
        "replicates": replicates,
        "rewards": rewards_digest,
        "version": __version__,
        "code": code_digest(),
    }
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def code_digest() -> str:
    """A digest of the code and the shipped tables that results depend on."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for name in RESULTS_DEPEND_ON:
        place = package / name
        within = [*place.rglob("*.py"), *place.rglob("*.csv")]
        for source in [place] if place.is_file() else sorted(within):
            digest.update(str(source.relative_to(package)).encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _place(plan: Plan, recipe: Recipe, rewards: Rewards) -> Path:
    key = part_key(recipe, plan.seed, plan.replicates, rewards.digest)
    return plan.kept / f"{recipe.name}-{key}.json"


def _read_kept(place: Path) -> Section | None:
    """A kept result; None where there is none or it cannot be read (it is then run again)."""
    try:
        return section_from_json(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _run_all(
    plan: Plan, recipes: Sequence[Recipe], rewards: Rewards
) -> Iterator[tuple[Recipe, Section]]:
    def setting(recipe: Recipe) -> Setting:
        return Setting(plan.seed, plan.replicates or recipe.replicates, rewards)

    if plan.workers == 1 or len(recipes) < 2:
        for recipe in recipes:
            yield recipe, run_part(recipe, setting(recipe))
        return
    # Spawned, not forked: a fork would copy locks that other threads may hold.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    longest_first = sorted(recipes, key=lambda recipe: -recipe.seconds)
    workers = min(plan.workers, len(recipes))
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_ctrl_c) as pool:
        try:
            futures = {
                pool.submit(run_part, recipe, setting(recipe)): recipe for recipe in longest_first
            }
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            # Nothing that runs is worth waiting for: what is finished is kept already.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
            raise


def _leave_ctrl_c() -> None:
    """Workers leave Ctrl-C to the main process, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
