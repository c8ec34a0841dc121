"""Names of environments, and files as environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pickbest.core import Environment, PickbestError, unknown_name
from pickbest.environments import (
    Alternating,
    Bernoulli,
    Chasing,
    Halving,
    OneGoodArm,
    RegimeChange,
    Task1,
    Task2,
    Task3,
    read_table,
)
from pickbest.environments.aslib.scenario import read_scenario

ASLIB = "aslib"


@dataclass(frozen=True)
class EnvironmentEntry:
    """A named environment; n_arms is None where the number of arms is part of the task."""

    name: str
    summary: str
    build: Callable[[int, int], Environment]
    rounds: int = 300
    n_arms: int | None = None


ENVIRONMENTS = {
    entry.name: entry
    for entry in (
        EnvironmentEntry(
            "task-1", "complementary groups: greedy beats the top B", lambda _, t: Task1(t)
        ),
        EnvironmentEntry("task-2", "independent arms: the top B are best", lambda _, t: Task2(t)),
        EnvironmentEntry("task-3", "greedy is worse than the top B", lambda _, t: Task3(t)),
        EnvironmentEntry(
            "regime-change",
            "task 2 with the order of its arms reversed half-way",
            lambda _, t: RegimeChange(Task2(t)),
        ),
        EnvironmentEntry(
            "bernoulli", "independent costs, 0 or 1 with equal odds", Bernoulli, n_arms=10
        ),
        EnvironmentEntry(
            "one-good-arm", "one unknown arm costs 0, the others 1", OneGoodArm, n_arms=10
        ),
        EnvironmentEntry(
            "halving", "half of the good arms turn bad in each round", Halving, 10, n_arms=64
        ),
        EnvironmentEntry(
            "alternating", "two arms take turns; the leader is always wrong", Alternating, n_arms=10
        ),
        EnvironmentEntry(
            "chasing",
            "adaptive: the arms that you favoured lately cost 1",
            lambda n, t: Chasing(n, t, width=max(n // 2, 1)),
            n_arms=10,
        ),
    )
}


def environment_names() -> tuple[str, ...]:
    """All names that `make_environment` knows without a file or folder."""
    return tuple(ENVIRONMENTS)


def make_environment(
    name: str | Path,
    rewards: bool = False,
    rounds: int | None = None,
    n_arms: int | None = None,
    folder: str | Path | None = None,
    cost: str | None = None,
    measure: str | None = None,
) -> Environment:
    """An environment by name, a recorded table by its file, or a scenario of ASlib by its folder.

    rewards: the file holds rewards, not costs. rounds, n_arms: for named environments only.
    folder: the scenario of "aslib"; its path as the name does the same.
    cost, measure: for scenarios only: "solved", "runtime" or "quality", and by which measure.

    >>> make_environment("task-3").n_arms
    4
    """
    of_scenario = {"folder": folder, "cost": cost, "measure": measure}
    given = [option for option, value in of_scenario.items() if value is not None]
    if str(name) in ENVIRONMENTS:
        if given:
            raise PickbestError(f"{given[0]} is for scenarios of ASlib, not for {name}")
        return _named(ENVIRONMENTS[str(name)], rewards, rounds, n_arms)
    if (folder is None) == (str(name) == ASLIB):
        raise PickbestError(
            f"a scenario of ASlib is the name {ASLIB!r} with its folder, or the folder as the "
            f"name, got the name {str(name)!r} and the folder {folder!r}"
        )
    path = Path(name if folder is None else folder)
    scenario = folder is not None or path.is_dir()
    if not scenario and not path.suffix and not path.exists():
        raise unknown_name("environment", str(name), (*ENVIRONMENTS, ASLIB))
    if rounds is not None or n_arms is not None:
        raise PickbestError("rounds and n_arms of a recorded table are those of the file")
    if not scenario:
        if given:
            raise PickbestError(f"{given[0]} is for scenarios of ASlib, not for the file {path}")
        return read_table(path, rewards)
    if rewards:
        raise PickbestError(f"rewards is for files; the scenario {path} gives costs")
    return read_scenario(path, measure).costs(cost)


def _named(
    entry: EnvironmentEntry, rewards: bool, rounds: int | None, n_arms: int | None
) -> Environment:
    if rewards:
        raise PickbestError(f"rewards is for files; the environment {entry.name} gives costs")
    if n_arms is not None and entry.n_arms is None:
        raise PickbestError(f"the number of arms of {entry.name} is fixed; leave n_arms out")
    arms = n_arms if n_arms is not None else entry.n_arms or 0
    return entry.build(arms, entry.rounds if rounds is None else rounds)
