"""The process that starts arms, and the guard that stands over each of them.

Run as a script by the local engine; uses nothing but the standard library. Three generations:

    portfolio ─ keeper ─ guard ─ arm ─ whatever the arm starts

The keeper is one small process with one thread, so that forking is cheap and safe whatever
the portfolio's own process holds. For each run the portfolio sends it one end of a socket; it
forks a guard for it. The guard is a session leader and a child subreaper: whatever its arm
starts, daemons included, becomes its child when it is orphaned. The guard ends its arm and
everything below it, and reaps it all, when

- the arm's own process has ended, - the deadline is over, - the portfolio says so, or
- the portfolio is gone: its socket closes, and its pidfd becomes readable. Both are the
  kernel's doing, so a SIGKILL of the portfolio is noticed too.

If the guard itself is killed, the arm gets SIGKILL (PR_SET_PDEATHSIG). Subreapers, pidfds and
death signals exist on Linux only; elsewhere the arm's process group is killed, and a daemon
that left the group may survive.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import pickle
import resource
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LINUX = sys.platform.startswith("linux")
HEADER = struct.Struct("!QQ")
# How often a guard looks after its arm where the kernel offers no descriptor for that.
POLL_SECONDS = 0.02
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def main(control_fd: int, portfolio_pid: int) -> None:
    """Fork a guard for every socket that arrives, until the portfolio is gone."""
    control = socket.socket(fileno=control_fd)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps guards
    # Collecting garbage would copy pages that all forks could share.
    gc.disable()
    gc.freeze()
    portfolio = _pidfd(portfolio_pid)
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    if portfolio is not None:
        selector.register(portfolio, selectors.EVENT_READ)
    while True:
        if portfolio in {key.fd for key, _ in selector.select()}:
            return
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if message[:1] == b"P":  # a preparation for Python arms instead of a run
            with socket.socket(fileno=descriptors[0]) as prepared:
                answer(prepared, prepare(*receive(prepared)))
            continue
        if os.fork() == 0:
            _guard_and_exit(control, descriptors[0], portfolio)
        os.close(descriptors[0])


def prepare(request: dict[str, Any], payload: bytes) -> dict[str, str]:
    """Import what the functions of Python arms need, once, as multiprocessing would."""
    from importlib import import_module
    from multiprocessing import spawn

    try:
        program = pickle.loads(payload)
        if program is not None:
            spawn.prepare(program)
        for module in request["modules"]:
            import_module(module)
        gc.freeze()
    except BaseException:
        return {"error": traceback.format_exc(limit=-1).strip().splitlines()[-1]}
    return {"error": ""}


def _guard_and_exit(control: socket.socket, run_fd: int, portfolio: int | None) -> NoReturn:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        with socket.socket(fileno=run_fd) as run_socket:
            Guard(run_socket, portfolio).run()
        code = 0
    finally:
        os._exit(code)


class Guard:
    """Runs one arm and leaves no process behind."""

    def __init__(self, run_socket: socket.socket, portfolio: int | None) -> None:
        self.socket = run_socket
        self.request, self.payload = receive(run_socket)
        self.portfolio = portfolio
        self.kept: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self.result = bytearray()
        self.failure = bytearray()
        self.truncated = False

    def run(self) -> None:
        os.setsid()
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        started = time.monotonic()
        pid, pipes = self._start()
        ending, status = self._wait(pid, pipes, started + float(self.request["deadline"]))
        seconds = time.monotonic() - started
        status = end_tree(pid, status)
        self._drain(pipes)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = {
            "status": "broken" if self.failure else ending,
            "seconds": seconds,
            "exit_code": None if status is None else os.waitstatus_to_exitcode(status),
            "reason": self.failure.decode(errors="replace"),
            "truncated": self.truncated,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * (1024 if LINUX else 1),
            **{name: text.decode(errors="replace") for name, text in self.kept.items()},
        }
        with contextlib.suppress(OSError):
            answer(self.socket, report, bytes(self.result))

    def _start(self) -> tuple[int, dict[int, bytearray]]:
        """Fork the arm; the pipes from it by descriptor."""
        ends = {name: os.pipe() for name in ("stdout", "stderr", "result", "failure")}
        guard = os.getpid()
        pid = os.fork()
        if pid == 0:
            become_arm(
                self.request, self.payload, {name: w for name, (_, w) in ends.items()}, guard
            )
        targets = {**self.kept, "result": self.result, "failure": self.failure}
        pipes = {}
        for name, (read, write) in ends.items():
            os.close(write)
            os.set_blocking(read, False)
            pipes[read] = targets[name]
        return pid, pipes

    def _wait(
        self, pid: int, pipes: dict[int, bytearray], deadline: float
    ) -> tuple[str, int | None]:
        """Until the arm ends, or must: (how it ended, its wait status if it has one)."""
        selector = selectors.DefaultSelector()
        for read in pipes:
            selector.register(read, selectors.EVENT_READ)
        selector.register(self.socket, selectors.EVENT_READ)
        portfolio, arm = self.portfolio, _pidfd(pid)
        for descriptor in (portfolio, arm):
            if descriptor is not None:
                selector.register(descriptor, selectors.EVENT_READ)
        ending = "finished"
        while True:
            patience = deadline - time.monotonic()
            if patience <= 0.0 and ending == "finished":
                ending, deadline = "timeout", self._ask_to_end(pid)
                continue
            if patience <= 0.0:
                return ending, None
            events = selector.select(patience if arm is not None else min(patience, POLL_SECONDS))
            ready = {key.fd for key, _ in events}
            for read in ready & pipes.keys():
                if self._read(read, pipes[read]) == b"":
                    selector.unregister(read)
            if arm is None or arm in ready:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    return ending, status
            if portfolio in ready:
                return "stopped", None
            if self.socket.fileno() in ready:
                selector.unregister(self.socket)
                ending, deadline = "stopped", self._ask_to_end(pid)

    def _ask_to_end(self, pid: int) -> float:
        """SIGTERM, if the arm has time to react; when that time is over."""
        grace = float(self.request["grace"])
        if grace > 0.0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGTERM)
        return time.monotonic() + grace

    def _read(self, read: int, target: bytearray) -> bytes | None:
        """Take what is there: b"" at the end of the pipe, None when nothing is there yet."""
        try:
            chunk = os.read(read, 1 << 16)
        except BlockingIOError:
            return None
        target += chunk
        limit = int(self.request["output_bytes"])
        if len(target) > limit and any(target is kept for kept in self.kept.values()):
            del target[: len(target) - limit]
            self.truncated = True
        return chunk

    def _drain(self, pipes: dict[int, bytearray]) -> None:
        """What is left in the pipes, now that nobody can write to them."""
        for read, target in pipes.items():
            while self._read(read, target):
                pass


def end_tree(pid: int, status: int | None) -> int | None:
    """Kill and reap the arm and all of its descendants; the arm's wait status if it ended so.

    Orphans become children of this process (a subreaper), so no child left means that no
    descendant is left.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    while True:
        for descendant in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(descendant, signal.SIGKILL)
        try:
            done, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        if done == pid:
            status = ended


