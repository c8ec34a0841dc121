"""The client in C (client.c), compiled beside a daemon's socket for as long as it serves."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).with_name("client.c")
# `pickbest-solve` (client.py) looks for it under the socket's name with this at the end.
SUFFIX = ".client"
SECONDS = 30.0


@contextlib.contextmanager
def compiled_beside(socket: str) -> Iterator[bool]:
    """Whether there is one now; without a C compiler the client is Python, and slower."""
    path = f"{socket}{SUFFIX}"
    try:
        yield _compiled(path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _compiled(path: str) -> bool:
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    draft = f"{path}.{os.getpid()}"
    try:
        if _code([compiler, "-O1", "-o", draft, str(SOURCE)]) != 0:
            return False
        os.chmod(draft, 0o700)
        # Called with nothing it ends with 2: where it cannot run (noexec), it must not be found.
        if _code([draft]) != 2:
            return False
        os.replace(draft, path)
        return True
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)


def _code(command: list[str]) -> int:
    null = subprocess.DEVNULL
    done = subprocess.run(
        command, check=False, timeout=SECONDS, stdin=null, stdout=null, stderr=null
    )
    return done.returncode
