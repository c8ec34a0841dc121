"""Compiled code: a line when it is made, where it is kept, and how uninstalling finds it."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pickbest
from pickbest.cli.tables import say

if TYPE_CHECKING:
    from pickbest.core import CompiledLearner, Learner

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


@contextmanager
def compiling_in_two(learners: Iterable[Learner]) -> Iterator[None]:
    """The first command after installing compiles on two cores, where there are two.

    Meanwhile another process compiles how the learners learn, and this one what finds the best
    subset in hindsight; then this one finds the other's half in the cache.
    """
    from pickbest.core import CompiledLearner
    from pickbest.kernels.random import mixed

    compiled = [one for one in learners if isinstance(one, CompiledLearner)]
    if len(os.sched_getaffinity(0)) == 1 or not compiled or _is_kept(mixed):
        yield
        return
    from multiprocessing import get_context

    from pickbest.hindsight.subset_loops import load_exhaustive

    other = get_context("spawn").Process(target=_learn_once, args=(compiled,))
    try:
        other.start()
    except OSError:  # no more processes are to be had
        yield
        return
    try:
        load_exhaustive()
        yield
        other.join()
    finally:
        other.kill()
        other.join()


def _is_kept(kernel: Any) -> bool:
    """Whether machine code of a kernel is on disk, or can not be kept there."""
    folder = kernel.stats.cache_path
    return folder is None or any(Path(folder).glob(f"*.{kernel.__name__}-*.nbi"))


def _learn_once(learners: list[CompiledLearner]) -> None:
    """Let learners learn a round, which compiles how they do."""
    import signal

    import numpy as np

    from pickbest.core import Choice, Feedback

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    for learner in learners:
        arms = np.arange(learner.budget)[None]
        told = np.ones((1, learner.n_arms if learner.feedback is Feedback.FULL else arms.size))
        learner.learn(learner.start(1), Choice(arms, np.ones(arms.shape)), told)


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
