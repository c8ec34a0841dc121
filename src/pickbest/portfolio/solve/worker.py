"""One solver of a session: a process, and what it has been told so far."""

from __future__ import annotations

import os
import resource
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pickbest.portfolio.run.answers.commands import Splitter
from pickbest.portfolio.solve.known import INSIDE, Installed, for_strings
from pickbest.portfolio.solve.script import ASK, CHECK, QUIET, STATE, SUCCESS, Command, Frame, Stack

# What is longer is written at once, else when an answer is waited for.
LONGEST_PENDING = 1 << 13


class Worker:
    """A solver by name.

    found: how it is started; passed: further words for it. memory: bytes that it may use.
    group: the process group that it belongs to; 0: one of its own.
    refused: commands that it does not take, and what it says of them; as long as one of them is
        asserted, it cannot help.
    """

    def __init__(
        self,
        found: Installed,
        passed: Sequence[str] = (),
        memory: int | None = None,
        group: int = 0,
    ) -> None:
        self.found = found
        self.name, self.solver = found.name, found.solver
        self.dialect = self.name.partition("-")[0]
        self.refused: dict[Command, bytes] = {}
        self.answers: deque[tuple[str, Any]] = deque()
        self.process: int | None = None  # its number
        self.input = self.output = -1
        # (frame, how many of its commands were sent) for each level that it has.
        self._told: list[tuple[Frame, int]] = []
        self._changes = -1
        self.is_doubtful = False
        self._passed = passed
        self._memory = memory
        self._group = group
        self._pending = bytearray()
        self._splitter = Splitter()

    @property
    def is_busy(self) -> bool:
        """Whether it is at a check, or has not yet answered a question."""
        return any(kind in (CHECK, ASK) for kind, _ in self.answers)

    def sync(self, stack: Stack) -> bool:
        """Bring it to the state of the session; False where it cannot be started."""
        if self._told and self._told[0][0] is not stack.frames[0]:  # there was a reset
            self.kill()
        elif self.process is not None and self._changes == stack.changes:
            return True
        known = 0
        while known < min(len(self._told), len(stack.frames)):
            if self._told[known][0] is not stack.frames[known]:
                break
            known += 1
        superfluous = len(self._told) - max(known, 1)
        if self.process is None and not self._start(stack):
            return False
        if superfluous > 0:
            self.send(b"(pop %d)" % superfluous, QUIET)
        del self._told[known:]
        for level, frame in enumerate(stack.frames):
            if level == len(self._told):
                if level > 0:
                    self.send(b"(push 1)", QUIET)
                self._told.append((frame, 0))
            for command in frame[self._told[level][1] :]:
                if not command.dialect or command.dialect == self.dialect:
                    self.send(command.text, command.kind, command)
                elif command.kind == STATE:
                    self.refused[command] = b"unsupported"
            self._told[level] = frame, len(frame)
        self._changes = stack.changes
        return True

    def _start(self, stack: Stack) -> bool:
        program, *words = self.found.argv
        more = () if self.found.is_module else for_strings(self.solver, stack.logic)
        argv = (program, *self._passed, *more, *words)
        self._splitter = Splitter()
        theirs, self.input = os.pipe()
        self.output, said = os.pipe()
        files = (
            (os.POSIX_SPAWN_DUP2, theirs, 0),
            (os.POSIX_SPAWN_DUP2, said, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        )
        try:
            # `subprocess` takes milliseconds to import.
            self.process = os.posix_spawn(
                argv[0], argv, os.environ | {INSIDE: "1"}, file_actions=files,
                setpgroup=self._group, setsigdef=[signal.SIGPIPE],
            )  # fmt: skip
        except (OSError, ValueError):
            os.close(self.input)
            os.close(self.output)
            return False
        finally:
            os.close(theirs)
            os.close(said)
        if self._memory is not None:
            resource.prlimit(self.process, resource.RLIMIT_AS, (self._memory, self._memory))
        for descriptor in (self.input, self.output):
            os.set_blocking(descriptor, False)
        # Every command is answered from now on, and models are there where they are asked for.
        self.send(b"(set-option :print-success true)", QUIET)
        if self.dialect != "z3":
            self.send(b"(set-option :produce-models true)", QUIET)
        return True

    def take_back(self, command: Command) -> None:
        """A command that it refused is as if it had never come."""
        if self.refused.pop(command, None) is not None:
            self.kill()

    def send(self, text: bytes, kind: str, about: Any = None) -> None:
        self.answers.append((kind, about))
        self._pending += text + b"\n"
        if kind == CHECK and b"check-sat-assuming" in text:
            self.is_doubtful = self.solver.forgets
        if len(self._pending) > LONGEST_PENDING:
            self.flush()

    def flush(self) -> bool:
        """Write what can be written now; whether that is all."""
        try:
            while self._pending and self.process is not None:
                del self._pending[: os.write(self.input, self._pending[: 1 << 16])]
        except BlockingIOError:
            pass
        except OSError:  # it has ended: reading says so
            self._pending.clear()
        return not self._pending

    def read(self) -> list[tuple[str, Any, bytes]]:
        """(kind, about, answer) of checks and questions that are answered; b"": it has ended."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            lost = [(kind, about, b"") for kind, about in self.answers if kind == CHECK]
            self.kill()
            return lost
        found = []
        for answer in self._splitter.feed(data):
            if not self.answers:
                break
            kind, about = self.answers.popleft()
            if kind == STATE and answer not in SUCCESS:
                self.refused[about] = answer
            elif kind == STATE:
                about.taken = True
            elif kind in (CHECK, ASK):
                found.append((kind, about, answer))
        return found

    def give_up(self) -> None:
        """End a check that nobody waits for, and whoever may answer the next one wrongly.

        Not even z3 is interrupted: after a SIGINT in a check it answers, but some of what it says
        then is wrong (seen with 5.4.0: sat for what is unsat, in 2 of 15 checks). A process that
        starts anew and is told what is still asserted takes some milliseconds.
        """
        if self.is_busy or self.is_doubtful:
            self.kill()

    def kill(self) -> None:
        """End the process, and whatever it has started."""
        if self.process is None:
            return
        found = [self.process]
        for pid in found:
            with suppress(OSError), open(f"/proc/{pid}/task/{pid}/children") as listing:
                found += map(int, listing.read().split())
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.input)
        os.close(self.output)
        self.process, self._told, self.is_doubtful = None, [], False
        self.answers.clear()
        self._pending.clear()
