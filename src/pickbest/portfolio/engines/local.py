"""Arms as processes on this machine; `keeper` says how they are started and ended."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing import spawn
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.engines import keeper
from pickbest.portfolio.runs import Run, RunStatus, Task

# How often a race asks whether it was given up.
PATIENCE = 0.2
RUN, PREPARE = b"R", b"P"
PROGRAM = "this program"


class LocalEngine:
    """Starts one keeper process, on first use, and races arms through it.

    imports_program: whether Python arms may be functions of the program that runs (__main__).
    """

    def __init__(self, imports_program: bool = True) -> None:
        self._imports_program = imports_program
        self._lock = threading.Lock()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._prepared: set[str] = set()

    def race(
        self,
        tasks: Sequence[Task],
        ends_race: Callable[[Run], bool],
        given_up: Callable[[], bool],
    ) -> list[Run]:
        runs: dict[int, Run] = {}
        with selectors.DefaultSelector() as selector, contextlib.ExitStack() as sockets:
            for place, task in enumerate(tasks):
                connection = sockets.enter_context(self._start(task))
                selector.register(connection, selectors.EVENT_READ, place)
            try:
                while len(runs) < len(tasks):
                    for key, _ in selector.select(PATIENCE):
                        selector.unregister(key.fileobj)
                        run = _received(tasks[key.data], key.fileobj)  # type: ignore[arg-type]
                        runs[key.data] = run
                        if ends_race(run):
                            _stop_all(selector)
                    if len(runs) < len(tasks) and given_up():
                        _stop_all(selector)
            except BaseException:
                # Ctrl-C and the like: guards answer once everything below them is gone.
                _stop_all(selector)
                for key in list(selector.get_map().values()):
                    _received(tasks[key.data], key.fileobj)  # type: ignore[arg-type]
                raise
        return [runs[place] for place in range(len(tasks))]

    def close(self) -> None:
        with self._lock:
            self._shut_down()

    def _start(self, task: Task) -> socket.socket:
        """Hand a task to a new guard; the socket on which it answers."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                if task.call is not None:
                    self._prepare(task.preload)
                self._send(RUN, theirs)
            request = asdict(task)
            call = request.pop("call") or b""
            del request["preload"]
            request["cwd"] = request["cwd"] or os.getcwd()
            # A guard that died already will be noticed when its answer is read.
            with contextlib.suppress(OSError):
                keeper.answer(ours, request, call)
        except BaseException:
            ours.close()
            raise
        return ours

    def _send(self, message: bytes, descriptor: socket.socket) -> None:
        """To the keeper, which is started where there is none (any more)."""
        for _ in range(2):
            if self._control is None:
                self._launch()
            try:
                socket.send_fds(self._live_control(), [message], [descriptor.fileno()])
                return
            except OSError:
                self._shut_down()
        raise PickbestError("the process that starts arms cannot be started")

    def _live_control(self) -> socket.socket:
        if self._control is None:
            raise OSError("no keeper")
        return self._control

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._keeper = subprocess.Popen(
                # -P: the folder of the script must not shadow standard modules.
                [sys.executable, "-P", keeper.__file__, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control, self._prepared = ours, set()

    def _prepare(self, modules: Sequence[str]) -> None:
        """Let the keeper import this program and modules, so that runs need not do it again."""
        wanted = {PROGRAM, *modules} - (self._prepared if self._control is not None else set())
        if not wanted:
            return
        program = _preparation(self._imports_program) if PROGRAM in wanted else None
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._send(PREPARE, theirs)
            keeper.answer(ours, {"modules": sorted(wanted - {PROGRAM})}, pickle.dumps(program))
            reply, _ = keeper.receive(ours)
        if reply["error"]:
            raise PickbestError(
                "Python arms run in another process, which imports this program first "
                f"(put what it starts under if __name__ == '__main__'), and failed: "
                f"{reply['error']}"
            )
        self._prepared |= wanted

    def _shut_down(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._keeper is not None:
            try:
                self._keeper.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                self._keeper.kill()
                self._keeper.wait()
            self._keeper = None


def _preparation(imports_program: bool) -> dict[str, Any]:
    """What multiprocessing would tell a spawned process: paths, and which program to import."""
    data = spawn.get_preparation_data("pickbest arms")
    del data["authkey"]
    if not imports_program:
        data.pop("init_main_from_name", None)
        data.pop("init_main_from_path", None)
    return data


def _stop_all(selector: selectors.BaseSelector) -> None:
    """A guard that sees its socket end kills its arm, and still answers on it."""
    for key in selector.get_map().values():
        with contextlib.suppress(OSError):
            key.fileobj.shutdown(socket.SHUT_WR)  # type: ignore[union-attr]


def _received(task: Task, connection: socket.socket) -> Run:
    try:
        report, payload = keeper.receive(connection)
    except OSError as error:
        return Run(task.arm, RunStatus.BROKEN, reason=f"its guard was killed ({error})")
    answer = None
    if payload:
        try:
            failure, answer = pickle.loads(payload)
        except Exception as error:
            failure = f"its answer cannot be read here: {error!r}"
        report["reason"] = report["reason"] or failure
    return Run(task.arm, RunStatus(report.pop("status")), answer=answer, **report)
