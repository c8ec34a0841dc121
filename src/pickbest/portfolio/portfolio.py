"""The live portfolio: run B of N solvers on each problem, keep the best, never lose a result."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from pickbest.core import check_count
from pickbest.portfolio.arms import ArmSpec, Limits, as_arm, as_arms
from pickbest.portfolio.ask_tell import AskTell, Costs
from pickbest.portfolio.censoring import Stopping
from pickbest.portfolio.costs import Cost, as_cost, check_deadline
from pickbest.portfolio.engines import Engine, make_engine
from pickbest.portfolio.journal.ledger import CLOCK_SLACK, Ticket
from pickbest.portfolio.journal.watchers import Silent, Watcher
from pickbest.portfolio.race import GivenUpError, run_race
from pickbest.portfolio.runs import RawRun, Result
from pickbest.portfolio.state.fold import DEFAULT_LEARNER, Knowledge
from pickbest.portfolio.state.overview import RoundView, Status


class Portfolio:
    """Arms, a budget, a deadline, and a journal that outlives every crash.

    arms: name to Python function of the problem, or to a command line as a list of words, in
        which {problem} is replaced.
    budget: how many arms run on each problem. deadline: seconds that each may take.
    storage: sqlite:///FILE, a file name, postgresql://…; the default keeps nothing.
    name: several portfolios may share one database.
    learner, learner_options, rounds, seed: as in `make_learner`; fixed when it is created.
    cost: "solved", "runtime", a Cost such as Quality(best, worst), or a function of RawRun.
    stop, censored, watch: see `censoring`. limits: see Limits. engine: "local" or "ray".

    >>> portfolio = Portfolio({"echo": ["echo", "{problem}"], "true": ["true"]}, 1, deadline=10.0)
    >>> portfolio.solve("a problem").solved
    True
    >>> portfolio.close()
    """

    def __init__(
        self,
        arms: Mapping[str, ArmSpec],
        budget: int,
        deadline: float,
        storage: str | Path = "sqlite://",
        *,
        name: str = "default",
        learner: str = DEFAULT_LEARNER,
        learner_options: Mapping[str, Any] | None = None,
        rounds: int | None = None,
        seed: int = 0,
        cost: str | Cost | Callable[[RawRun], float] = "solved",
        stop: str = "first",
        censored: str = "pessimistic",
        watch: float = 0.25,
        limits: Limits | None = None,
        engine: str | Engine = "local",
        engine_options: Mapping[str, Any] | None = None,
        paused: Sequence[str] | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self.arms = as_arms(arms)
        self.deadline = check_deadline(deadline)
        self.cost = as_cost(cost)
        self.limits = limits or Limits()
        self._watcher: Watcher = watcher or Silent()
        self._killed = threading.Event()
        self.stopping = Stopping.of(stop, censored, watch)
        self._engine = make_engine(engine, engine_options)
        try:
            self.book = AskTell(
                tuple(self.arms),
                budget,
                storage,
                name=name,
                learner=learner,
                learner_options=learner_options,
                rounds=rounds,
                seed=seed,
                stopping=self.stopping,
                paused=paused,
            )
        except BaseException:
            self._engine.close()
            raise

    def solve(self, problem: Any) -> Result:
        """Run the picked arms on a problem, keep the best answer, and learn.

        The pick is in the journal before anything runs, the result before this returns.
        """
        return self._solve(problem, self._killed.is_set)

    def map(self, problems: Iterable[Any], concurrency: int = 1) -> Iterator[Result]:
        """Solve many problems, `concurrency` at a time; results come as they are ready.

        Problems are taken from the iterable only when there is room. Leaving the loop early
        stops what is running.
        """
        check_count("concurrency", concurrency)
        left = threading.Event()

        def given_up() -> bool:
            return left.is_set() or self._killed.is_set()

        pool = ThreadPoolExecutor(concurrency, thread_name_prefix="pickbest")
        ready: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        remaining = iter(problems)
        running = 0
        try:
            while True:
                for problem in itertools.islice(remaining, concurrency - running):
                    pool.submit(self._solve, problem, given_up).add_done_callback(ready.put)
                    running += 1
                if running == 0:
                    return
                finished = _next_ready(ready)
                running -= 1
                yield finished.result()
        finally:
            left.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def ask(self, problem: str = "", lifetime: float | None = None) -> Ticket:
        """Open a round for arms that you run yourself; see AskTell.ask."""
        return self.book.ask(problem, lifetime)

    def tell(self, ticket: Ticket | int, costs: Costs, answer: Any = None) -> None:
        """Close a round that was asked for; see AskTell.tell."""
        self.book.tell(ticket, costs, answer)

    def status(self) -> Status:
        """Rounds, arms, wins and pick probabilities as they are now."""
        return self.book.status()

    def history(self, last: int | None = None) -> list[RoundView]:
        """What happened in each round, oldest first."""
        return self.book.history(last)

    def verify(self) -> Knowledge:
        """Replay the journal from its beginning; says if any pick or the state differs."""
        return self.book.verify()

    def add_arm(self, name: str, arm: ArmSpec) -> None:
        """Add an arm to the running portfolio; it starts fairly (see `carry`)."""
        built = as_arm(name, arm)
        self.book.add_arm(name)
        self.arms = {**self.arms, name: built}

    def remove_arm(self, name: str) -> None:
        """Take an arm out. Its results stay in the journal, and it may come back."""
        self.book.remove_arm(name)

    def pause_arm(self, name: str) -> None:
        """Do not pick an arm for now."""
        self.book.pause_arm(name)

    def resume_arm(self, name: str) -> None:
        """Pick a paused arm again; it stands where it stood."""
        self.book.resume_arm(name)

    def kill(self) -> None:
        """Stop all running rounds now; they are closed as lost. Later rounds are refused."""
        self._killed.set()

    def close(self) -> None:
        """Stop what is running and let go of everything; the journal stays."""
        self._killed.set()
        self._engine.close()
        self.book.close()

    def _solve(self, problem: Any, given_up: Callable[[], bool]) -> Result:
        if given_up():
            raise GivenUpError("the portfolio was stopped; no round was opened")
        lifetime = self.deadline + self.limits.grace + CLOCK_SLACK
        ticket = self.book.open_round(str(problem), lifetime)
        self._watcher.started(ticket)
        try:
            result, record = run_race(
                ticket,
                problem,
                self.arms,
                self._engine,
                self.cost,
                self.deadline,
                self.limits,
                self.stopping,
                given_up,
                lambda run: self._watcher.ended(ticket, run),
            )
        except BaseException as error:
            self.book.lose_round(ticket, _in_short(error))
            self._watcher.lost(ticket)
            raise
        self.book.close_round(record)
        self._watcher.finished(ticket, result)
        return result

    def __enter__(self) -> Portfolio:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _next_ready(ready: queue.SimpleQueue[Future[Result]]) -> Future[Result]:
    """Wait in short steps, so that Ctrl-C is heard on every platform."""
    while True:
        try:
            return ready.get(timeout=0.5)
        except queue.Empty:
            continue


def _in_short(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text[:500]
