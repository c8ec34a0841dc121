"""What a portfolio is set to: one list, shared by Portfolio, AskTell, portfolio.toml and serve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from pickbest.catalog.spec import Spec
from pickbest.core import PickbestError
from pickbest.core.codec import read_back
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.engine.limits import Ceiling
from pickbest.portfolio.run.answers.formats import FormatSpec
from pickbest.portfolio.run.answers.handling import Check
from pickbest.portfolio.run.censoring import Censored, Stop, Stopping
from pickbest.portfolio.run.costs import Cost
from pickbest.portfolio.run.features import FeatureFunction
from pickbest.portfolio.runs import Limits, Run, Stage
from pickbest.portfolio.store.records import Opened

DEFAULT_LEARNER = "auto"
# What plans where arms have prices, and what plays a schedule that was set by hand.
PLANNER, BY_HAND = "schedules", "schedule"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a portfolio learns.

    name: several portfolios may share one database.
    learner: a name, with options (`thompson:prior=2.0`) or not, a table with the key `name`, or
        a LearnerSpec. learner_options: further options. rounds: how many are expected. These and
        the seed are fixed when it is created.
    stop, censored, watch: see `censoring`. stop=None: losers are stopped ("first") where a rule
        says what is learned of them; with intervals, who tells costs is taken to run every arm to
        its end ("deadline").
    paused: arms that are not picked for now; None: as the journal has them.
    """

    name: str = "default"
    learner: str | Mapping[str, Any] | Spec = DEFAULT_LEARNER
    learner_options: Mapping[str, Any] | None = None
    rounds: int | None = None
    seed: int = 0
    stop: str | None = None
    censored: str = "intervals"
    watch: float | None = None
    paused: Sequence[str] | None = None

    @property
    def stopping(self) -> Stopping:
        """When arms are stopped, and what is learned then; checked."""
        first = self.censored != Censored.INTERVALS
        stop = self.stop or (Stop.FIRST if first else Stop.DEADLINE)
        return Stopping.of(stop, self.censored, self.watch)

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
    double_check: in this share of the rounds, a race that would stop at the first answer goes on to
        the second, so that two arms can contradict each other.
    check: a function of a Run that may refuse an answer; see `answers.handling.Check`.
    limits: what each arm may use. race_limits: what all arms of a race may use together.
    price: of processor time, for as long as the deadline, beside a cost of 0 to 1; prices: of arms
        that have their own. call_price, call_prices: of a start. With any of them the budget is
        the most arms at a time, and the learner is "schedules".
    stages: a schedule by hand, instead of a learner: see `fixed_schedule`.
    pass_env: names of environment variables that all arms get beside the usual ones; "*": all.
    engine, engine_options: "local", or "ray" with what ray.init takes.
    features: what computes a problem's features: "dimacs" or "smtlib" for files of that kind, or
        a function of the problem; features_seconds: how long it may take, out of the deadline.
    """

    stop: str | None = "first"
    price: float = 0.0
    prices: Mapping[str, float] | None = None
    call_price: float = 0.0
    call_prices: Mapping[str, float] | None = None
    stages: Sequence[Stage] = ()
    cost: str | Cost | Callable[[Run], float | None] = "solved"
    answer: FormatSpec | None = None
    check: Check | None = None
    double_check: float = 0.0
    limits: Limits | None = None
    race_limits: Ceiling | None = None
    pass_env: Sequence[str] = ()
    engine: str | Engine = "local"
    engine_options: Mapping[str, Any] | None = None
    features: str | FeatureFunction | None = None
    features_seconds: float | None = None

    @property
    def opened(self) -> Opened:
        """What the journal's first record says of them."""
        plain = super().opened
        own = {
            "price": (self.price, self.prices),
            "call_price": (self.call_price, self.call_prices),
        }
        priced = {
            name: {"": usual, **(each or {})} if each else usual
            for name, (usual, each) in own.items()
            if usual or each
        }
        if not priced and not self.stages:
            return plain
        cost = self.cost if isinstance(self.cost, str) else type(self.cost).__name__.lower()
        if cost not in ("solved", "runtime"):
            raise PickbestError(f"prices and stages need the cost solved or runtime, got {cost}")
        if plain.learner not in (DEFAULT_LEARNER, PLANNER):
            raise PickbestError(
                f"prices and stages need the learner {PLANNER!r}, got {plain.learner!r}"
            )
        if self.stages:
            return replace(plain, learner=BY_HAND, options=fixed_schedule(self.stages))
        options = {**plain.options, **priced, "cost": cost}
        return replace(plain, learner=PLANNER, options=read_back(options))


def fixed_schedule(stages: Sequence[Stage]) -> dict[str, Any]:
    """The options of a schedule by hand: a set of arms, or one arm and then a set instead."""
    *before, last = stages
    if last.until != 1.0 or len(before) > 1 or any(len(each.arms) != 1 for each in before):
        raise PickbestError(
            "stages must be one set of arms, or one arm for some time and then a set of arms"
        )
    first, until = (before[0].arms[0], before[0].until) if before else ("", 0.0)
    return {"first": first, "slice": until, "arms": list(last.arms)}


class SettingsOptions(TypedDict, total=False):
    """The fields of Settings as keyword arguments, for type checkers."""

    name: str
    learner: str | Mapping[str, Any] | Spec
    learner_options: Mapping[str, Any] | None
    rounds: int | None
    seed: int
    stop: str | None
    censored: str
    watch: float | None
    paused: Sequence[str] | None


class RaceOptions(SettingsOptions, total=False):
    """The fields of RaceSettings as keyword arguments, for type checkers."""

    price: float
    prices: Mapping[str, float] | None
    call_price: float
    call_prices: Mapping[str, float] | None
    stages: Sequence[Stage]
    cost: str | Cost | Callable[[Run], float | None]
    answer: FormatSpec | None
    check: Check | None
    double_check: float
    limits: Limits | None
    race_limits: Ceiling | None
    pass_env: Sequence[str]
    engine: str | Engine
    engine_options: Mapping[str, Any] | None
    features: str | FeatureFunction | None
    features_seconds: float | None
