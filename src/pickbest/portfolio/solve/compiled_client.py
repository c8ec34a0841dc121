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
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        command = [compiler, "-O1", "-o", draft, str(SOURCE)]
        subprocess.run(command, check=True, timeout=SECONDS, **quiet)
        os.chmod(draft, 0o700)
        # Called with nothing it ends with 2: where it cannot run (noexec), it must not be found.
        runs = subprocess.run([draft], check=False, timeout=SECONDS, **quiet).returncode == 2
        if runs:
            os.replace(draft, path)
        return runs
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
