"""The live table of `pickbest run`: what runs, how far it is, who wins how often."""

import threading
import time
from collections import Counter

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pickbest.core.text import printable
from pickbest.core.tickets import Ticket
from pickbest.portfolio.runs import Result, Run, RunStatus


class LiveTable:
    """A watcher that Rich can draw at any moment."""

    def __init__(self, total: int, deadline: float) -> None:
        self._total = total
        self._deadline = deadline
        self._lock = threading.Lock()
        self._running: dict[tuple[int, str], tuple[str, float]] = {}
        self._picked: Counter[str] = Counter()
        self._won: Counter[str] = Counter()
        self._done = self._solved = 0
        self._disputed: list[str] = []
        self._started = time.monotonic()
        self.finishing = False

    def started(self, ticket: Ticket[str]) -> None:
        with self._lock:
            for arm in ticket.arms:
                self._running[ticket.round, arm] = ticket.problem, time.monotonic()
                self._picked[arm] += 1

    def ended(self, ticket: Ticket[str], run: Run) -> None:
        with self._lock:
            self._running.pop((ticket.round, run.arm), None)

    def finished(self, ticket: Ticket[str], result: Result) -> None:
        with self._lock:
            self._forget(ticket)
            self._done += 1
            self._disputed += result.contradictions
            if result.winner is not None:
                self._solved += 1
                self._won[result.winner] += 1

    def lost(self, ticket: Ticket[str]) -> None:
        with self._lock:
            self._forget(ticket)

    def _forget(self, ticket: Ticket[str]) -> None:
        for arm in ticket.arms:
            self._running.pop((ticket.round, arm), None)

    def __rich__(self) -> RenderableType:
        with self._lock:
            running = Table("round", "arm", "problem", "seconds", title="running", expand=False)
            now = time.monotonic()
            for (number, arm), (problem, since) in sorted(self._running.items()):
                shown = Text(printable(problem), overflow="ellipsis", no_wrap=True)
                seconds = f"{now - since:.1f} / {self._deadline:g}"
                running.add_row(str(number), Text(printable(arm)), shown, seconds)
            wins = Table("arm", "picked", "won", title="arms", expand=False)
            for arm, picked in self._picked.most_common():
                wins.add_row(Text(printable(arm)), str(picked), str(self._won[arm]))
            disputes = [
                Text(f"contradiction: {printable(each)}", style="bold red")
                for each in self._disputed[-3:]
            ]
            return Group(Text(self._line(now)), *disputes, running, wins)

    def _line(self, now: float) -> str:
        line = f"{self._done} of {self._total} problems, {self._solved} solved"
        if self._done and not self.finishing:
            left = (now - self._started) / self._done * (self._total - self._done)
            line += f", about {_clock(left)} left"
        if self.finishing:
            line += "; finishing the current rounds (Ctrl-C again kills them)"
        return line


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def summary_line(result: Result) -> str:
    """One round in one line, for logs and pipes."""
    parts = [f"{run.arm} {_outcome(run)}" for run in result.runs]
    verdict = f"{result.verdict}, " if result.verdict else ""
    won = f"{verdict}won by {result.winner}" if result.winner else "not solved"
    return printable(f"round {result.round}: {result.problem}: {won} ({', '.join(parts)})")


def _outcome(run: Run) -> str:
    if run.status in (RunStatus.CRASHED, RunStatus.BROKEN):
        return f"{run.status.value}: {run.reason}"
    if run.status in (RunStatus.NO_ANSWER, RunStatus.WRONG):
        return run.reason
    if run.cost is None:
        return f"stopped after {run.seconds:.2f} s"
    verdict = f"{run.verdict}, " if run.verdict else ""
    return f"{run.status.value} in {run.seconds:.2f} s, {verdict}cost {run.cost:.3g}"
