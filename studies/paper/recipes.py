"""The paper's tables, figures and statements: data/recipes.toml has a recipe for each.

Parts are run from their recipes. Each finished part is kept, so that a run that was interrupted
goes on where it was.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pickbest._version import __version__
from pickbest.core import check_count, check_seed, unknown_name
from pickbest.core.workers import each_finished
from pickbest.report.document import Section
from studies.cache import Cache, code_digest, key_of
from studies.paper.experiment import Experiment, Setting
from studies.paper.recorded_rewards import DATA, MEASURED, MORE, Rewards, digest_of
from studies.report.sections import section_from_json, section_to_json

PARTS = "studies.paper.parts"
# Tables that parts read in addition to the rewards that a run is asked for.
SHIPPED = (MEASURED, MORE, DATA / "losses.csv.gz", DATA / "pool.csv.gz")


@dataclass(frozen=True)
class Recipe:
    """One part of the report; data/recipes.toml says what its fields are."""

    name: str
    title: str
    chapter: str
    experiment: str
    replicates: int
    options: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 1.0


@dataclass(frozen=True)
class Trial:
    """A part in short games, and what is broken in them. options: instead of the recipe's own."""

    replicates: int
    mutants: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)


_FILE = tomllib.loads((DATA / "recipes.toml").read_text(encoding="utf-8"))
# By name: (title, introduction).
CHAPTERS = {name: (own["title"], own["intro"]) for name, own in _FILE["chapters"].items()}
_TRIALS = {name: part.pop("trial") for name, part in _FILE["parts"].items() if "trial" in part}
RECIPES = tuple(Recipe(name, **part) for name, part in _FILE["parts"].items())
TRIALS = {name: Trial(**trial) for name, trial in _TRIALS.items()}


def mutants_of(part: str) -> list[str]:
    """What is broken in a part on purpose; names of groups stand for all that is in them."""
    named = _FILE["mutants"]
    return [mutant for name in TRIALS[part].mutants for mutant in named.get(name, [name])]


def recipe_named(name: str) -> Recipe:
    """A recipe by its name."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    raise unknown_name("part", name, [recipe.name for recipe in RECIPES])


Finished = Callable[[Recipe, bool], None]
"""finished(recipe, was_kept)"""


@dataclass(frozen=True, eq=False)
class ReportPlan:
    """What a run is asked to do.

    replicates: None for each recipe's own number.
    kept: the folder of finished parts.
    """

    kept: Path
    rewards: Rewards
    seed: int = 0
    replicates: int | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_count("workers", self.workers)
        if self.replicates is not None:
            check_count("replicates", self.replicates)

    @property
    def cache(self) -> Cache[Section]:
        return Cache(self.kept, lambda section: section_to_json(section) + "\n", section_from_json)

    def name_of(self, recipe: Recipe) -> str:
        """The name under which a part of this plan is kept."""
        key = part_key(recipe, self.seed, self.replicates, self.rewards.digest)
        return f"{recipe.name}-{key}"


def chosen_recipes(names: Sequence[str]) -> list[Recipe]:
    """The recipes with these names, in the report's order; all where none is named."""
    wanted = {recipe_named(name).name for name in names}
    return [recipe for recipe in RECIPES if not names or recipe.name in wanted]


def run_parts(
    plan: ReportPlan, recipes: Sequence[Recipe], finished: Finished | None = None
) -> dict[str, Section]:
    """The results of the recipes, from what is kept or run anew; each is kept when it is done."""
    results: dict[str, Section] = {}
    to_run = []
    for recipe in recipes:
        section = plan.cache.read(plan.name_of(recipe))
        if section is None:
            to_run.append(recipe)
            continue
        results[recipe.name] = section
        if finished:
            finished(recipe, True)
    run = partial(_run, plan.seed, plan.replicates, plan.rewards)
    for recipe, section in each_finished(run, to_run, plan.workers, lambda one: one.seconds):
        plan.cache.keep(plan.name_of(recipe), section)
        results[recipe.name] = section
        if finished:
            finished(recipe, False)
    return {recipe.name: results[recipe.name] for recipe in recipes}


def kept_parts(plan: ReportPlan) -> dict[str, Section]:
    """Every part that an earlier run of the same plan has finished."""
    found = {recipe.name: plan.cache.read(plan.name_of(recipe)) for recipe in RECIPES}
    return {name: section for name, section in found.items() if section is not None}


def part_key(recipe: Recipe, seed: int, replicates: int | None, rewards_digest: str) -> str:
    """What a kept result is valid for: recipe, seed, replicates, rewards, version and code."""
    return key_of(
        {
            "recipe": dataclasses.asdict(recipe),
            "seed": seed,
            "replicates": replicates,
            "rewards": [rewards_digest, *map(digest_of, SHIPPED)],
            "version": __version__,
            "code": code_digest(),
        }
    )


def run_part(recipe: Recipe, setting: Setting) -> Section:
    """Run one recipe."""
    module, _, name = recipe.experiment.partition(":")
    experiment: Experiment = getattr(import_module(f"{PARTS}.{module}"), name)
    found = experiment(setting, **recipe.options)
    return Section(recipe.name, recipe.title, found.blocks, found.findings)


def _run(seed: int, replicates: int | None, rewards: Rewards, recipe: Recipe) -> Section:
    return run_part(recipe, Setting(seed, replicates or recipe.replicates, rewards))
