"""`pickbest solve --daemon`: calls of one user, over a Unix socket, with everything loaded.

A client sends the words of a call, its folder and its three standard streams, and gets one byte,
the exit code. The daemon reads and writes the streams itself. Only the user who runs the daemon
is served: the socket is theirs alone, and the kernel says who is calling.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from pickbest.core import PickbestError
from pickbest.core.tickets import Ticket
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.handling import Answers, Evaluator
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.run.race import GivenUpError
from pickbest.portfolio.solve import learning
from pickbest.portfolio.solve.arguments import HelpShown, parse
from pickbest.portfolio.solve.call import UNTICKETED
from pickbest.portfolio.solve.client import BUSY, LONGEST, socket_path
from pickbest.portfolio.solve.problem import Problem
from pickbest.portfolio.solve.serving import BAD_INPUT, Session, Streams
from pickbest.portfolio.solve.stock import data_folder
from pickbest.portfolio.store.records import Finished

# Calls at a time; one more is told to do without the daemon.
MOST_CALLS = 64
# Threads that wait for calls, when none is under way.
MOST_WAITING = 4
# Seconds in which a client must have said what it wants.
PATIENCE = 5.0
_CREDENTIALS = struct.Struct("iII")
# The client in C is compiled beside the socket for as long as the daemon serves. `pickbest-solve`
# (client.py) looks for it under the socket's name with this at the end.
CLIENT_SOURCE, CLIENT_SUFFIX = Path(__file__).with_name("client.c"), ".client"
COMPILE_SECONDS = 30.0


class Books:
    """The journals of all keys, held open; results are written after the caller was answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._books: dict[str, tuple[tuple[str, ...], AskTell]] = {}
        self._lock = threading.Lock()
        self._told: queue.SimpleQueue[tuple[AskTell, Finished] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="pickbest journal")
        self._writer.start()

    def take(self, problem: Problem, arms: Sequence[str], budget: int) -> Ticket[str]:
        if budget >= len(arms):
            return Ticket(UNTICKETED, tuple(arms), watched=False)
        return self._book(problem, tuple(arms), budget).open_round(problem.name)

    def tell(self, problem: Problem, record: Finished) -> None:
        if record.round != UNTICKETED:
            _, book = self._books[problem.key(len(record.runs))]
            self._told.put((book, record))

    def close(self) -> None:
        self._told.put(None)
        self._writer.join()
        for _, book in self._books.values():
            book.close()

    def _book(self, problem: Problem, arms: tuple[str, ...], budget: int) -> AskTell:
        key = problem.key(budget)
        with self._lock:
            known = self._books.get(key)
            if known is not None and known[0] == arms:
                return known[1]
            book = learning.book_for(self.folder, key, list(arms), budget)
            self._books[key] = arms, book
            return book

    def _write(self) -> None:
        while (told := self._told.get()) is not None:
            book, record = told
            with contextlib.suppress(PickbestError):  # the journal is away: the round is lost
                book.ledger.finish(record)


class Single:
    """Arms that were named one by one: run as they are, never learned."""

    def take(self, problem: Problem, arms: Sequence[str], budget: int) -> Ticket[str]:
        return Ticket(UNTICKETED, tuple(arms[:budget]), watched=False)

    def tell(self, problem: Problem, record: Finished) -> None:
        pass


def run_daemon(streams: Streams) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    folder = data_folder()
    learning.learn(folder)  # what calls without a daemon left, and all kernels compiled
    path = os.fsdecode(socket_path())
    with _listening(path) as listener, compiled_beside(path):
        books, engine = Books(folder), LocalEngine()
        answers = Answers(evaluate=Evaluator(engine))
        crew = Crew(listener, lambda caller: _answered(caller, books, engine, answers))
        try:
            # From here on it may be ended: whoever waits for this line may do so at once.
            streams.say(f"serving on {path}")
            crew.join()
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
        finally:
            engine.close()
            books.close()
            answers.outputs.close()
    return 0


