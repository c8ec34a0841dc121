"""The live portfolio: run B of N solvers on each problem, keep the best, never lose a result."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pickbest.core import check_count, check_positive
from pickbest.core.features import Features
from pickbest.core.tickets import ClosedRoundError
from pickbest.portfolio.engine.engines import make_engine
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.handling import Answers, Evaluator, Outputs, as_format
from pickbest.portfolio.run.arms import ArmSpec, as_arm, as_arms, check_problem
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.run.costs import as_cost
from pickbest.portfolio.run.features import as_feature_function
from pickbest.portfolio.run.race import GivenUpError, Race, finished, times_of
from pickbest.portfolio.run.settings import RaceSettings
from pickbest.portfolio.runs import GivenUp, Limits, Result

# Other machines give a round up this long after its deadline.
HOUR = 3600.0
# Seconds that arms have at least, however long features took.
SHORTEST = 0.01


class Portfolio(AskTell):
    """Arms, a budget, a deadline, and a journal that outlives every crash.

    `solve` and `map` run the arms. If you run them elsewhere, ask and tell, as with AskTell.

    arms: name to Python function of the problem, or to a command line as a list of words, in
        which {problem} is replaced.
    budget: how many arms run on each problem. deadline: seconds that each may take.
    storage: sqlite:///FILE, a file name, postgresql://…; the default keeps nothing.
    settings: see RaceSettings (learner, cost, stop, limits, engine, …); its fields are also
        taken one by one, as keyword arguments.

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
        settings: RaceSettings | None = None,
        **options: Any,
    ) -> None:
        from pickbest.portfolio.store.databases import as_url, file_of

        settings = (settings or RaceSettings()).but(options)
        deadline = check_positive("deadline", deadline)
        built, cost = as_arms(arms), as_cost(settings.cost)
        answer = None if settings.answer is None else as_format(settings.answer)
        self._features = as_feature_function(settings.features, deadline)
        self._killed = threading.Event()
        engine = make_engine(settings.engine, settings.engine_options)
        local = engine if isinstance(engine, LocalEngine) else LocalEngine()
        self._engines = (engine, local)
        self._own_seconds = deadline + HOUR
        try:
            super().__init__(tuple(built), budget, storage, settings=settings)
            outputs = Outputs(file_of(as_url(storage)))
        except BaseException:
            self._let_go()
            raise
        self.race = Race(
            built,
            engine,
            cost,
            deadline,
            settings.limits or Limits(),
            settings.pass_env,
            Answers(answer, settings.check, Evaluator(local), outputs),
        )

    def solve(self, problem: Any, features: Features | None = None) -> Result:
        """Run the picked arms on a problem, keep the best answer, and learn.

        The pick is in the journal before anything runs, the result before this returns.
        features: what is known of the problem (see `Player.ask`); None: what the portfolio's
            feature function finds, if it has one. Its time is taken from the arms' deadline.
        """
        return self._solve(problem, self._killed.is_set, features)

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
        running: set[Future[Result]] = set()

        def ready() -> Iterator[Result]:
            nonlocal running
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in done)

        try:
            for problem in problems:
                running.add(pool.submit(self._solve, problem, given_up))
                if len(running) == concurrency:
                    yield from ready()
            while running:
                yield from ready()
        finally:
            left.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def add_arm(self, name: str, arm: ArmSpec = ()) -> None:
        """Add an arm to the running portfolio; it starts fairly (see `learner_states`)."""
        built = as_arm(name, arm)
        super().add_arm(name)
        self.race = replace(self.race, arms={**self.race.arms, name: built})

    def kill(self) -> None:
        """Stop all running rounds now; they are closed as lost. Later rounds are refused."""
        self._killed.set()

    def close(self) -> None:
        """Stop what is running and let go of everything; the journal stays."""
        self._killed.set()
        self._let_go()
        self.race.answers.outputs.close()
        super().close()

    def _let_go(self) -> None:
        for engine in self._engines:
            engine.close()

    def _solve(self, problem: Any, given_up: GivenUp, features: Features | None = None) -> Result:
        if given_up():
            raise GivenUpError("the portfolio was stopped; no round was opened")
        check_problem(problem)
        spent = 0.0
        if features is None and self._features is not None:
            features, spent = self._features(problem)
        ticket = self.ask(str(problem), features=features)
        try:
            left = max(self.race.deadline - spent, SHORTEST)
            race = replace(self.race, deadline=left)
            result = race.run(ticket, problem, given_up)
            record = finished(result, times_of(result.runs, race.deadline, ticket.until))
        except BaseException as error:
            self.ledger.lose([ticket.round], (str(error) or type(error).__name__)[:500])
            raise
        finally:
            self._mine.discard(ticket.round)
        result = replace(result, seconds=result.seconds + spent)
        with suppress(ClosedRoundError):  # another machine gave the round up: nothing is learned
            self.ledger.tell([record])
        return result

    def __repr__(self) -> str:
        state = self.ledger.state
        budget = state.roster.budget if state.roster else 0
        return (
            f"Portfolio({len(self.race.arms)} arms, {budget} per round, "
            f"deadline {self.race.deadline:g} s, "
            f"{state.finished} rounds finished)"
        )
