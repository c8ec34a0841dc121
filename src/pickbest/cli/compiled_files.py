"""Compiled code: a line when it is made, where it is kept, and how uninstalling finds it."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pickbest
from pickbest.cli.tables import say

PACKAGE = Path(pickbest.__file__).parent


class Compiling(logging.Handler):
    """Shows what the library logs (that it compiles), and lists at the end what was made."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line on the standard error stream."""
        say(record.getMessage(), stderr=True)
        atexit.register(list_as_installed)


def show_compiling() -> None:
    """Let this program say when it compiles."""
    log = logging.getLogger("pickbest")
    if not any(isinstance(handler, Compiling) for handler in log.handlers):
        log.addHandler(Compiling())
        log.setLevel(logging.INFO)


def cache_folder() -> Path | None:
    """Where machine code is kept: the package's own folder if it can be written; None: nowhere."""
    from numba.core import config

    from pickbest.kernels import random

    kept = cast(Any, random.mixed).stats.cache_path
    if kept is None:
        return None
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        return Path(chosen)
    return PACKAGE if Path(kept).is_relative_to(PACKAGE) else Path(kept).parent


def list_as_installed() -> None:
    """Add compiled files to the installer's list (RECORD), so that `pip uninstall` removes them.

    Nothing is done for a source tree, or where the list cannot be written.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution("pickbest").files or []
    except PackageNotFoundError:
        return
    records = [Path(str(one.locate())) for one in files if one.name == "RECORD"]
    known = {str(one) for one in files}
    for record in records:
        root = record.parents[1]
        lines = [f"{name},,\n" for name in _compiled(root) if name not in known]
        if lines and os.access(record, os.W_OK):
            with record.open("a", encoding="utf-8") as file:
                file.writelines(lines)


def _compiled(root: Path) -> Iterator[str]:
    """Compiled files of the package below root, named as in RECORD."""
    if PACKAGE.is_relative_to(root):
        for path in PACKAGE.rglob("__pycache__/*.nb[ic]"):
            yield path.relative_to(root).as_posix()
