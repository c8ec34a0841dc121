"""Names of learners: look-up, registration, and the options that each takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pickbest.core import (
    Feedback,
    Learner,
    PickbestError,
    check_budget,
    check_count,
    unknown_name,
)
from pickbest.learners import Doubling

Build = Callable[..., Learner]


@dataclass(frozen=True)
class LearnerEntry:
    """A named learner.

    build(n_arms, budget, rounds, tuning, **options); its keyword-only parameters are the
    options. tunings: the default first; empty where nothing is tuned.
    needs_rounds: whether the number of rounds must be known (else a doubling wrapper helps).
    single_arm: whether the budget must be 1.
    """

    name: str
    summary: str
    build: Build
    tunings: tuple[str, ...] = ()
    needs_rounds: bool = False
    single_arm: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Option names with their default values."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.build).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }


_ENTRIES: dict[str, LearnerEntry] = {}
_KINDS: dict[str, type] = {}


def register_learner(entry: LearnerEntry, *kinds: type) -> None:
    """Add a learner of your own; `kinds` are the dataclasses that `build` may return.

    A registered learner works in `simulate`, on the command line of the process that
    registered it, and in `Player.load`.
    """
    if entry.name in _ENTRIES:
        raise PickbestError(f"a learner named {entry.name!r} is registered already")
    _ENTRIES[entry.name] = entry
    _KINDS.update({kind.__name__: kind for kind in kinds})


def unregister_learner(name: str) -> None:
    """Take a registered learner out again."""
    learner_entry(name)
    del _ENTRIES[name]


def learner_names() -> tuple[str, ...]:
    """All names that `make_learner` knows."""
    return tuple(_ENTRIES)


def learner_entry(name: str) -> LearnerEntry:
    """What is known about a named learner."""
    if name not in _ENTRIES:
        raise unknown_name("learner", name, _ENTRIES)
    return _ENTRIES[name]


def learner_kind(name: str) -> type:
    """The class of a described learner."""
    if name not in _KINDS:
        raise unknown_name("kind of learner", name, _KINDS)
    return _KINDS[name]


def make_learner(
    name: str,
    n_arms: int,
    budget: int = 1,
    rounds: int | None = None,
    tuning: str | None = None,
    **options: Any,
) -> Learner:
    """A learner by name, tuned for the game.

    rounds: how many rounds will be played; None: unknown, then an anytime tuning or the
        doubling trick is used.
    tuning, options: see `pickbest learners` or LearnerEntry.

    >>> round(make_learner("fpml", n_arms=9, budget=3, rounds=368).epsilon, 4)
    0.3053
    """
    entry = learner_entry(name)
    check_budget(budget, n_arms)
    if rounds is not None:
        check_count("rounds", rounds)
    if entry.single_arm and budget != 1:
        raise PickbestError(
            f"{name} picks one arm a round: budget must be 1, got {budget} "
            "(og fills every slot of a larger budget with such a learner)"
        )
    if tuning is not None and tuning not in entry.tunings:
        if not entry.tunings:
            raise PickbestError(f"{name} has nothing to tune, got tuning {tuning!r}")
        raise unknown_name(f"tuning of {name}", tuning, entry.tunings)
    for option in options:
        if option not in entry.options:
            raise unknown_name(f"option of {name}", option, entry.options)
    if rounds is None and entry.needs_rounds:
        return Doubling(Retuned(name, n_arms, budget, tuning, tuple(sorted(options.items()))))
    return entry.build(n_arms, budget, rounds, tuning, **options)


@dataclass(frozen=True)
class Retuned:
    """Makes the named learner for any number of rounds (the doubling wrapper's epochs)."""

    name: str
    n_arms: int
    budget: int
    tuning: str | None
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, rounds: int) -> Learner:
        return _retuned(self, rounds)


@lru_cache(maxsize=256)
def _retuned(spec: Retuned, rounds: int) -> Learner:
    return make_learner(
        spec.name, spec.n_arms, spec.budget, rounds, spec.tuning, **dict(spec.options)
    )


def feedback_of(name: str) -> Feedback:
    """What a named learner sees, with its default options."""
    return make_learner(name, n_arms=2, budget=1, rounds=2).feedback


def applicable(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that the named learner takes."""
    known = learner_entry(name).options
    return {option: value for option, value in options.items() if option in known}
