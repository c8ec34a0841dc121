"""The paper's tables, figures and statements as data: data/recipes.toml has one recipe each."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pickbest.core import unknown_name
from studies.paper.recorded_rewards import DATA


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
    needs_modules: Sequence[str] = ()


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
