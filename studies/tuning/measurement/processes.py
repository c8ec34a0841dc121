"""Units of a measurement, played in processes of this machine that report as they go."""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from pickbest.core import PickbestError
from pickbest.core.codec import encode
from studies.tuning.measurement.units import Message, Request

# The same bits on every x86-64 machine: one thread, and no instructions that some lack.
PINNED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "PYTHONHASHSEED": "0",
}

Event = tuple[str, Message]
"""The name of a unit, and a message about it."""


class Processes:
    """Warm worker processes with a pinned environment; each plays one unit at a time."""

    def __init__(self, workers: int, optimizers: Sequence[str]) -> None:
        self._optimizers = list(optimizers)
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        try:
            for _ in range(workers):
                self._start()
        except BaseException:
            self.close()
            raise

    @property
    def free(self) -> int:
        """How many units more can be played at once."""
        return sum(worker.unit is None for worker in self._workers)

    def submit(self, request: Request) -> None:
        """Begin to play a unit; only where a process is free."""
        next(worker for worker in self._workers if worker.unit is None).give(request)

    def wait(self, seconds: float) -> Iterator[Event]:
        """Messages that have come, after waiting at most that long for the first.

        Besides those of the unit itself: `finished` at its end, or `died` with the reason.
        """
        for key, _ in self._selector.select(seconds):
            worker: _Worker = key.data
            unit = worker.unit
            messages = worker.receive()
            if messages is None:
                self._replace(worker)
                messages = [{"died": "process died"}] if unit is not None else []
            for message in messages:
                if "error" in message:
                    raise PickbestError(message["error"])
                if unit is not None and "ready" not in message:
                    yield unit, message

    def close(self) -> None:
        """End all workers, and what they play."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        self._selector.close()

    def _start(self) -> None:
        worker = _Worker(self._optimizers)
        self._workers.append(worker)
        self._selector.register(worker.stream, selectors.EVENT_READ, worker)

    def _replace(self, worker: "_Worker") -> None:
        self._selector.unregister(worker.stream)
        self._workers.remove(worker)
        worker.stop()
        if not worker.ready:
            raise PickbestError(f"a worker process does not start: {worker.last_words()}")
        self._start()


class _Worker:
    """One worker process and the unit that it plays."""

    def __init__(self, optimizers: Sequence[str]) -> None:
        self.unit: str | None = None
        self.ready = False
        self._rest = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.stream, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "studies.tuning.measurement.worker"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
                env={**os.environ, **PINNED},
                # A group of its own: Ctrl-C is for the measurer, who then ends the group.
                start_new_session=True,
            )
        self._write({"optimizers": list(optimizers)})

    def give(self, request: Request) -> None:
        self.unit = request.unit.name
        self._write(request)

    def receive(self) -> list[Message] | None:
        """Whole messages that have come; None if the process has ended."""
        try:
            chunk = self.stream.recv(1 << 20)
        except ConnectionError:
            chunk = b""
        if not chunk:
            return None
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        messages = [json.loads(line) for line in lines]
        self.ready = self.ready or bool(messages)
        if any("finished" in message or "died" in message for message in messages):
            self.unit = None
        return messages

    def last_words(self) -> str:
        """The end of what it wrote to its error stream."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.stream.close()

    def _write(self, message: Message | Request) -> None:
        # If it has died, the next `receive` says so.
        with contextlib.suppress(ConnectionError):
            self.stream.sendall(encode(message).encode() + b"\n")
