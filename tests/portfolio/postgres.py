"""A real PostgreSQL server for tests, in a folder of its own, gone afterwards."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


class NoServerError(RuntimeError):
    """Why there is no PostgreSQL to test with."""


def binaries() -> Path:
    """The folder with initdb and pg_ctl."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        raise NoServerError("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return Path(found[-1] if found else str(on_path)).parent


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Start a server; the URL of an empty database on it."""
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="pickbest-pg-"))
    user = _unprivileged(folder)
    try:
        data = folder / "data"
        _run(user, programs / "initdb", "-D", data, "-U", "pickbest", "-A", "trust", "-N")
        options = f"-k {folder} -c listen_addresses= -c max_connections=60"
        control = programs / "pg_ctl"
        _run(user, control, "-D", data, "-l", folder / "log", "-w", "-o", options, "start")
        try:
            yield f"postgresql://pickbest@/postgres?host={folder}"
        finally:
            _run(user, control, "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: its own user then."""
    if os.geteuid() != 0:
        return None
    try:
        user = pwd.getpwnam("postgres")
    except KeyError as error:
        raise NoServerError("root cannot run PostgreSQL, and there is no user postgres") from error
    os.chown(folder, user.pw_uid, user.pw_gid)
    return user


def _run(user: pwd.struct_passwd | None, *command: object) -> None:
    words = [str(word) for word in command]
    identity = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid}
    extra = [] if user is None else [user.pw_gid]
    done = subprocess.run(
        words,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        extra_groups=extra if user is not None else None,
        **identity,  # type: ignore[arg-type]
    )
    if done.returncode:
        raise NoServerError(f"{words[0]} failed: {done.stderr.strip()[-300:]}")
