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


class Server:
    """A running server; url: of an empty database on it."""

    def __init__(self) -> None:
        self._programs = binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="pickbest-pg-"))
        self._user = _unprivileged(self._folder)
        self._data = self._folder / "data"
        self.url = f"postgresql://pickbest@/postgres?host={self._folder}"

    def create(self) -> None:
        words = ("-U", "pickbest", "-A", "trust", "-N")
        _run(self._user, self._programs / "initdb", "-D", self._data, *words)
        self.start()

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses= -c max_connections=60"
        self._control("-l", self._folder / "log", "-o", options, "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def fail_over(self) -> None:
        """Another server, with the same data, in the place of this one."""
        self.stop()
        copied = self._data.with_name(f"{self._data.name}-copied")
        _run(self._user, "cp", "-a", self._data, copied)
        self._data = copied
        self.start()

    def _control(self, *words: object) -> None:
        _run(self._user, self._programs / "pg_ctl", "-D", self._data, "-w", *words)

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """Start a server."""
    started = Server()
    try:
        started.create()
        try:
            yield started
        finally:
            started.stop()
    finally:
        started.remove()


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
