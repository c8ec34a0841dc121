"""A guard: runs one arm, and leaves no process of it behind."""

import contextlib
import os
import selectors
import signal
import socket
import time
from functools import partial
from typing import Any, BinaryIO

from pickbest.portfolio.engine import arm, limits, messages, tree
from pickbest.portfolio.processes import PR_SET_CHILD_SUBREAPER, prctl
from pickbest.portfolio.runs import Limits

# How much of the end of an arm's output is kept in memory; how much of standard output goes to a
# file then; how long what a function returns may be, as JSON.
OUTPUT_BYTES, SPOOL_BYTES, ANSWER_BYTES = 1 << 16, 1 << 28, 1 << 24
PRIVATE = partial(os.open, mode=0o600)


def serve(connection: socket.socket, portfolio: int | None) -> None:
    """Run the arm that the portfolio names, and report; portfolio: its pidfd."""
    os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(OSError):
        messages.send(connection, {"error": "", "pid": os.getpid()})
        request = messages.receive(connection)
        messages.send(connection, GuardedRun(request, connection, portfolio).report())


class GuardedRun:
    """One run of one arm, from its start until nothing of it is left."""

    def __init__(
        self, request: dict[str, Any], connection: socket.socket, portfolio: int | None
    ) -> None:
        self.request = request
        self.connection = connection
        self.portfolio = portfolio
        self.limits = Limits(**request["limits"])
        self.reaper = tree.Reaper()
        self.stdout, self.stderr, self.answer = bytearray(), bytearray(), bytearray()
        self.truncated = False
        self.spool = Spool(request["spool"])
        self.reason = ""

    def report(self) -> dict[str, Any]:
        """Run the arm; what became of it."""
        started = time.monotonic()
        try:
            pid, reads = arm.start(self.request)
        except OSError as error:
            where = "it cannot be started" if error.filename is None else error.filename
            return {"status": "broken", "reason": f"{where}: {error.strerror}"}
        pipes = dict(zip(reads, (self.stdout, self.stderr, self.answer), strict=True))
        for read in pipes:
            os.set_blocking(read, False)
        ending = self._wait(pid, pipes, started + self.request["deadline"])
        seconds = time.monotonic() - started
        self._end_all(pid)
        for read, target in pipes.items():
            while self._read(read, target):  # nobody can write any more
                pass
            os.close(read)
        status = self.reaper.statuses.get(pid)
        return {
            "status": ending,
            "seconds": seconds,
            "exit_code": None if status is None else os.waitstatus_to_exitcode(status),
            "reason": self.reason,
            "truncated": self.truncated,
            "spooled": self.spool.close(),
            "cut": self.spool.cut,
            "cpu_seconds": self.reaper.cpu_seconds,
            "peak_bytes": self.reaper.peak_bytes,
            "stdout": self.stdout.decode(errors="replace"),
            "stderr": self.stderr.decode(errors="replace"),
            "answer": "" if self.reason else self.answer.decode(errors="replace"),
        }

    def _wait(self, pid: int, pipes: dict[int, bytearray], deadline: float) -> str:
        """Until the arm ends, or must: how it ended."""
        ended, ending = os.pidfd_open(pid), "finished"
        limited, polled = self.limits.of_the_tree, time.monotonic()
        step = limits.POLL_SECONDS if limited else 3600.0
        with selectors.DefaultSelector() as selector:
            for descriptor in (*pipes, self.connection, self.portfolio, ended):
                if descriptor is not None:
                    selector.register(descriptor, selectors.EVENT_READ)
            while True:
                patience = deadline - time.monotonic()
                if patience <= 0.0 and ending != "finished":
                    break
                if patience <= 0.0:
                    ending, deadline = "timeout", self._ask_to_end(pid)
                    continue
                ready = {key.fd for key, _ in selector.select(min(patience, step))}
                for read in ready & pipes.keys():
                    if self._read(read, pipes[read]) == b"":
                        selector.unregister(read)
                if ended in ready:
                    self.reaper.reap_all()
                if pid in self.reaper.statuses or self.portfolio in ready:
                    break
                if self.connection.fileno() in ready:  # its end: there is nothing else to say
                    selector.unregister(self.connection)
                    ending, deadline = "stopped", self._ask_to_end(pid)
                if limited and time.monotonic() - polled >= limits.POLL_SECONDS:
                    over, polled = self._excess(), time.monotonic()
                    self.reason = self.reason or (over and f"it used {over}")
                if self.reason:
                    break
        os.close(ended)
        return "finished" if self.reason else ending

    def _excess(self) -> str:
        """Which limit the arm exceeds."""
        return limits.polled(self.limits, tree.descendants(os.getpid()), self.reaper.cpu_seconds)

    def _ask_to_end(self, pid: int) -> float:
        """SIGTERM, if the arm has time to react; when that time is over."""
        grace = self.limits.grace
        if grace > 0.0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGTERM)
        return time.monotonic() + grace

    def _end_all(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        self.reaper.end_children()

    def _read(self, read: int, target: bytearray) -> bytes | None:
        """Take what is there: b"" at the end of the pipe, None when nothing is there yet."""
        try:
            chunk = os.read(read, 1 << 16)
        except BlockingIOError:
            return None
        target += chunk
        if target is self.answer:
            if len(target) > ANSWER_BYTES:
                self.reason = f"its answer is larger than {ANSWER_BYTES >> 20} MB"
                return b""
        elif len(target) > OUTPUT_BYTES or (self.spool.begun and target is self.stdout):
            if target is self.stdout:
                self.spool.add(chunk if self.spool.begun else bytes(target))
            del target[: len(target) - OUTPUT_BYTES]
            self.truncated = True
        return chunk


class Spool:
    """A file for what is too long for memory; it is made when there is something to write.

    cut: it is not whole: it was to become longer than SPOOL_BYTES, or the disk is full.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.left = SPOOL_BYTES
        self.begun = self.cut = False
        self._file: BinaryIO | None = None

    def add(self, chunk: bytes) -> None:
        try:
            if not self.begun:
                self.begun, self.cut = True, not self.path
                self._file = open(self.path, "xb", opener=PRIVATE) if self.path else None  # noqa: SIM115
            if self._file is not None and not self.cut:
                self._file.write(chunk[: self.left])
                self.cut = len(chunk) > self.left
                self.left -= len(chunk)
        except OSError:
            self.cut = True

    def close(self) -> bool:
        """Whether there is such a file."""
        if self._file is None:
            return False
        try:
            self._file.close()
        except OSError:
            self.cut = True
        return True
