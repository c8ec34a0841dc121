"""What a portfolio is set to: one list, shared by Portfolio, AskTell, portfolio.toml and serve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from pickbest.catalog.spec import Spec
from pickbest.core import PickbestError
from pickbest.core.codec import read_back
from pickbest.portfolio.answers.formats import FormatSpec
from pickbest.portfolio.answers.handling import Check
from pickbest.portfolio.arms import Limits
from pickbest.portfolio.censoring import Stopping
from pickbest.portfolio.costs import Cost
from pickbest.portfolio.engines import Engine
from pickbest.portfolio.features import FeatureFunction
from pickbest.portfolio.journal.records import Opened
from pickbest.portfolio.processes.limits import Ceiling
from pickbest.portfolio.runs import Run

DEFAULT_LEARNER = "auto"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a portfolio learns.

    name: several portfolios may share one database.
    learner: a name, with options (`thompson:prior=2.0`) or not, a table with the key `name`, or
        a LearnerSpec. learner_options: further options. rounds: how many are expected. These and
        the seed are fixed when it is created.
    stop, censored, watch: see `censoring`.
    paused: arms that are not picked for now; None: as the journal has them.
    """

    name: str = "default"
    learner: str | Mapping[str, Any] | Spec = DEFAULT_LEARNER
    learner_options: Mapping[str, Any] | None = None
    rounds: int | None = None
    seed: int = 0
    stop: str = "first"
    censored: str = "pessimistic"
    watch: float = 0.25
    paused: Sequence[str] | None = None

    @property
    def stopping(self) -> Stopping:
        """When arms are stopped, and what is learned then; checked."""
        return Stopping.of(self.stop, self.censored, self.watch)

    @property
    def opened(self) -> Opened:
        """What the journal's first record says of them."""
        learner = Spec.of(self.learner).with_options(**(self.learner_options or {}))
        try:
            # As the journal gives them back, so that they compare equal.
            options = read_back(learner.options)
        except ValueError as error:
            raise PickbestError(f"options must be finite numbers, got {learner}") from error
        return Opened(self.seed, learner.name, self.rounds, options)


@dataclass(frozen=True, kw_only=True)
class RaceSettings(Settings):
    """How a portfolio learns, and how it runs its arms.

    cost: "solved", "runtime", a Cost such as Quality(best, worst), or a function of a Run.
    answer: how answers are read: "dimacs", "smtlib", "number", "text", or a function of a Run; see
        `answers`. None: as the problem's name says (.cnf, .smt2; packed or not), else "text".
    check: a function of a Run that may refuse an answer; see `answers.handling.Check`.
    limits: what each arm may use. race_limits: what all arms of a race may use together.
    pass_env: names of environment variables that all arms get beside the usual ones; "*": all.
    engine, engine_options: "local", or "ray" with what ray.init takes.
    features: what computes a problem's features: "dimacs" or "smtlib" for files of that kind, or
        a function of the problem; features_seconds: how long it may take, out of the deadline.
    """

    cost: str | Cost | Callable[[Run], float | None] = "solved"
    answer: FormatSpec | None = None
    check: Check | None = None
    limits: Limits | None = None
    race_limits: Ceiling | None = None
    pass_env: Sequence[str] = ()
    engine: str | Engine = "local"
    engine_options: Mapping[str, Any] | None = None
    features: str | FeatureFunction | None = None
    features_seconds: float | None = None


class SettingsOptions(TypedDict, total=False):
    """The fields of Settings as keyword arguments, for type checkers."""

    name: str
    learner: str | Mapping[str, Any] | Spec
    learner_options: Mapping[str, Any] | None
    rounds: int | None
    seed: int
    stop: str
    censored: str
    watch: float
    paused: Sequence[str] | None


class RaceOptions(SettingsOptions, total=False):
    """The fields of RaceSettings as keyword arguments, for type checkers."""

    cost: str | Cost | Callable[[Run], float | None]
    answer: FormatSpec | None
    check: Check | None
    limits: Limits | None
    race_limits: Ceiling | None
    pass_env: Sequence[str]
    engine: str | Engine
    engine_options: Mapping[str, Any] | None
    features: str | FeatureFunction | None
    features_seconds: float | None
