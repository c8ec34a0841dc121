"""Ask and tell, for people who run the arms themselves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pickbest.core import (
    PickbestError,
    check_costs,
    check_count,
    check_positive,
)
from pickbest.portfolio.censoring import Stopping, learned_costs
from pickbest.portfolio.journal.ledger import Ledger, RepeatedTellError, Ticket
from pickbest.portfolio.journal.protocol import StorageError
from pickbest.portfolio.journal.records import Finished, Opened, Picked
from pickbest.portfolio.race import finished
from pickbest.portfolio.runs import Result, Run
from pickbest.portfolio.runs import Status as RunStatus
from pickbest.portfolio.state.fold import DEFAULT_LEARNER, Knowledge
from pickbest.portfolio.state.overview import (
    RoundView,
    Status,
    overview,
    rounds_of,
)
from pickbest.portfolio.state.rosters import check_opening
from pickbest.portfolio.state.verify import replayed

Costs = Sequence[float | None] | Mapping[str, float | None]
SWEEP_SECONDS = 30.0
RETRY_SECONDS = (0.1, 0.5, 2.0, 5.0)


class AskTell:
    """A portfolio's learner and journal without an engine: names of arms, asked and told.

    arms: names. storage, name, learner, learner_options, rounds, seed: see Portfolio.
    stopping: what is learned where a cost is told as None (see `censoring`).

    >>> book = AskTell(["a", "b", "c"], budget=2)
    >>> ticket = book.ask("problem 1")
    >>> book.tell(ticket, [0.25, 0.5])
    >>> book.status().finished
    1
    >>> book.close()
    """

    def __init__(
        self,
        arms: Sequence[str],
        budget: int,
        storage: str | Path = "sqlite://",
        *,
        name: str = "default",
        learner: str = DEFAULT_LEARNER,
        learner_options: Mapping[str, Any] | None = None,
        rounds: int | None = None,
        seed: int = 0,
        stopping: Stopping | None = None,
        paused: Sequence[str] | None = None,
    ) -> None:
        from pickbest.portfolio.journal.sql import SqlJournal

        settings = Opened(seed, learner, rounds, _as_json(learner_options or {}))
        check_opening(settings, arms, budget, paused)  # before a database is made
        self.stopping = stopping or Stopping()
        journal = SqlJournal(str(storage), name)
        try:
            self.ledger = Ledger(journal)
            self.ledger.open(settings, arms, budget, paused)
            self.ledger.sweep()
        except BaseException:
            journal.close()
            raise
        self._swept = time.monotonic()
        self._mine: set[int] = set()
        self._mine_lock = threading.Lock()

    @classmethod
    def reopened(cls, storage: str | Path, name: str = "default") -> AskTell:
        """A portfolio that exists already, with the settings and arms that it has."""
        from pickbest.portfolio.journal.sql import SqlJournal

        journal = SqlJournal(str(storage), name, create=False)
        try:
            known = Ledger(journal).knowledge
        finally:
            journal.close()
        settings, roster = known.settings, known.roster
        if settings is None or roster is None:
            raise PickbestError(f"the portfolio {name!r} is empty: it was never opened with arms")
        return cls(
            roster.arms,
            roster.budget,
            storage,
            name=name,
            learner=settings.learner,
            learner_options=settings.options,
            rounds=settings.rounds,
            seed=settings.seed,
        )

    def ask(self, problem: str = "", lifetime: float | None = None) -> Ticket:
        """Open a round: which arms to run. The pick is on disk when this returns.

        lifetime: seconds for which the ticket is good, whatever becomes of this process; None:
            as long as this process lives, and no longer.
        """
        return self.ask_many([problem], lifetime)[0]

    def ask_many(self, problems: Sequence[str], lifetime: float | None = None) -> list[Ticket]:
        """Open one round per problem in one commit: many times quicker than one by one."""
        check_count("the number of problems", len(problems))
        self._sweep_sometimes()
        if lifetime is not None:
            check_positive("lifetime", lifetime)
            return self.ledger.ask(problems, lifetime=lifetime, owned=False)
        tickets = self.ledger.ask(problems, lifetime=float(10**9))
        with self._mine_lock:
            self._mine.update(ticket.round for ticket in tickets)
        return tickets

    def tell(self, ticket: Ticket | int, costs: Costs, answer: Any = None) -> None:
        """Close a round with the costs of its arms, in the ticket's order or by name.

        A cost that is not known (the arm was stopped) is None. Telling a round again is
        refused and changes nothing, as is anything wrong.
        """
        self.tell_many([(ticket, costs)], [answer])

    def tell_many(
        self,
        results: Iterable[tuple[Ticket | int, Costs]],
        answers: Sequence[Any] | None = None,
    ) -> None:
        """Close many rounds in one commit, all or none."""
        results = list(results)
        told = list(answers) if answers is not None else [None] * len(results)
        records = []
        for (ticket, costs), answer in zip(results, told, strict=True):
            number = ticket.round if isinstance(ticket, Ticket) else ticket
            picked = self.ledger.picked(number)
            result = _result(picked, costs, answer)
            records.append(finished(result, *learned_costs(result.runs, self.stopping, True)))
        self.ledger.tell(records)
        with self._mine_lock:
            self._mine.difference_update(record.round for record in records)

    def forget(self, ticket: Ticket | int) -> None:
        """Give a round up: it is closed as lost and never learned."""
        number = ticket.round if isinstance(ticket, Ticket) else ticket
        self.ledger.picked(number)
        self.ledger.lose([number], "given up")

    def open_round(self, problem: str, lifetime: float) -> Ticket:
        """A round for an engine of this process, watched to its end or not."""
        self._sweep_sometimes()
        watch = self.stopping.watch_probability
        return self.ledger.ask([problem], lifetime=lifetime, watch=watch)[0]

    def close_round(self, record: Finished) -> None:
        """Journal what an engine found; patient with a database that is away for a while."""
        for patience in (*RETRY_SECONDS, None):
            try:
                self.ledger.tell([record])
                return
            except RepeatedTellError:
                # An attempt that seemed to fail may have counted: then this is its own record.
                if any(entry.record == record for entry in self.ledger.entries()):
                    return
                raise
            except StorageError:
                if patience is None:
                    raise
                time.sleep(patience)

    def lose_round(self, ticket: Ticket, reason: str) -> None:
        """Journal that there is no result."""
        self.ledger.lose([ticket.round], reason)

    def add_arm(self, name: str) -> None:
        """Add an arm; it starts fairly (see `carry`)."""
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
        self.ledger.refresh()
        return overview(self.ledger.knowledge)

    def history(self, last: int | None = None) -> list[RoundView]:
        """What happened in each round, oldest first."""
        return rounds_of(self.ledger.entries(), last)

    def verify(self) -> Knowledge:
        """Replay the journal from its beginning; says if any pick or the state differs."""
        self.ledger.refresh()
        return replayed(self.ledger.entries(), self.ledger.knowledge)

    def close(self) -> None:
        """Close the rounds that this object still has open as lost; the journal stays."""
        with self._mine_lock:
            mine, self._mine = sorted(self._mine), set()
        if mine:
            self.ledger.lose(mine, "the portfolio was closed before the result")
        self.ledger.close()

    def _sweep_sometimes(self) -> None:
        now = time.monotonic()
        if now - self._swept > SWEEP_SECONDS:
            self._swept = now
            self.ledger.sweep()


def _as_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the journal gives them back, so that they compare equal."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(options), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise PickbestError(f"options of a learner must be plain data, got {options!r}") from error
    return plain


def _result(picked: Picked, costs: Costs, answer: Any) -> Result:
    ordered = _in_order(picked, costs)
    known = [cost for cost in ordered if cost is not None]
    check_costs(known, (len(known),))
    runs = tuple(
        Run(arm, RunStatus.STOPPED, 0.0, None, 0.0, 1.0)
        if cost is None
        else Run(arm, RunStatus.FINISHED, 0.0, float(cost), float(cost), float(cost))
        for arm, cost in zip(picked.arms, ordered, strict=True)
    )
    best = min(known) if known else None
    winner = next((run.arm for run in runs if best is not None and run.cost == best), None)
    return Result(picked.round, picked.problem, runs, winner, best, answer, 0.0)


def _in_order(picked: Picked, costs: Costs) -> list[float | None]:
    if isinstance(costs, Mapping):
        if set(costs) != set(picked.arms):
            raise PickbestError(
                f"round {picked.round} needs the costs of {', '.join(picked.arms)}, got those of "
                f"{', '.join(map(str, costs)) or 'no arm'}"
            )
        return [costs[arm] for arm in picked.arms]
    if len(costs) != len(picked.arms):
        raise PickbestError(
            f"round {picked.round} has {len(picked.arms)} arms, got {len(costs)} costs"
        )
    return list(costs)
