"""Which learners and environments take part, and clear errors for names that are not known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pickbest.catalog import LearnerEntry, learner_names, learners, register_learner
from pickbest.core import PickbestError
from pickbest.environments import Table, Task1
from pickbest.learners import Uniform
from studies.benchmark.environments import (
    GROUPS,
    chosen_environments,
    environments_at_hand,
    recorded,
)
from studies.benchmark.lineup import LEFT_OUT, Entry, all_entries, chosen_entries, make_entry
from studies.commands.benchmark import parse_budgets


@pytest.fixture
def newcomer() -> Iterator[str]:
    register_learner(
        LearnerEntry(
            "newcomer", "new", lambda n_arms, budget, rounds, tuning: Uniform(n_arms, budget)
        )
    )
    yield "newcomer"
    learners._ENTRIES.pop("newcomer")


def test_every_learner_of_the_catalog_takes_part(newcomer: str) -> None:
    labels = [entry.label for entry in all_entries(full=True)]
    assert set(learner_names()) - set(LEFT_OUT) == set(labels) - {
        "fpml-partial as run",
        "og as run",
    }
    assert newcomer in labels
    seen = [entry.label for entry in all_entries()]
    assert "fpml" in labels
    assert "fpml" not in seen


def test_learners_get_the_rounds_and_sit_out_budgets_they_cannot_play() -> None:
    environment = Task1(rounds=50)
    assert make_entry(Entry("exp3", "exp3"), environment, 1) is not None
    assert make_entry(Entry("exp3", "exp3"), environment, 2) is None
    long = make_entry(Entry("og", "og"), Task1(rounds=5000), 2)
    assert long != make_entry(Entry("og", "og"), environment, 2)


def test_environments_are_chosen_by_name_family_and_group(table: Table) -> None:
    environments = [*recorded("mine", table), *environments_at_hand()[2:]]
    assert {environment.group for environment in environments} == set(GROUPS)
    chosen = chosen_environments(environments, ["mine", "task-3"])
    assert [environment.name for environment in chosen] == ["mine", "mine shuffled", "task-3"]
    assert [
        environment.name for environment in chosen_environments(environments, ["mine shuffled"])
    ] == ["mine shuffled"]
    assert all(
        environment.group == "adversary"
        for environment in chosen_environments(environments, ["adversary"])
    )
    for order, name in (("recorded", "mine"), ("shuffled", "mine shuffled")):
        real = [environment.name for environment in chosen_environments(environments, [order])]
        assert name in real
        assert len(real) == 2
    assert chosen_environments(environments, []) == environments


def test_unknown_names_get_the_nearest_one() -> None:
    with pytest.raises(PickbestError, match="unknown learner 'thomson'; did you mean 'thompson'"):
        chosen_entries(["thomson"])
    with pytest.raises(PickbestError, match="unknown environment 'task1'; did you mean 'task-1'"):
        chosen_environments(environments_at_hand(), ["task1"])


@pytest.mark.parametrize("text", ["", "0-3", "3-1", "x", "1,,2", "-2"])
def test_bad_budgets(text: str) -> None:
    with pytest.raises(PickbestError, match="budgets must be like 1-6 or 2,4"):
        parse_budgets(text)
