"""What a portfolio is set to: one list, shared by Portfolio, AskTell, portfolio.toml and serve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from pickbest.catalog.spec import Spec
from pickbest.core import PickbestError, unknown_name
from pickbest.core.codec import encode, parsed
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.run.answers.handling import Check, FormatSpec
from pickbest.portfolio.run.costs import CostSpec
from pickbest.portfolio.run.features import FeatureFunction
from pickbest.portfolio.runs import Limits
from pickbest.portfolio.store.live_learner import CALLER, DEFAULT_LEARNER, PLANNER
from pickbest.portfolio.store.records import Opened

# When the arms of a round are stopped: at the first acceptable answer, or at the deadline.
STOPS = ("first", "deadline")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a portfolio learns.

    name: several portfolios may share one database.
    learner: a name, with options (`thompson:prior=2.0`) or not, a table with the key `name`, or
        a Spec. rounds: how many are expected. These and the seed are fixed when it is created.
    stop: "first": the losers of a round are stopped when an arm has answered; "deadline": all
        arms run to their own end. AskTell assumes "deadline".
    watch: with "first", the learner says how likely a round should be watched to its end, so that
        there is something to compare; this is the most that it gets. 0: no round is watched.
    rewards: results are told and shown as quality between 0 and 1, not as costs.
    prices: of a call, by arm; what is told with results counts more. trade: how much a price of 1
        weighs against a cost of 1 (1 if only prices are given). With either, the budget is the
        most calls on a problem. cascade: they are made one after another, see `Ticket.more`.
    """

    name: str = "default"
    learner: str | Mapping[str, Any] | Spec = DEFAULT_LEARNER
    rounds: int | None = None
    seed: int = 0
    stop: str = "deadline"
    watch: float = 1.0
    rewards: bool = False
    prices: Mapping[str, float] | None = None
    trade: float | None = None
    cascade: bool = False

    def __post_init__(self) -> None:
        if self.stop not in STOPS:
            raise unknown_name("stop", str(self.stop), STOPS)
        number = isinstance(self.watch, int | float) and not isinstance(self.watch, bool)
        if not number or not 0.0 <= self.watch <= 1.0:
            raise PickbestError(f"watch must be between 0 and 1, got {self.watch!r}")

    def but(self, options: Mapping[str, Any]) -> Self:
        """These settings with some changed, by the names of their fields."""
        known = [each.name for each in fields(self)]
        for name in options:
            if name not in known:
                raise unknown_name("setting", name, known)
        return replace(self, **options)

    @property
    def watched_at_most(self) -> float | None:
        """How likely a round may be watched to its end; None: every round is."""
        return self.watch if self.stop == "first" else None

    @property
    def opened(self) -> Opened:
        """What the journal's first record says of them."""
        learner = Spec.of(self.learner)
        name, options = learner.name, {**learner.options, **self._priced()}
        if len(options) > len(learner.options):
            if name not in (DEFAULT_LEARNER, self._pricing):
                raise PickbestError(f"prices need the learner {self._pricing!r}, got {name!r}")
            name = self._pricing
        try:
            # As the journal gives them back, so that they compare equal.
            options = parsed(encode(options))
        except ValueError as error:
            raise PickbestError(f"options must be finite numbers, got {learner}") from error
        return Opened(self.seed, name, self.rounds, options, self.rewards)

    _pricing = CALLER

    def _priced(self) -> dict[str, Any]:
        """The options of the learner that weighs prices; empty where there are none."""
        if self.prices is None and self.trade is None and not self.cascade:
            return {}
        prices = {"": 0.0, **(self.prices or {})}
        trade = 1.0 if self.trade is None else self.trade
        return {"prices": prices, "trade": trade, "cascade": self.cascade}


@dataclass(frozen=True, kw_only=True)
class RaceSettings(Settings):
    """How a portfolio learns, and how it runs its arms.

    cost: "solved", "runtime", Quality(best, worst) or its table, or a function of a Run.
    answer: how answers are read: "dimacs", "smtlib", "number", "text", or a function of a Run; see
        `answers`. None: as the problem's name says (.cnf, .smt2; packed or not), else "text".
    check: a function of a Run that may refuse an answer; see `answers.handling.Check`.
    limits: what each arm may use.
    price: of one processor for one deadline, on the scale of costs (0 to 1); prices are those
        of a start. With either, the budget is the most arms at a time.
    pass_env: names of environment variables that all arms get in addition; "*": all.
    engine, engine_options: "local", or "ray" with what ray.init takes.
    features: what computes a problem's features, in at most a tenth of the deadline: "file" (what
        its name and its beginning say), or a function of the problem.
    """

    stop: str = "first"
    price: float = 0.0
    cost: CostSpec = "runtime"
    answer: FormatSpec | None = None
    check: Check | None = None
    limits: Limits | None = None
    pass_env: Sequence[str] = ()
    engine: str | Engine = "local"
    engine_options: Mapping[str, Any] | None = None
    features: str | FeatureFunction | None = None

    _pricing = PLANNER

    def _priced(self) -> dict[str, Any]:
        """The options of the learner that plans races."""
        if self.rewards or self.cascade:
            raise PickbestError("rewards and cascade are for arms that are names, not for races")
        if not self.price and not self.prices and self.trade is None:
            return {}
        cost = self.cost if isinstance(self.cost, str) else type(self.cost).__name__.lower()
        if cost not in ("solved", "runtime"):
            raise PickbestError(f"prices need the cost solved or runtime, got {cost}")
        trade = 1.0 if self.trade is None else self.trade
        calls = {"": 0.0, **{arm: trade * each for arm, each in (self.prices or {}).items()}}
        return {"price": self.price, "call_price": calls, "cost": cost}
