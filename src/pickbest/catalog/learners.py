"""Learners by name: what is registered, and the one way from a text to a learner."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pickbest.catalog.spec import Spec, check_options, from_module, parameters
from pickbest.core import (
    Feedback,
    Learner,
    PickbestError,
    check_budget,
    check_count,
    check_is_learner,
    unknown_name,
)

# What a builder is told of the game; all its other parameters are options.
GAME = ("n_arms", "budget", "rounds", "tuning")


@dataclass(frozen=True)
class LearnerEntry:
    """A named learner.

    build: the learner's class, or a function that makes it. Those of its parameters that are
        called n_arms, budget, rounds (None where unknown) and tuning (None where not chosen)
        are given by the game; all others are options, and need default values.
    tunings: the default first; empty where nothing is tuned.
    """

    name: str
    summary: str
    build: Callable[..., Learner]
    tunings: tuple[str, ...] = ()

    @property
    def single_arm(self) -> bool:
        """Whether the budget must be 1: the learner is not told of any."""
        return "budget" not in parameters(self.build)

    @property
    def options(self) -> dict[str, Any]:
        """Option names with their default values."""
        return {k: default for k, default in parameters(self.build).items() if k not in GAME}

    def make(self, options: Mapping[str, Any], **game: Any) -> Learner:
        """The learner of a game: n_arms, budget, rounds and tuning."""
        takes = parameters(self.build)
        built = self.build(**{k: v for k, v in game.items() if k in takes}, **options)
        return check_is_learner(built)


_ENTRIES: dict[str, LearnerEntry] = {}
_KINDS: dict[str, type] = {}


def register_learner(entry: LearnerEntry, *kinds: type) -> None:
    """Add a learner of your own; `kinds`: the dataclasses that a function `build` may return.

    A registered learner works in `simulate`, on the command line of the process that
    registered it, and in `Player.load`. Without registering, a learner can be named by its
    module: see `make_learner`.
    """
    if entry.name in _ENTRIES:
        raise PickbestError(f"a learner named {entry.name!r} is registered already")
    own = (entry.build,) if isinstance(entry.build, type) else ()
    _ENTRIES[entry.name] = entry
    register_kinds(*kinds, *own)


def register_kinds(*kinds: type) -> None:
    """Let `rebuild` know classes of learners."""
    _KINDS.update({kind.__name__: kind for kind in kinds})


def learner_names() -> tuple[str, ...]:
    """All names that `make_learner` knows."""
    return tuple(_ENTRIES)


def learner_entry(name: str) -> LearnerEntry:
    """What is known about a learner: a registered one, or a class or function of a module."""
    if name in _ENTRIES:
        return _ENTRIES[name]
    known, _, wrong = name.partition(":")
    if not wrong:
        raise unknown_name("learner", name, _ENTRIES)
    if known in _ENTRIES:
        raise PickbestError(f"options of a learner must be key=value, got {wrong!r} in {name!r}")
    build = from_module(name, "learner", _ENTRIES, needs=("n_arms",))
    summary = (inspect.getdoc(build) or name).partition("\n")[0]
    return LearnerEntry(name, summary, build)


def learner_kind(name: str) -> type:
    """The class of a described learner."""
    if name not in _KINDS:
        raise unknown_name("kind of learner", name, _KINDS)
    return _KINDS[name]


def make_learner(
    name: str | Mapping[str, Any] | Spec,
    n_arms: int,
    budget: int = 1,
    rounds: int | None = None,
    tuning: str | None = None,
    **options: Any,
) -> Learner:
    """A learner by name, tuned for the game.

    name: one of `learner_names()`; `module:Name` for a class or function of your own, which
        takes n_arms, budget and perhaps rounds; with options behind it (`og:slots=distinct`,
        see `pickbest.catalog.spec`) or as a table with the key `name`; or a Spec.
    rounds: how many rounds will be played. A learner that is tuned for them needs them, or
        its parameters set by hand; `auto`, `fpml` and others do not.
    tuning, options: see `pickbest learners` or LearnerEntry. None: chosen for the game. They
        win over those that came with the name.

    >>> round(make_learner("fpml", n_arms=9, budget=3, rounds=368).epsilon, 4)
    0.3053
    >>> make_learner("thompson:prior=0.5", n_arms=9, budget=3)
    Thompson(n_arms=9, budget=3, prior=0.5)
    """
    spec = Spec.of(name)
    given = {**spec.options, **{k: v for k, v in options.items() if v is not None}}
    tuning = given.pop("tuning", None) if tuning is None else tuning
    entry = learner_entry(spec.name)
    _check(entry, n_arms, budget, rounds, tuning, given)
    return entry.make(given, n_arms=n_arms, budget=budget, rounds=rounds, tuning=tuning)


def _check(
    entry: LearnerEntry,
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    options: Mapping[str, Any],
) -> None:
    check_budget(budget, n_arms)
    if rounds is not None:
        check_count("rounds", rounds)
    if entry.single_arm and budget != 1:
        raise PickbestError(
            f"{entry.name} picks one arm per round: budget must be 1, got {budget} "
            "(og fills every slot of a larger budget with such a learner)"
        )
    if tuning is not None and tuning not in entry.tunings:
        if not entry.tunings:
            raise PickbestError(f"{entry.name} has nothing to tune, got tuning {tuning!r}")
        raise unknown_name(f"tuning of {entry.name}", tuning, entry.tunings)
    check_options(entry.name, options, entry.options)


def feedback_of(name: str | Spec) -> Feedback:
    """What a named learner sees, with its default options where it comes with none."""
    spec = Spec.of(name)
    budget = 1 if learner_entry(spec.name).single_arm else 2
    return make_learner(spec, n_arms=4, budget=budget, rounds=2).feedback
