"""Environments by name, file, folder and module, with options in text or data."""

import numpy as np
import pytest

from pickbest.catalog import (
    EnvironmentEntry,
    Spec,
    environment_entry,
    environment_names,
    environments,
    make_environment,
    register_environment,
)
from pickbest.core import PickbestError
from pickbest.environments import Bernoulli, Chasing, OneGoodArm, RegimeChange, Task1, Task3


def test_text_table_spec_and_options_say_the_same():
    expected = Bernoulli(20, 500, 0.25)
    text = "bernoulli:n_arms=20,rounds=500,probability=0.25"
    assert make_environment(text) == expected
    assert make_environment(Spec.parse(text)) == expected
    table = {"name": "bernoulli", "n_arms": 20, "rounds": 500, "probability": 0.25}
    assert make_environment(table) == expected
    assert (
        make_environment("bernoulli:n_arms=3", rounds=500, n_arms=20, probability=0.25) == expected
    )


def test_options_of_named_environments():
    assert make_environment("task-3:delta=0.1") == Task3(300, 0.1)
    assert make_environment("chasing:n_arms=6") == Chasing(6, 300, width=3)
    assert make_environment("chasing:width=1,memory=0") == Chasing(10, 300, 1, 0)
    assert make_environment("regime-change:inner=task-1,rounds=8") == RegimeChange(Task1(8))
    assert make_environment("bernoulli:n_arms=2,probability=0+1").probability == (0, 1)


def test_a_file_with_options(tmp_path):
    path = tmp_path / "rewards.csv"
    path.write_text("a,b\n0.25,1\n", encoding="utf-8")
    assert make_environment(f"{path}:rewards=true").costs_table.tolist() == [[0.75, 0.0]]
    assert make_environment(path).costs_table.tolist() == [[0.25, 1.0]]
    odd = tmp_path / "odd:rewards=true.csv"
    odd.write_text("a,b\n0.25,1\n", encoding="utf-8")
    for name in (odd, str(odd)):
        assert make_environment(name).costs_table.tolist() == [[0.25, 1.0]]


@pytest.mark.parametrize("given", [{"rounds": 3}, {"n_arms": 2}, {"rounds": 3, "n_arms": 2}])
def test_a_recorded_table_has_its_own_size(tmp_path, given):
    path = tmp_path / "costs.csv"
    path.write_text("a,b\n0.25,1\n", encoding="utf-8")
    with pytest.raises(PickbestError, match="unknown option of the file"):
        make_environment(path, **given)


def test_an_environment_of_a_module():
    assert make_environment("pickbest.environments:OneGoodArm:n_arms=4,rounds=9") == OneGoodArm(
        4, 9
    )
    table = make_environment("pickbest.environments:Table", table=np.zeros((2, 3)))
    assert (table.n_arms, table.rounds) == (3, 2)


def test_a_registered_environment_is_known_everywhere():
    entry = EnvironmentEntry("worst", "everything costs 1", OneGoodArm, rounds=7, n_arms=3)
    register_environment(entry)
    try:
        assert "worst" in environment_names()
        assert environment_entry("worst").options == {"n_arms": 3, "rounds": 7}
        assert make_environment("worst:n_arms=5") == OneGoodArm(5, 7)
        with pytest.raises(PickbestError, match="registered already"):
            register_environment(entry)
    finally:
        environments._ENTRIES.pop("worst")
    with pytest.raises(PickbestError, match="unknown environment 'worst'"):
        make_environment("worst")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bernoulli:probabilty=1", "did you mean 'probability'"),
        ("task-1:n_arms=3", "unknown option of task-1 'n_arms'"),
        ("pickbest.environments:Nothing", "unknown environment 'pickbest.environments:Nothing'"),
        ("pickbest.environments:Table", "pickbest.environments:Table needs the option table"),
        ("pickbest.learners:Thompson:n_arms=3,budget=1", "must make an environment"),
        ("absent.csv:rewards=true", "absent.csv: no such file"),
        ("a\0b", "unknown environment"),
    ],
)
def test_bad_names_get_one_sentence(name, message):
    with pytest.raises(PickbestError, match=message):
        make_environment(name)
