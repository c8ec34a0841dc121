"""Environments by name, and files as environments: the one way from a text to costs."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pickbest.catalog.spec import Spec, check_options, from_module, parameters
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
    Together,
    read_scenario,
    read_table,
)

_OF_MODULE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class EnvironmentEntry:
    """A named environment.

    build: the environment's class, or a function that makes it; its parameters are the options.
    rounds, n_arms: what these two are by default; None where `build` knows.
    """

    name: str
    summary: str
    build: Callable[..., Environment]
    rounds: int | None = 300
    n_arms: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Option names with their default values."""
        own = {"rounds": self.rounds, "n_arms": self.n_arms}
        return {
            name: default if own.get(name) is None else own[name]
            for name, default in parameters(self.build).items()
        }

    def make(self, given: Mapping[str, Any]) -> Environment:
        """The environment with these options."""
        check_options(self.name, given, self.options)
        built = self.build(**{**self.options, **given})
        if not isinstance(built, Environment):
            raise PickbestError(f"{self.name} must make an environment, got {built!r}")
        return built


def _regime_change(rounds: int, inner: str = "task-2") -> RegimeChange:
    return RegimeChange(make_environment(inner, rounds=rounds))


def _chasing(n_arms: int, rounds: int, width: int | None = None, memory: float = 0.9) -> Chasing:
    return Chasing(n_arms, rounds, max(n_arms // 2, 1) if width is None else width, memory)


_ENTRIES = {
    entry.name: entry
    for entry in (
        EnvironmentEntry("task-1", "complementary groups: greedy beats the top B", Task1),
        EnvironmentEntry("task-2", "independent arms: the top B are best", Task2),
        EnvironmentEntry("task-3", "greedy is worse than the top B", Task3),
        EnvironmentEntry("regime-change", "task 2 with the order of its arms reversed half-way",
                         _regime_change),
        EnvironmentEntry("bernoulli", "independent costs, 0 or 1 with equal odds", Bernoulli,
                         n_arms=10),
        EnvironmentEntry("one-good-arm", "one unknown arm costs 0, the others 1", OneGoodArm,
                         n_arms=10),
        EnvironmentEntry("together", "all arms succeed or fail together, one a little more often",
                         Together, n_arms=10),
        EnvironmentEntry("halving", "half of the good arms turn bad in each round", Halving,
                         rounds=10, n_arms=64),
        EnvironmentEntry("alternating", "two arms take turns; the leader is always wrong",
                         Alternating, n_arms=10),
        EnvironmentEntry("chasing", "adaptive: the arms that you favoured lately cost 1", _chasing,
                         n_arms=10),
    )
}  # fmt: skip


def register_environment(entry: EnvironmentEntry) -> None:
    """Add an environment of your own to the names that `make_environment` knows."""
    if entry.name in _ENTRIES:
        raise PickbestError(f"an environment named {entry.name!r} is registered already")
    _ENTRIES[entry.name] = entry


def environment_names() -> tuple[str, ...]:
    """All names that `make_environment` knows without a file or folder."""
    return tuple(_ENTRIES)


def environment_entry(name: str) -> EnvironmentEntry:
    """What is known about a named environment."""
    if name not in _ENTRIES:
        raise unknown_name("environment", name, _ENTRIES)
    return _ENTRIES[name]


def make_environment(
    name: str | Path | Mapping[str, Any] | Spec, rewards: bool = False, **options: Any
) -> Environment:
    """An environment by name, a recorded table by its file, or a scenario of ASlib by its folder.

    name: one of `environment_names()`, `module:Name` for a class or function of your own, a
        file or a folder; options may follow (`bernoulli:n_arms=20`, `times.csv:rewards=true`,
        see `pickbest.catalog.spec`); or a table with the key `name`, or a Spec.
    rewards: whether the file holds rewards, not costs.
    options: those of the named environment. For a file: label and columns (see `read_table`). For
        a folder: cost ("solved", "runtime" or "quality"), measure, and whether learners see the
        features. Options given here win over those in the name; None means the default.

    >>> make_environment("task-3").n_arms
    4
    >>> make_environment("bernoulli:n_arms=3", rounds=7).rounds
    7
    """
    text, own = str(name), dict[str, Any]()
    if not isinstance(name, Path) and not (isinstance(name, str) and os.path.exists(name)):
        spec = Spec.of(name)
        text, own = spec.name, dict(spec.options)
    options |= {"rewards": rewards or None}
    given = {**own, **{option: value for option, value in options.items() if value is not None}}
    if text in _ENTRIES:
        return _ENTRIES[text].make(given)
    path = Path(text)
    if _OF_MODULE.fullmatch(text) and not path.exists():
        build = from_module(text, "environment", _ENTRIES)
        return EnvironmentEntry(text, "", build, rounds=None).make(given)
    if path.is_dir():
        return EnvironmentEntry(f"the scenario {path}", "", partial(_scenario, path)).make(given)
    if not path.suffix and not path.exists():
        raise unknown_name("environment", text, _ENTRIES)
    return EnvironmentEntry(f"the file {path}", "", partial(_table, path)).make(given)


def _table(
    path: Path, rewards: bool = False, label: object = None, columns: object = ()
) -> Environment:
    return read_table(path, rewards, None if label is None else str(label), _names(columns))


def _names(given: object) -> tuple[str, ...]:
    """One name or several, as a spec has them."""
    return tuple(map(str, given if isinstance(given, tuple | list) else (given,)))


def _scenario(
    path: Path, cost: str | None = None, measure: str | None = None, features: bool = False
) -> Environment:
    scenario = read_scenario(path, measure)
    return scenario.costs_with_features(cost) if features else scenario.costs(cost)