class Crew:
    """Threads that wait for calls: one that takes a call leaves at least one that waits.

    To start a thread for every call would make each of them wait for that.
    """

    def __init__(self, listener: socket.socket, work: Callable[[Caller], int]) -> None:
        self._listener = listener
        self._work = work
        self._lock = threading.Lock()
        self._waiting = self._busy = 0

    def join(self) -> None:
        """One thread more."""
        self._waiting += 1
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with self._lock:
                self._waiting -= 1
                self._busy += 1
                full = self._busy > MOST_CALLS
                if not self._waiting:
                    self.join()
            with connection:
                caller = Caller(connection)
                caller.reply(BUSY if full else self._work(caller))
            with self._lock:
                self._busy -= 1
                if self._waiting >= MOST_WAITING:
                    return
                self._waiting += 1


@contextlib.contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    """A socket that only this user can reach; a dead one in its place is replaced."""
    with socket.socket(socket.AF_UNIX) as listener:
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(path)
            raise PickbestError(f"a daemon serves on {path} already")
        before = os.umask(0o177)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            listener.bind(path)
        except OSError as error:
            raise PickbestError(
                f"{path}: cannot be listened on ({error.strerror or error})"
            ) from error
        finally:
            os.umask(before)
        listener.listen(MOST_CALLS)
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)


class Caller:
    """A client: it is told the exit code once, and says nothing after its call."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.replied = False

    @property
    def ours(self) -> bool:
        """Whether it is a process of the user who runs the daemon."""
        option = socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        return bool(_CREDENTIALS.unpack(self.connection.getsockopt(*option))[1] == os.getuid())

    def reply(self, code: int) -> None:
        if not self.replied:
            self.replied = True
            with contextlib.suppress(OSError):
                self.connection.sendall(bytes([code]))

    def gone(self) -> bool:
        """Whether it went away without an answer: whatever comes from it is the end."""
        return not self.replied and bool(select.select([self.connection], [], [], 0.0)[0])


def _answered(caller: Caller, books: Books, engine: LocalEngine, answers: Answers) -> int:
    """Do what a client asks for; its exit code."""
    if not caller.ours:
        return BUSY
    with contextlib.ExitStack() as stack:
        try:
            words, streams = _received(caller.connection, stack)
        except (OSError, ValueError):
            return BUSY
        try:
            arguments = parse(words)
            source = Single() if arguments.options.solvers else books
            session = Session(source, engine, answers, books.folder)
            return session.serve(arguments, streams, caller.reply, caller.gone)
        except HelpShown as shown:
            streams.write([str(shown).encode()])
            return 0
        except GivenUpError:
            return 128 + signal.SIGINT
        except PickbestError as error:
            streams.say(f"error: {error}")
            return BAD_INPUT
        except OSError:  # nobody reads what we write
            return 128 + signal.SIGPIPE


def _received(connection: socket.socket, stack: contextlib.ExitStack) -> tuple[list[str], Streams]:
    connection.settimeout(PATIENCE)
    length, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    files: list[BinaryIO] = [
        stack.enter_context(cast(BinaryIO, os.fdopen(descriptor, mode)))
        for descriptor, mode in zip(descriptors, ("rb", "wb", "wb"), strict=False)
    ]
    size = int.from_bytes(length, "big")
    if len(files) != 3 or len(length) != 4 or size > LONGEST:
        raise ValueError("not a call")
    text = bytearray()
    while len(text) < size:
        part = connection.recv(size - len(text))
        if not part:
            raise ValueError("half a call")
        text += part
    connection.settimeout(None)
    folder, *words = [os.fsdecode(word) for word in bytes(text).split(b"\0")]
    return words, Streams(files[0], files[1], files[2], folder)


@contextlib.contextmanager
def compiled_beside(socket: str) -> Iterator[bool]:
    """Whether there is a client in C now; without a compiler it is Python, and slower."""
    path = f"{socket}{CLIENT_SUFFIX}"
    draft = f"{path}.{os.getpid()}"
    try:
        yield _compiled(draft, path)
    finally:
        for left in (draft, path):
            with contextlib.suppress(OSError):
                os.unlink(left)


def _compiled(draft: str, path: str) -> bool:
    compiler, null = shutil.which("cc"), subprocess.DEVNULL
    if compiler is None:
        return False
    quietly = partial(subprocess.run, timeout=COMPILE_SECONDS, stdin=null, stdout=null, stderr=null)
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        quietly([compiler, "-O1", "-o", draft, CLIENT_SOURCE], check=True)
        os.chmod(draft, 0o700)
        # Called with nothing it ends with 2: where it cannot run (noexec), it must not be found.
        if quietly([draft], check=False).returncode == 2:
            os.replace(draft, path)
            return True
    return False
