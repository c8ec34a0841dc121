"""Run the parts of the report, keep what is finished, and go on where a run was interrupted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from pickbest._version import __version__
from pickbest.core import check_count, check_seed
from pickbest.core.savefile import write_atomically
from pickbest.core.workers import each_finished
from pickbest.experiments.paper.experiment import Setting
from pickbest.experiments.paper.parts import run_part, why_missing
from pickbest.experiments.paper.recipes import RECIPES, Recipe, recipe_named
from pickbest.experiments.paper.rewards import Rewards, find_rewards
from pickbest.report.document import Section, section_from_json, section_to_json

RESULTS_DEPEND_ON = (
    "experiments", "simulation", "hindsight", "catalog", "learners", "environments", "theory",
    "kernels", "core", "report/document.py", "feasibility", "submodular",
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
    run = partial(_run, plan.seed, plan.replicates, rewards)
    for recipe, section in each_finished(run, to_run, plan.workers, lambda one: one.seconds):
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
    package = Path(__file__).parents[2]
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


def _run(seed: int, replicates: int | None, rewards: Rewards, recipe: Recipe) -> Section:
    return run_part(recipe, Setting(seed, replicates or recipe.replicates, rewards))
