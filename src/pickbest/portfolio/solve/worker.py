"""One solver of a session: a process, and what it has been told so far."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from pickbest.portfolio.solve.known import INSIDE
from pickbest.portfolio.solve.script import Splitter

# What an answer is to: nobody cares; a command that changes the state; a check; a question.
QUIET, STATE, CHECK, ASK = "quiet", "state", "check", "ask"
SUCCESS = (b"success", b"unsupported")
# What is longer is written at once, else when an answer is waited for.
LONGEST_PENDING = 1 << 13
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Command:
    """A command that changes the state.

    dialect: for solvers that speak it only; "": for all. is_global: it outlives its level.
    taken: some solver said success to it.
    """

    __slots__ = ("dialect", "is_global", "kind", "taken", "text")

    def __init__(
        self, text: bytes, kind: str = STATE, dialect: str = "", is_global: bool = False
    ) -> None:
        self.text = text
        self.kind = kind
        self.dialect = dialect
        self.is_global = is_global
        self.taken = False


# What was said between a push and its pop; two are the same only if they are one.
class Frame:
    __slots__ = ("commands",)

    def __init__(self, commands: Sequence[Command] = ()) -> None:
        self.commands = list(commands)


class Worker:
    """A solver by name.

    command: from a logic to the command line, None where it does not take the logic.
    memory: bytes that it may use.
    stack: (frame, how many of its commands were sent) for each level that it has.
    refused: commands that it does not take, and what it says of them; as long as one of them is
        asserted, it cannot help.
    watch: is told processes that start, and, as negative numbers, those that ended.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[str], Sequence[str] | None],
        memory: int | None = None,
        watch: Callable[[int], None] = lambda pid: None,
    ) -> None:
        self.name = name
        self.command = command
        self.dialect = name.partition("-")[0]
        self.refused: dict[Command, bytes] = {}
        self.is_doubtful = False
        self.generation = 0
        self.stack: list[tuple[Frame, int]] = []
        self.answers: deque[tuple[str, Any]] = deque()
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self._memory = memory
        self._watch = watch
        self._pending = bytearray()
        self._splitter = Splitter()

    @property
    def is_busy(self) -> bool:
        """Whether it is at a check, or has not yet answered a question."""
        return any(kind in (CHECK, ASK) for kind, _ in self.answers)

    @property
    def goes_on(self) -> bool:
        """Whether it goes on after an error, and after a reset, as if nothing had been."""
        return self.dialect == "z3"

    def is_module(self, logic: str) -> bool:
        """Whether it is a Python module, which takes long to start."""
        return "-m" in (self.command(logic) or ())

    def can_pop(self, logic: str) -> bool:
        """Bitwuzla's module loses count of its levels when commands come one by one."""
        return self.dialect != "bitwuzla" or not self.is_module(logic)

    @property
    def output(self) -> int:
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    @property
    def has_pending(self) -> bool:
        """Whether something could not be written yet."""
        return bool(self._pending)

    @property
    def input(self) -> int:
        assert self.process is not None
        assert self.process.stdin is not None
        return self.process.stdin.fileno()

    def start(self, generation: int, logic: str) -> bool:
        """Start the process; False where it cannot be started."""
        self.stack, self.generation = [], generation
        self.answers.clear()
        self._pending.clear()
        self._splitter = Splitter()
        parent = os.getpid()

        def with_us() -> None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if self._memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (self._memory, self._memory))

        try:
            self.process = subprocess.Popen(
                self.command(logic) or (),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {INSIDE: "1"},
                start_new_session=True,
                preexec_fn=with_us,
            )
        except (OSError, ValueError, subprocess.SubprocessError):
            return False
        self.starts += 1
        self._watch(self.process.pid)
        for descriptor in (self.input, self.output):
            os.set_blocking(descriptor, False)
        self._introduce()
        return True

    def _introduce(self) -> None:
        """Every command is answered from now on, and models are there where they are asked for."""
        self.send(b"(set-option :print-success true)", QUIET)
        if self.dialect != "z3":
            self.send(b"(set-option :produce-models true)", QUIET)

    def sync(self, frames: Sequence[Frame], generation: int, logic: str) -> bool:
        """Bring it to the state of the session; False where it cannot be started."""
        if self.process is not None and self.generation != generation:
            if self.goes_on and not self.is_busy:
                self.send(b"(reset)", QUIET)
                self.stack, self.generation = [], generation
                self._introduce()
            else:
                self.kill()
        if self.process is None and not self.start(generation, logic):
            return False
        known = 0
        while known < min(len(self.stack), len(frames)) and self.stack[known][0] is frames[known]:
            known += 1
        if len(self.stack) > max(known, 1) and not self.can_pop(logic):
            self.kill()
            known = 0
            if not self.start(generation, logic):
                return False
        elif len(self.stack) > max(known, 1):
            self.send(b"(pop %d)" % (len(self.stack) - max(known, 1)), QUIET)
        del self.stack[known:]
        for level, frame in enumerate(frames):
            sent = 0
            if level < known:
                sent = self.stack[level][1]
            elif level > 0:
                self.send(b"(push 1)", QUIET)
            for command in frame.commands[sent:]:
                if not command.dialect or command.dialect == self.dialect:
                    self.send(command.text, command.kind, command)
                elif command.kind == STATE:
                    self.refused[command] = b"unsupported"
            entry = frame, len(frame.commands)
            if level < known:
                self.stack[level] = entry
            else:
                self.stack.append(entry)
        return True

    def forget(self, frame: Frame) -> None:
        """A command of a frame that it refused is taken back: it changed nothing here."""
        self.stack = [(each, count - (each is frame)) for each, count in self.stack]

    def send(self, text: bytes, kind: str, about: Any = None) -> None:
        self.answers.append((kind, about))
        self._pending += text + b"\n"
        if len(self._pending) > LONGEST_PENDING:
            self.flush()

    def flush(self) -> None:
        """Write what can be written now."""
        try:
            while self._pending and self.process is not None:
                del self._pending[: os.write(self.input, self._pending[: 1 << 16])]
        except BlockingIOError:
            pass
        except OSError:  # it has ended: reading says so
            self._pending.clear()

    def read(self) -> list[tuple[str, Any, bytes]] | None:
        """(kind, about, answer) of what has come; None: it has ended."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            return None
        found = []
        for answer in self._splitter.feed(data):
            if self.answers:
                kind, about = self.answers.popleft()
                found.append((kind, about, answer))
        return found

    def give_up(self) -> None:
        """End a check that nobody waits for.

        Not even z3 is interrupted: after a SIGINT in a check it answers, but some of what it says
        then is wrong (seen with 5.4.0: sat for what is unsat, in 2 of 15 checks). A process that
        starts anew and is told what is still asserted takes some milliseconds.
        """
        if self.is_busy:
            self.kill()

    def kill(self) -> None:
        """End the process, and whatever it has started."""
        if self.process is None:
            return
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._watch(-self.process.pid)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process, self.stack, self.is_doubtful = None, [], False
        self.answers.clear()
