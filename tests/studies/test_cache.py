"""Kept results: what they depend on, and what becomes of damaged files."""

from __future__ import annotations

import json
from pathlib import Path

from pickbest.catalog import learner_entry, learner_names, make_learner
from pickbest.learners import Greedy, Hedge, Uniform
from studies.cache import Cache, code_digest, key_of, modules_of, reached
from studies.paper import recipes
from studies.paper.recipes import RECIPES


def test_results_follow_the_code_that_they_ran() -> None:
    needed = reached({Uniform.__module__})
    assert Uniform.__module__ in needed
    assert any(name.startswith("pickbest.core") for name in needed)
    assert Greedy.__module__ not in needed
    assert Greedy.__module__ in reached({"pickbest.learners"})
    assert code_digest({Uniform.__module__}) != code_digest({Greedy.__module__})


def test_a_users_own_module_counts() -> None:
    assert {__name__, "studies.cache"} <= reached({__name__})
    assert "studies.cache" not in reached({"json"})


def test_an_object_needs_the_modules_of_its_fields() -> None:
    assert modules_of(Greedy(Hedge(3, 0.1), 2)) >= {Hedge.__module__, Greedy.__module__}


def test_every_part_depends_on_all_learners_and_on_itself_alone() -> None:
    budgets = {name: 1 if learner_entry(name).single_arm else 2 for name in learner_names()}
    made = [make_learner(name, 4, budget, 10) for name, budget in budgets.items()]
    learners = set[str]().union(*(modules_of(learner) for learner in made))
    parts = {f"{recipes.PARTS}.{recipe.experiment.split(':')[0]}" for recipe in RECIPES}
    needed = reached({f"{recipes.PARTS}.worst_sequence", *recipes.NAMED})
    assert {name for name in learners if name.startswith("pickbest.")} <= needed
    assert needed & parts == {f"{recipes.PARTS}.worst_sequence"}


def test_imports_inside_of_functions_count() -> None:
    needed = reached({f"{recipes.PARTS}.linear_programs"})
    assert "studies.linear_programs.generated_problems" in needed
    assert "pickbest.feasibility.solve" in needed


def test_what_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    cache: Cache[list[int]] = Cache(tmp_path / "kept", json.dumps, json.loads)
    assert cache.read("a") is None
    cache.keep("a", [1, 2])
    assert cache.read("a") == [1, 2]
    (tmp_path / "kept" / "a.json").write_text("[1, ")
    assert cache.read("a") is None


def test_a_key_is_its_content() -> None:
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
