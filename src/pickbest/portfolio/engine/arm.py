"""Starting an arm: a command, or a Python function, in a forked process.

Neither inherits anything but standard input, output and error; a function also holds the pipe
for its own answer, which closes when it starts or forks another process.
"""

import base64
import contextlib
import fcntl
import gc
import json
import math
import os
import pickle
import resource
import signal
import sys
import traceback
from typing import Any, NoReturn

from pickbest.portfolio.processes import PR_SET_DUMPABLE, PR_SET_PDEATHSIG, prctl

# What a function's side sends back begins with one of these.
VALUE, RAISED, BROKEN = "V", "R", "B"
RESULT = 3  # the descriptor on which it does


def start(request: dict[str, Any]) -> tuple[int, list[int]]:
    """Start the arm of a request: its pid, and the descriptors of what it writes and answers."""
    ends = [os.pipe() for _ in range(3)]
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_arm(request, [write for _, write in ends], guard)
    for _, write in ends:
        os.close(write)
    return pid, [read for read, _ in ends]


def _become_arm(request: dict[str, Any], pipes: list[int], guard: int) -> NoReturn:
    """In the forked child: descriptors, limits, environment, then the command or the function."""
    message, code = BROKEN, 1
    try:
        os.setsid()
        # The kernel ends it with its guard, also where nobody is left who could.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        _keep_only([os.open(os.devnull, os.O_RDONLY), *pipes])
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and exec passes on
            signal.signal(number, signal.SIG_DFL)
        os.chdir(request["cwd"])
        _limit(request)
        if request["argv"] is not None:
            _exec(request["argv"], request["env"])
        # A command is what nobody may look into until it is another program.
        prctl(PR_SET_DUMPABLE, 1)
        os.register_at_fork(after_in_child=_close_result)
        os.environ.clear()
        os.environ.update(request["env"])
        message, code = _called(base64.b64decode(request["call"]))
    except OSError as error:
        message = f"{BROKEN}{error.filename}: {error.strerror}"
    except BaseException as error:
        message = BROKEN + repr(error)
    finally:
        with contextlib.suppress(BaseException), os.fdopen(RESULT, "wb") as pipe:
            pipe.write(message.encode(errors="replace"))
        os._exit(code)


def _exec(argv: list[str], variables: dict[str, str]) -> NoReturn:
    try:
        os.execvpe(argv[0], argv, variables)
    except OSError as error:
        raise OSError(error.errno, error.strerror, argv[0]) from error


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
        message = VALUE + encoded(function(*arguments))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        message = RAISED + (f"exit code {code}" if code else "")
    except BaseException as error:
        traceback.print_exc()
        code, message = 1, RAISED + f"{type(error).__name__}: {error}"
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    return message, code


def encoded(answer: Any) -> str:
    """What a function returned, as JSON; TypeError, ValueError or RecursionError where it is none.

    >>> encoded({"model": (1, -2)})
    '{"model": [1, -2]}'
    """
    return json.dumps(answer, default=_as_list)


def _as_list(value: Any) -> Any:
    """NumPy's arrays and numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return value.tolist()
    raise TypeError(f"a function may return what JSON holds, and NumPy arrays, got {type(value)}")


def _limit(request: dict[str, Any]) -> None:
    """Limits of each single process: one that asks for too much memory is told so.

    That of processor time is for processes that nobody watches any more.
    """
    memory, seconds = (request["limits"][name] for name in ("memory_bytes", "cpu_seconds"))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if seconds:
        most = math.ceil(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
