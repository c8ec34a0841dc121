"""A guard: runs one arm, and leaves no process of it behind."""

import contextlib
import os
import selectors
import signal
import socket
import time
from typing import Any

from pickbest.portfolio.engine import arm, messages, tree
from pickbest.portfolio.processes import PR_SET_CHILD_SUBREAPER, prctl
from pickbest.portfolio.runs import Limits

# How much of the end of an output is in a report; how long standard output, and what a function
# returns (as JSON), may be at most.
KEPT_BYTES, OUTPUT_BYTES, ANSWER_BYTES = 1 << 16, 1 << 28, 1 << 24
# How often the limits of an arm are looked after.
POLL_SECONDS = 0.05


def serve(connection: socket.socket, portfolio: int | None) -> None:
    """Run the arm that the portfolio names, and report; portfolio: its pidfd."""
    os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(OSError):
        messages.send(connection, {"error": "", "pid": os.getpid()})
        request = messages.receive(connection)
        messages.send(connection, GuardedRun(request, connection, portfolio).report())


class Pipe:
    """What an arm writes into one pipe. most: bytes that this may be; None: the end is kept."""

    def __init__(self, descriptor: int, name: str, most: int | None = None) -> None:
        self.descriptor = descriptor
        self.name = name
        self.most = most
        self.content = bytearray()
        os.set_blocking(descriptor, False)

    def read(self) -> bytes | None:
        """Take what is there: b"" at the end of the pipe, None when nothing is there yet."""
        try:
            chunk = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return None
        self.content += chunk
        if self.most is None:
            del self.content[:-KEPT_BYTES]
        return chunk

    @property
    def excess(self) -> str:
        """Why this is too much; "" if it is not."""
        if self.most is None or len(self.content) <= self.most:
            return ""
        return f"its {self.name} is larger than {self.most >> 20} MB"

    def end(self) -> str:
        """The end of what came, as text."""
        return self.content[-KEPT_BYTES:].decode(errors="replace")


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
        self.reason = ""

    def report(self) -> dict[str, Any]:
        """Run the arm; what became of it."""
        started = time.monotonic()
        try:
            pid, (out, err, result) = arm.start(self.request)
        except OSError as error:
            where = "it cannot be started" if error.filename is None else error.filename
            return {"status": "broken", "reason": f"{where}: {error.strerror}"}
        stdout = Pipe(out, "output", OUTPUT_BYTES)
        stderr, answer = Pipe(err, "errors"), Pipe(result, "answer", ANSWER_BYTES)
        pipes = (stdout, stderr, answer)
        ending = self._wait(pid, pipes, started + self.request["deadline"])
        seconds = time.monotonic() - started
        self._end_all(pid)
        for pipe in pipes:
            while pipe.read():  # nobody can write any more
                pass
            self.reason = self.reason or pipe.excess
        status = self.reaper.statuses.get(pid)
        return {
            "status": "finished" if self.reason else ending,
            "seconds": seconds,
            "exit_code": None if status is None else os.waitstatus_to_exitcode(status),
            "reason": self.reason,
            "truncated": len(stdout.content) > KEPT_BYTES,
            "spooled": self._spool(stdout.content),
            "cpu_seconds": self.reaper.cpu_seconds,
            "stdout": stdout.end(),
            "stderr": stderr.end(),
            "answer": "" if self.reason else answer.content.decode(errors="replace"),
        }

    def _wait(self, pid: int, pipes: tuple[Pipe, ...], deadline: float) -> str:
        """Until the arm ends, or must: how it ended."""
        ended, ending = os.pidfd_open(pid), "finished"
        limited, polled = self.limits.of_the_tree, time.monotonic()
        step = POLL_SECONDS if limited else 3600.0
        by_descriptor = {pipe.descriptor: pipe for pipe in pipes}
        with selectors.DefaultSelector() as selector:
            for descriptor in (*by_descriptor, self.connection, self.portfolio, ended):
                if descriptor is not None:
                    selector.register(descriptor, selectors.EVENT_READ)
            while not self.reason:
                patience = deadline - time.monotonic()
                if patience <= 0.0 and ending != "finished":
                    break
                if patience <= 0.0:
                    ending, deadline = "timeout", self._ask_to_end(pid)
                    continue
                ready = {key.fd for key, _ in selector.select(min(patience, step))}
                for descriptor in ready & by_descriptor.keys():
                    pipe = by_descriptor[descriptor]
                    if pipe.read() == b"":
                        selector.unregister(descriptor)
                    self.reason = self.reason or pipe.excess
                if ended in ready:
                    self.reaper.reap_all()
                if pid in self.reaper.statuses or self.portfolio in ready:
                    break
                if self.connection.fileno() in ready:  # its end: there is nothing else to say
                    selector.unregister(self.connection)
                    ending, deadline = "stopped", self._ask_to_end(pid)
                if limited and time.monotonic() - polled >= POLL_SECONDS:
                    self.reason, polled = self.reason or self._excess(), time.monotonic()
        os.close(ended)
        return ending

    def _excess(self) -> str:
        """Which limit the arm exceeds; "" if none."""
        below = tree.descendants(os.getpid())
        over = tree.excess(self.limits, below, self.reaper.cpu_seconds)
        return over and f"it used {over}"

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

    def _spool(self, output: bytearray) -> bool:
        """Put an output that is too long for the report into its file, if it has one."""
        path = self.request["spool"]
        if len(output) <= KEPT_BYTES or not path:
            return False
        try:
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(output)
        except OSError:  # no room: the end of the output is all there is
            return False
        return True
