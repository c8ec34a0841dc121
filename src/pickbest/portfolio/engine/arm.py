"""Starting an arm: a command, or a Python function in a forked process.

Neither inherits anything but standard input, output and error; a function also holds the pipe
for its own answer, which closes when it starts or forks another process.
"""

import base64
import contextlib
import fcntl
import gc
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass
from typing import Any, NoReturn

from pickbest.portfolio.engine import messages
from pickbest.portfolio.processes import PR_SET_DUMPABLE, PR_SET_PDEATHSIG, prctl

LONGEST_REASON = 1000
# What a function's side sends back begins with one of these.
VALUE, RAISED, BROKEN = "V", "R", "B"
RESULT = 3  # the descriptor on which it does


class StartError(Exception):
    """An arm cannot be started."""


@dataclass
class Started:
    """A running arm: what it writes comes from these descriptors."""

    pid: int
    stdout: int
    stderr: int
    answer: int | None = None


def start(request: dict[str, Any]) -> Started:
    """Start the arm of a request."""
    return _function(request) if request["argv"] is None else _command(request)


def _command(request: dict[str, Any]) -> Started:
    read_out, out = os.pipe()
    read_err, err = os.pipe()
    try:
        # There is no preexec_fn: so this is a vfork, ten times quicker than a fork.
        process = subprocess.Popen(
            request["argv"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=request["cwd"],
            env=request["env"],
            close_fds=True,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(read_out)
        os.close(read_err)
        name = getattr(error, "filename", None) or request["argv"][0]
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StartError(f"{name}: {reason}") from error
    finally:
        os.close(out)
        os.close(err)
    process.returncode = 0  # the guard reaps it, with all that is below it
    _limit(request, process.pid)
    return Started(process.pid, read_out, read_err)


def _function(request: dict[str, Any]) -> Started:
    ends = [os.pipe() for _ in range(3)]
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_function(request, [write for _, write in ends], guard)
    for _, write in ends:
        os.close(write)
    return Started(pid, *(read for read, _ in ends))


def _become_function(request: dict[str, Any], pipes: list[int], guard: int) -> NoReturn:
    """In the forked child: descriptors, limits, environment, then the function."""
    message, code = BROKEN, 1
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_DUMPABLE, 1)
        if os.getppid() != guard:
            os._exit(1)
        _keep_only([os.open(os.devnull, os.O_RDONLY), *pipes])
        os.register_at_fork(after_in_child=_close_result)
        os.environ.clear()
        os.environ.update(request["env"])
        _limit(request, os.getpid())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and exec passes on
            signal.signal(number, signal.SIG_DFL)
        os.chdir(request["cwd"])
        message, code = _called(base64.b64decode(request["call"]))
    except OSError as error:
        message = f"{BROKEN}{error.filename}: {error.strerror}"
    except BaseException as error:
        message = BROKEN + shortened(repr(error))
    finally:
        with contextlib.suppress(BaseException), os.fdopen(RESULT, "wb") as pipe:
            pipe.write(message.encode(errors="replace"))
        os._exit(code)


def _keep_only(descriptors: list[int]) -> None:
    """Let these be 0, 1, 2 and 3, and close all others; 3 does not reach other programs."""
    away = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in descriptors]
    for target, source in enumerate(away):
        os.dup2(source, target, inheritable=target != RESULT)
    os.closerange(len(away), 1 + max(map(int, os.listdir("/dev/fd"))))


def _close_result() -> None:
    with contextlib.suppress(OSError):
        os.close(RESULT)


def _called(call: bytes) -> tuple[str, int]:
    """(what to send back, the exit code) of the function itself."""
    gc.enable()
    if "numpy" in sys.modules:  # a fork would repeat the keeper's random numbers in every run
        sys.modules["numpy"].random.seed()
    code = 0
    try:
        function, arguments = pickle.loads(call)
        message = VALUE + messages.encode_answer(function(*arguments))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        message = RAISED + (f"exit code {code}" if code else "")
    except BaseException as error:
        traceback.print_exc()
        code, message = 1, RAISED + shortened(f"{type(error).__name__}: {error}")
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    return message, code


def shortened(text: str) -> str:
    """A reason that is not too long: where it is, its beginning and its last line.

    >>> shortened("ValueError: " + "x" * 2000 + chr(10) + "  at the end: 7")[-20:]
    'xx …   at the end: 7'
    """
    if len(text) <= LONGEST_REASON:
        return text
    last = text.rstrip().splitlines()[-1][-LONGEST_REASON // 2 :]
    return f"{text[: LONGEST_REASON - len(last) - 3]} … {last}"


def _limit(request: dict[str, Any], pid: int) -> None:
    """Limits of each single process: one that asks for too much memory is told so.

    That of processor time is for processes that nobody watches any more.
    """
    memory, seconds = (request["limits"][name] for name in ("memory_bytes", "cpu_seconds"))
    with contextlib.suppress(ProcessLookupError):
        if memory:
            resource.prlimit(pid, resource.RLIMIT_AS, (memory, memory))
        if seconds:
            most = math.ceil(seconds) + 1
            resource.prlimit(pid, resource.RLIMIT_CPU, (most, most + 1))
