"""A session from the words of a call: its solvers, what is known of such sessions, and its end."""

import os
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.solve.known import (
    SMTLIB,
    VERSIONS,
    Solver,
    places,
    solver_table,
    takes,
    talking,
)
from pickbest.portfolio.solve.session import Record, Session, Settings
from pickbest.portfolio.solve.stock import Stock
from pickbest.portfolio.solve.words import DAY, Arguments
from pickbest.portfolio.solve.worker import Worker

SESSIONS = "sessions.json"
# Kinds of sessions that are remembered; the oldest are forgotten.
MOST_KINDS = 500
# As solvers call themselves.
CALLED = {"z3": "Z3", "yices-smt2": "Yices", "boolector": "Boolector", "bitwuzla": "Bitwuzla"}


def talk(call: Arguments, folder: Path | None) -> int:
    """Run a session on standard input and output; its exit code."""
    stock = Stock(folder)
    client = _client(call)
    kinds = stock.read(SESSIONS)
    known = kinds if isinstance(kinds, dict) else {}
    version = re.search(r"\d+(\.\d+)+", VERSIONS.get(call.called, ""))
    settings = Settings(
        call.budget,
        call.check_seconds,
        0.0 if call.deadline >= DAY else call.deadline,
        CALLED.get(call.called, call.called or "pickbest"),
        version[0] if version else "1.0",
        call.called in ("cvc5", "cvc4", "bitwuzla"),
    )
    with_watcher = Watcher()
    session = Session(
        workers_for(call, with_watcher.tell),
        settings,
        lambda logic: Record(known.get(f"{client} {logic}")),
    )
    code = session.run()
    if session.record is not None and not call.frozen and folder is not None:
        newest = stock.read(SESSIONS)
        others = newest if isinstance(newest, dict) else {}
        others.pop(f"{client} {session.logic}", None)
        kept = dict(list(others.items())[-MOST_KINDS:])
        stock.write_json(SESSIONS, kept | {f"{client} {session.logic}": session.record.told()})
    return code


def workers_for(call: Arguments, watch: Callable[[int], None]) -> list[Worker]:
    """The solvers that are here and talk, by name."""
    path = places()
    lines: dict[str, list[tuple[Solver, tuple[str, ...]]]] = defaultdict(list)
    table = [solver for solver in solver_table(call.tables) if solver.format == SMTLIB]
    for name in call.solvers:
        if name not in {solver.name for solver in table}:
            raise unknown_name("solver", name, dict.fromkeys(each.name for each in table))
    for solver in table:
        wanted = not call.solvers or solver.name in call.solvers
        if wanted and (argv := talking(solver, path)) is not None:
            more = call.passed if solver.name == call.called else ()
            lines[solver.name].append((solver, (argv[0], *more, *argv[1:])))
    if not lines:
        raise PickbestError("no solver for a session is installed; install one of z3, cvc5, yices")

    def command(name: str) -> Callable[[str], Sequence[str] | None]:
        @cache
        def for_logic(logic: str) -> Sequence[str] | None:
            return next((argv for each, argv in lines[name] if takes(each, logic)), None)

        return for_logic

    order = [name for name in dict.fromkeys(call.solvers) if name in lines] or list(lines)
    return [Worker(name, command(name), call.memory, watch) for name in order]


def _client(call: Arguments) -> str:
    """Who talks to us: sessions of one program are alike."""
    with suppress(OSError):
        return Path(f"/proc/{os.getppid()}/comm").read_text().strip()
    return call.called


class Watcher:
    """A process that ends our solvers, and what they started, when we are killed.

    The kernel ends the solvers themselves (PR_SET_PDEATHSIG); this is for what they started.
    """

    def __init__(self) -> None:
        read, self._write = os.pipe()
        if os.fork() == 0:
            self._serve(read)
        os.close(read)

    def tell(self, pid: int) -> None:
        """A process group that started, or (negative) one that has ended."""
        with suppress(OSError):
            os.write(self._write, b"%d\n" % pid)

    def _serve(self, read: int) -> None:
        try:
            os.setsid()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            source = os.dup2(read, 3) if read != 3 else read
            for low in (0, 1, 2):
                os.close(low)
            os.closerange(4, 1024)
            said = b""
            while data := os.read(source, 4096):
                said += data
            groups: set[int] = set()
            for word in said.split():
                groups.add(int(word)) if int(word) > 0 else groups.discard(-int(word))
            for group in groups:
                with suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
        finally:
            os._exit(0)
