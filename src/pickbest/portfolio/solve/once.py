"""A call without a daemon: tickets from the stock, guards of its own, learning afterwards."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.guards import ForkedGuards
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.handling import Answers, Evaluator
from pickbest.portfolio.solve.arguments import Arguments
from pickbest.portfolio.solve.call import UNTICKETED
from pickbest.portfolio.solve.problem import Problem
from pickbest.portfolio.solve.serving import Session, Streams
from pickbest.portfolio.solve.stock import TICKETS, TOLD, Stock, alone, data_folder
from pickbest.portfolio.store.records import Finished

# Learning starts when so many results wait, or so few tickets are left.
ENOUGH_TOLD, FEW_TICKETS = 4, 8


class StockSource:
    """Tickets that were asked for ahead; without one, whoever was picked last."""

    def __init__(self, folder: Path, learns: bool) -> None:
        self.folder = folder
        self.learns = learns
        self.due = False
        self._budget = 0

    def take(self, problem: Problem, arms: Sequence[str], budget: int) -> Ticket[str]:
        self._budget = budget
        stock = self._stock(problem)
        # Between as many solvers as there are, there is nothing to learn.
        ticket = stock.take(arms, budget) if self.learns and budget < len(arms) else None
        self.due = self.due or (self.learns and ticket is None and budget < len(arms))
        if ticket is not None:
            return ticket
        return Ticket(UNTICKETED, stock.latest(arms, budget), watched=False)

    def tell(self, problem: Problem, record: Finished) -> None:
        if record.round == UNTICKETED:
            return
        stock = self._stock(problem)
        stock.tell(record)
        few = len(stock.names(TICKETS)) <= FEW_TICKETS
        self.due = self.due or few or len(stock.names(TOLD)) >= ENOUGH_TOLD

    def _stock(self, problem: Problem) -> Stock:
        return Stock(self.folder, problem.key(self._budget))


def call(arguments: Arguments, streams: Streams) -> int:
    """Solve, print, and leave what is to be learned to a process in the background."""
    folder = data_folder()
    source = StockSource(folder, learns=not arguments.options.solvers)
    engine = LocalEngine(guards=ForkedGuards())
    answers = Answers(evaluate=Evaluator(engine))
    try:
        return Session(source, engine, answers, folder).serve(arguments, streams)
    finally:
        engine.close()
        answers.outputs.close()
        if source.due:
            learn_in_background(folder)


def learn_in_background(folder: Path) -> None:
    """Start the process that learns, unless another one is at it."""
    with alone(folder) as first:
        if not first:
            return
    subprocess.Popen(
        [sys.executable, "-P", "-m", "pickbest.portfolio.solve.learning", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    ).returncode = 0  # nobody waits for it