def descendants(pid: int) -> list[int]:
    """All processes below one, as the kernel lists them; empty where it does not."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            with open(f"/proc/{pid}/task/{thread}/children") as listing:
                for child in map(int, listing.read().split()):
                    found += [child, *descendants(child)]
    except OSError:
        pass
    return found


def become_arm(
    request: dict[str, Any], payload: bytes, pipes: dict[str, int], guard: int
) -> NoReturn:
    """In the forked child: limits, descriptors, then the command or the function."""
    failure = pipes["failure"]
    using = request["cwd"]
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        _limit(request)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (pipes["stdout"], 1), (pipes["stderr"], 2)):
            os.dup2(source, target)
        os.chdir(request["cwd"])
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores these, and exec would pass that on
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        if request["argv"] is None:
            _call(payload, pipes["result"])
        using = request["argv"][0]
        # Every other descriptor closes by itself on exec.
        os.execvpe(request["argv"][0], request["argv"], {**os.environ, **dict(request["env"])})
    except OSError as error:
        os.write(failure, f"{using}: {os.strerror(error.errno or 0)}".encode())
    except BaseException as error:
        os.write(failure, repr(error).encode()[:1000])
    finally:
        os._exit(127)


def _call(payload: bytes, result: int) -> NoReturn:
    """Run a Python arm and send back (error, value), pickled."""
    code = 0
    gc.enable()
    if "numpy" in sys.modules:  # a fork would repeat the keeper's random numbers in every run
        sys.modules["numpy"].random.seed()
    try:
        function, arguments = pickle.loads(payload)
        content = pickle.dumps(("", function(*arguments)))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        content = pickle.dumps(("" if code == 0 else f"exit code {code}", None))
    except BaseException as error:
        traceback.print_exc()
        content, code = pickle.dumps((f"{type(error).__name__}: {error}"[:1000], None)), 1
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    with os.fdopen(result, "wb") as pipe:
        pipe.write(content)
    os._exit(code)


def _limit(request: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if request["memory_bytes"]:
        most = int(request["memory_bytes"])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if request["cpu_seconds"]:
        most = max(1, round(request["cpu_seconds"]))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def _pidfd(pid: int) -> int | None:
    if not LINUX:
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def answer(target: socket.socket, header: dict[str, Any], payload: bytes = b"") -> None:
    """Send JSON and bytes, with their lengths before them."""
    text = json.dumps(header).encode()
    target.sendall(HEADER.pack(len(text), len(payload)) + text + payload)


def receive(source: socket.socket) -> tuple[dict[str, Any], bytes]:
    """What `answer` sent; ConnectionError if the other side went away."""
    lengths = HEADER.unpack(_exactly(source, HEADER.size))
    return json.loads(_exactly(source, lengths[0])), _exactly(source, lengths[1])


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = source.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other side closed the connection")
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
