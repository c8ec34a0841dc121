"""Ask and tell, for people who run the arms themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pickbest.core import check_costs, check_count, check_positive
from pickbest.core.features import Features
from pickbest.core.tickets import ClosedRoundError, Ticket, in_order, round_of
from pickbest.portfolio.engine.limits import in_force
from pickbest.portfolio.run.race import finished
from pickbest.portfolio.run.settings import Settings
from pickbest.portfolio.runs import Result, Run, RunStatus
from pickbest.portfolio.store.export import to_pandas
from pickbest.portfolio.store.leases import start_heart
from pickbest.portfolio.store.ledger import Ledger, patiently, ticket_of
from pickbest.portfolio.store.records import NoPortfolioError, Opened, OutageError, Picked
from pickbest.portfolio.store.state import PortfolioState, check_opening
from pickbest.portfolio.store.verdicts import Contradiction
from pickbest.portfolio.store.views import RoundView, Status, overview

if TYPE_CHECKING:
    from pandas import DataFrame

Costs = Sequence[float | None] | Mapping[str, float | None]
SWEEP_SECONDS = 30.0
# Rounds of this process are good as long as it lives: see `store.leases`.
FOR_EVER = 1e9

T = TypeVar("T")


class AskTell:
    """A portfolio's learner and journal without an engine: names of arms, asked and told.

    arms: names. budget: how many of them are picked. storage: sqlite:///FILE, a file name,
        postgresql://…; the default keeps nothing.
    settings: see Settings; its fields are also taken one by one, as keyword arguments.

    >>> with AskTell(["a", "b", "c"], budget=2, learner="thompson") as book:
    ...     ticket = book.ask("problem 1")
    ...     book.tell(ticket, [0.25, 0.5])
    ...     book.status().finished
    1
    """

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
        opened, paused = settings.opened, settings.paused
        check_opening(opened, arms, budget, paused)  # before a database is made
        self._begin(storage, settings, opened)
        try:
            _opening(lambda: self.ledger.open(opened, arms, budget, paused))
            _opening(self.ledger.sweep)
        except BaseException:
            self.ledger.close()
            raise

    @staticmethod
    def reopened(
        storage: str | Path, name: str = "default", settings: Settings | None = None
    ) -> AskTell:
        """A portfolio that exists already, with the arms that it has, whoever changes them.

        settings: what it must have been created with, and how rounds are stopped (None: as it is).
        """
        book = AskTell.__new__(AskTell)
        trusted = None if settings is None else settings.opened
        book._begin(storage, settings or Settings(name=name), trusted, create=False)
        try:
            if book.ledger.state.roster is None:
                raise NoPortfolioError(
                    f"the portfolio {name!r} is empty: it was never opened with arms"
                )
            if trusted is not None:
                book.ledger.check_settings(trusted)
            _opening(book.ledger.sweep)
        except BaseException:
            book.ledger.close()
            raise
        return book

    def _begin(
        self,
        storage: str | Path,
        settings: Settings,
        trusted: Opened | None,
        create: bool = True,
    ) -> None:
        """Open the journal, patiently while the database is away."""
        from pickbest.portfolio.store.journal import Journal

        self._watch = settings.watched_at_most
        self._swept = time.monotonic()
        self._mine: set[int] = set()
        self._mine_lock = threading.Lock()
        self._heart: threading.Event | None = None

        def opened() -> tuple[Ledger, bool]:
            journal = Journal(str(storage), settings.name, create)
            try:
                return Ledger(journal, trusted), journal.shared
            except BaseException:
                journal.close()
                raise

        self.ledger, self._shared = _opening(opened)

    @property
    def open_tickets(self) -> tuple[Ticket[str], ...]:
        """Tickets, of any process, that were asked for and neither told nor lost."""
        return self.ledger.look(
            lambda state: tuple(ticket_of(picked) for picked in state.open.values())
        )

    def ask(
        self, problem: str = "", lifetime: float | None = None, features: Features | None = None
    ) -> Ticket[str]:
        """Open a round: which arms to run. The pick is on disk when this returns.

        Where the ticket says `watched`, run all its arms to their own end, whoever answers first.

        lifetime: seconds for which the ticket is good, whatever becomes of this process; None:
            as long as this process lives, and no longer.
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
        if lifetime is not None:
            check_positive("lifetime", lifetime)
        tickets = self._opened(problems, lifetime, features)
        if lifetime is None:
            with self._mine_lock:
                self._mine.update(ticket.round for ticket in tickets)
        return tickets

    def tell(self, ticket: Ticket[str] | int, costs: Costs, answer: Any = None) -> None:
        """Close a round with the costs of its arms, in the ticket's order or by name.

        A cost that is not known (the arm was stopped) is None. Telling a round again is
        refused and changes nothing, as is anything wrong. A result that comes after its round was
        closed as lost is kept, shown by `history` and `status`, and refused: it is not learned.
        """
        self.tell_many([(ticket, costs)], [answer])

    def tell_many(
        self,
        results: Iterable[tuple[Ticket[str] | int, Costs]],
        answers: Sequence[Any] | None = None,
    ) -> None:
        """Close many rounds in one commit, all or none; late ones are kept, and then refused."""
        results = list(results)
        told = list(answers) if answers is not None else [None] * len(results)
        records = []
        for (ticket, costs), answer in zip(results, told, strict=True):
            picked = self.ledger.picked(round_of(ticket), or_lost=True)
            result = _result(picked, costs, answer)
            # Nobody says how long arms took: the less a result costs, the sooner it came.
            times = [result.cost or 0.0 if run.cost is None else run.cost for run in result.runs]
            records.append(finished(result, times))
        late = self.ledger.tell(records)
        with self._mine_lock:
            self._mine.difference_update(record.round for record in records)
        for number, reason in late.items():
            raise ClosedRoundError(
                f"round {number} was closed as lost ({reason}); what came late is kept, and not "
                "learned"
            )

    def forget(self, ticket: Ticket[str] | int) -> None:
        """Give a round up: it is closed as lost and never learned."""
        number = round_of(ticket)
        self.ledger.picked(number)
        self.ledger.lose([number], "given up")

    def open_round(self, problem: str, features: Features | None = None) -> Ticket[str]:
        """A round for an engine of this process, watched to its end or not."""
        return self._opened([problem], None, [features])[0]

    def _opened(
        self,
        problems: Sequence[str],
        lifetime: float | None,
        features: Sequence[Features | None] | None,
    ) -> list[Ticket[str]]:
        self._look_after()
        return self.ledger.ask(
            problems,
            lifetime=FOR_EVER if lifetime is None else lifetime,
            owned=lifetime is None,
            watch=self._watch,
            features=features,
        )

    def contradictions(self, number: int) -> tuple[Contradiction, ...]:
        """Where the arms of a round contradict each other, or those of other rounds."""
        with self.ledger.lock:
            return self.ledger.state.verdicts.of_round(number)

    def add_arm(self, name: str) -> None:
        """Add an arm; it starts fairly (see `learner_states`)."""
        self.ledger.change(add=[name])

    def remove_arm(self, name: str) -> None:
        """Take an arm out. Its results stay in the journal, and it may come back."""
        self.ledger.change(remove=[name])

    def pause_arm(self, name: str) -> None:
        """Do not pick an arm for now."""
        self.ledger.change(pause=[name])

    def resume_arm(self, name: str) -> None:
        """Pick a paused arm again; it stands where it stood."""
        self.ledger.change(resume=[name])

    def status(self) -> Status:
        """Rounds, arms, wins and pick probabilities as they are now."""
        return self.ledger.look(lambda state: overview(state, in_force()))

    def history(self, last: int | None = None) -> list[RoundView]:
        """What happened in each round, oldest first."""
        return self.ledger.rounds(last)

    def to_pandas(self) -> DataFrame:
        """One row for each run of each round; see `store.export`."""
        return to_pandas(self.history())

    def verify(self) -> PortfolioState:
        """Replay the journal from its beginning; says if any pick or the state differs."""
        return self.ledger.verify()

    def close(self) -> None:
        """Close the rounds that this object still has open as lost; the journal stays."""
        with self._mine_lock:
            mine, self._mine = sorted(self._mine), set()
        if self._heart is not None:
            self._heart.set()
        try:
            if mine:
                self.ledger.lose(mine, "the portfolio was closed before the result")
            if self._heart is not None:
                self.ledger.end_lease()
        finally:
            self.ledger.close()

    def __repr__(self) -> str:
        state = self.ledger.state
        arms = len(state.roster.arms) if state.roster else 0
        return f"AskTell({arms} arms, {state.finished} rounds finished, {len(state.open)} open)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look_after(self) -> None:
        """Close abandoned rounds now and then; from the first round on, a thread helps."""
        if self._shared and self._heart is None:
            self._heart = start_heart(self.ledger.beat)
        now = time.monotonic()
        if now - self._swept > SWEEP_SECONDS:
            self._swept = now
            self.ledger.sweep()


def _opening(attempt: Callable[[], T]) -> T:
    """It is tried again while the database is away, not where it is wrong."""
    return patiently(attempt, away=OutageError)


def _result(picked: Picked, costs: Costs, answer: Any) -> Result:
    ordered = in_order(picked.round, picked.arms, costs)
    known = [cost for cost in ordered if cost is not None]
    check_costs(known, (len(known),))
    runs = tuple(
        Run(arm, RunStatus.STOPPED)
        if cost is None
        else Run(arm, RunStatus.FINISHED, cost=float(cost))
        for arm, cost in zip(picked.arms, ordered, strict=True)
    )
    best = min(known) if known else None
    winner = next((run.arm for run in runs if best is not None and run.cost == best), None)
    return Result(picked.round, picked.problem, winner, best, 0.0, answer, runs)
