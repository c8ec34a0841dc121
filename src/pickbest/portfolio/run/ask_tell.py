"""Ask and tell, for people who run the arms themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pickbest.core import check_costs, check_count, check_positive
from pickbest.core.checks import check_not_negative
from pickbest.core.features import Features
from pickbest.core.tickets import RepeatedTellError, Ticket, in_order, round_of
from pickbest.portfolio.run.race import finished
from pickbest.portfolio.run.settings import Settings
from pickbest.portfolio.runs import Result, Run, RunStatus
from pickbest.portfolio.store.ledger import Ledger
from pickbest.portfolio.store.records import NoPortfolioError, Opened, Picked
from pickbest.portfolio.store.state import PortfolioState, check_opening
from pickbest.portfolio.store.views import RoundView, Status, overview

Costs = Sequence[float | None] | Mapping[str, float | None]
SWEEP_SECONDS = 30.0
# Rounds of this process are good as long as it lives. Other machines, which cannot see that, give
# them up after this time.
DAY = 86_400.0


class AskTell:
    """A portfolio's learner and journal without an engine: names of arms, asked and told.

    arms: names. budget: how many of them are picked; with prices, at most. storage:
        sqlite:///FILE, a file name, postgresql://…; the default keeps nothing.
    settings: see Settings; its fields are also taken one by one, as keyword arguments.

    >>> with AskTell(["gpt", "claude", "llama"], budget=2, rewards=True) as router:
    ...     ticket = router.ask("request 1")
    ...     router.tell(ticket, {name: 0.75 for name in ticket.arms})
    ...     router.status().finished
    1
    """

    _own_seconds = DAY

    def __init__(
        self,
        arms: Sequence[str],
        budget: int,
        storage: str | Path = "sqlite://",
        *,
        settings: Settings | None = None,
        **options: Any,
    ) -> None:
        settings = (settings or Settings()).but(options)
        opened = settings.opened
        check_opening(opened, arms, budget)  # before a database is made
        self._begin(storage, settings, opened, lambda ledger: ledger.open(opened, arms, budget))

    @staticmethod
    def reopened(
        storage: str | Path, name: str = "default", settings: Settings | None = None
    ) -> AskTell:
        """A portfolio that exists already, with the arms that it has, whoever changes them.

        settings: what it must have been created with, and how rounds are stopped (None: as it is).
        """
        book = AskTell.__new__(AskTell)
        trusted = None if settings is None else settings.opened

        def check(ledger: Ledger) -> None:
            if ledger.state.roster is None:
                raise NoPortfolioError(
                    f"the portfolio {name!r} is empty: it was never opened with arms"
                )
            if trusted is not None:
                ledger.check_settings(trusted)

        book._begin(storage, settings or Settings(name=name), trusted, check, create=False)
        return book

    def _begin(
        self,
        storage: str | Path,
        settings: Settings,
        trusted: Opened | None,
        start: Callable[[Ledger], None],
        create: bool = True,
    ) -> None:
        """Open the journal."""
        from pickbest.portfolio.store.journal import Journal

        self._watch = settings.watched_at_most
        self._swept = time.monotonic()
        # Rounds that are good as long as this object lives.
        self._mine: set[int] = set()
        journal = Journal(str(storage), settings.name, create)
        try:
            self.ledger = Ledger(journal, trusted)
            start(self.ledger)
            self.ledger.sweep()
        except BaseException:
            journal.close()
            raise

    @property
    def rewards(self) -> bool:
        """Whether results are told as quality, not as costs."""
        settings = self.ledger.state.settings
        return settings is not None and settings.rewards

    @property
    def open_tickets(self) -> tuple[Ticket[str], ...]:
        """Tickets, of any process, that were asked for and neither told nor lost."""
        return self.ledger.look(lambda state: tuple(map(self._ticket, state.open.values())))

    def ask(
        self, problem: str = "", lifetime: float | None = None, features: Features | None = None
    ) -> Ticket[str]:
        """Open a round: which arms to run. The pick is on disk when this returns.

        Where the ticket says `watched`, run all its arms to their own end, whoever answers first.

        lifetime: seconds for which the ticket is good, whatever becomes of this process; None:
            as long as this process lives (a day, if only other machines look).
        features: what is known of the problem (see `Player.ask`); they are kept with the pick.
        """
        return self.ask_many([problem], lifetime, None if features is None else [features])[0]

    def ask_many(
        self,
        problems: Sequence[str],
        lifetime: float | None = None,
        features: Sequence[Features | None] | None = None,
    ) -> list[Ticket[str]]:
        """Open one round per problem in one commit: many times quicker than one by one.

        features: those of each problem, None where it has none.
        """
        check_count("the number of problems", len(problems))
        seconds, own = self._good_for(lifetime), lifetime is None
        if time.monotonic() - self._swept > SWEEP_SECONDS:
            self._swept = time.monotonic()
            self.ledger.sweep()
        opened = self.ledger.ask(
            problems, lifetime=seconds, owned=own, watch=self._watch, features=features
        )
        if own:
            self._mine.update(each.round for each in opened)
        return [self._ticket(each) for each in opened]

    def more(self, ticket: Ticket[str] | int, lifetime: float | None = None) -> Ticket[str] | None:
        """Once a round is told: another call on its problem, if it is worth its price.

        Only with `cascade`. Asked again, it gives the same ticket.
        """
        own = lifetime is None
        found = self.ledger.more(round_of(ticket), self._good_for(lifetime), owned=own)
        if found is None:
            return None
        if own:
            self._mine.add(found.round)
        return self._ticket(found)

    def _good_for(self, lifetime: float | None) -> float:
        """Seconds for which a ticket is good."""
        return self._own_seconds if lifetime is None else check_positive("lifetime", lifetime)

    def tell(
        self,
        ticket: Ticket[str] | int,
        costs: Costs,
        answer: Any = None,
        prices: Costs | None = None,
    ) -> None:
        """Close a round with the costs of its arms (with `rewards`: their quality), in the
        ticket's order or by name.

        A cost that is not known (the arm was stopped, or never called) is None. prices: of these
        calls, where they are not those that were set. Telling a round again is
        refused and changes nothing, as is anything wrong, and a result that comes after its round
        was closed as lost.
        """
        self.tell_many([(ticket, costs)], [answer], [prices])

    def tell_many(
        self,
        results: Iterable[tuple[Ticket[str] | int, Costs]],
        answers: Sequence[Any] | None = None,
        prices: Sequence[Costs | None] | None = None,
    ) -> None:
        """Close many rounds in one commit, all or none."""
        results = list(results)
        none = [None] * len(results)
        rounds = self._told([round_of(ticket) for ticket, _ in results])
        records = []
        for picked, (_, costs), answer, own in zip(
            rounds, results, answers or none, prices or none, strict=True
        ):
            result = self._result(picked, costs, answer, own)
            # Nobody says how long arms took: the less a result costs, the sooner it came.
            times = [result.cost or 0.0 if run.cost is None else run.cost for run in result.runs]
            records.append(finished(result, times))
        self.ledger.tell(records)
        self._mine.difference_update(record.round for record in records)

    def _told(self, numbers: Sequence[int]) -> list[Picked]:
        """The rounds that results are for; refused where one was told already."""
        try:
            return self.ledger.running(numbers)
        except RepeatedTellError as error:
            # Who sent this batch before has told all of it: see `client`.
            if self.ledger.state.open.keys().isdisjoint(numbers):
                raise
            raise RepeatedTellError(f"{error}: rounds of this batch are still open") from error

    def forget(self, ticket: Ticket[str] | int) -> None:
        """Give a round up: it is closed as lost and never learned."""
        number = round_of(ticket)
        self.ledger.running([number])
        self.ledger.lose([number], "given up")

    def _ticket(self, opened: Picked) -> Ticket[str]:
        told = (opened.round, opened.arms, opened.problem, opened.watched, opened.until)
        return Ticket(*told, goes_on=self.more)

    def _result(self, picked: Picked, told: Costs, answer: Any, prices: Costs | None) -> Result:
        settings = self.ledger.state.settings
        costs = _known(picked, told, "rewards" if self.rewards else "costs")
        usual = settings.options.get("prices") if settings else None
        charged = _charged(picked, usual if isinstance(usual, Mapping) else {}, prices)
        runs = tuple(
            Run(arm, RunStatus.STOPPED)
            if cost is None
            else Run(arm, RunStatus.FINISHED, cost=cost, price=price)
            for arm, cost, price in zip(picked.arms, costs, charged, strict=True)
        )
        best = min((cost for cost in costs if cost is not None), default=None)
        # Where calls have prices, one that brought nothing has not won.
        beaten = min(picked.costs, default=1.0) if self.ledger.state.live.fewer else float("inf")
        winner = next(
            (run.arm for run in runs if best is not None and run.cost == best < beaten), None
        )
        return Result(picked.round, picked.problem, winner, best, 0.0, answer, runs)

    def add_arm(self, name: str) -> None:
        """Add an arm; it starts fairly (see `learner_states`)."""
        self.ledger.change(add=[name])

    def remove_arm(self, name: str) -> None:
        """Take an arm out. Its results stay in the journal; if it is added again, what was learned
        of it is still known."""
        self.ledger.change(remove=[name])

    def status(self) -> Status:
        """Rounds, arms, wins and pick probabilities as they are now."""
        return self.ledger.look(overview)

    def history(self, last: int | None = None) -> list[RoundView]:
        """What happened in each round, oldest first."""
        return self.ledger.rounds(last)

    def verify(self) -> PortfolioState:
        """Replay the journal from its beginning; says if any pick or the state differs."""
        return self.ledger.verify()

    def close(self) -> None:
        """Close the rounds that this object still has open as lost; the journal stays."""
        try:
            if self._mine:
                self.ledger.lose(sorted(self._mine), "the portfolio was closed before the result")
                self._mine.clear()
        finally:
            self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _known(picked: Picked, told: Costs, what: str) -> list[float | None]:
    """The costs of a round in the order of its arms; what: "costs", or "rewards" to turn over."""
    ordered = in_order(picked.round, picked.arms, told, what)
    known = [each for each in ordered if each is not None]
    check_costs(known, (len(known),), what)
    costs = [None if each is None else float(each) for each in ordered]
    if what == "rewards":
        costs = [None if each is None else 1.0 - each for each in costs]
    return costs


def _charged(picked: Picked, usual: Mapping[str, float], told: Costs | None) -> list[float | None]:
    """The prices of a round's calls: those told, else the usual ones, if calls have any."""
    found = [usual.get(arm) for arm in picked.arms]
    if told is not None:
        ordered = in_order(picked.round, picked.arms, told, "prices")
        found = [own if price is None else price for price, own in zip(ordered, found, strict=True)]
    return [None if price is None else check_not_negative("a price", price) for price in found]
