"""`pickbest warm-up`, and compiled code: a line when it is made, and how uninstalling finds it."""

from __future__ import annotations

import atexit
import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

import pickbest
from pickbest.cli.options import LearnersOption
from pickbest.cli.tables import say
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from pickbest.catalog import LearnerSpec
    from pickbest.core import CompiledLearner, Learner


# Some code is of one arm only, some of several.
BUDGETS = (1, 2, 3)
ENVIRONMENT = "task-1"
PACKAGE = Path(pickbest.__file__).parent


def warm_up(
    learner: LearnersOption,
    everything: Annotated[bool, Option("--all", help="Every learner.")] = False,
) -> None:
    """Compile what `simulate`, `run` and `Player` need, once for this machine.

    It is kept in the package's folder where that can be written, and `pip uninstall` removes it.
    Without this, the first command that needs a learner compiles it.

    **Examples**

        pickbest warm-up

        pickbest warm-up --learner fpml-partial --learner og
    """
    from numba.core import event

    from pickbest.catalog import LearnerSpec, learner_entry, learner_names
    from pickbest.kernels.compile_notice import COMPILING

    if everything:
        learner = [one for one in learner_names() if not learner_entry(one).needed_options]
    start = time.perf_counter()
    specs = {text: LearnerSpec.parse(text) for text in learner}
    steps = [
        (text, spec, budget)
        for text, spec in specs.items()
        for budget in ((1,) if spec.entry.single_arm else BUDGETS)
    ]
    with event.install_recorder(COMPILING) as compiled, progress_bar("compiling") as progress:
        for done, (text, spec, budget) in enumerate(steps):
            if progress is not None:
                progress(done, len(steps), f"{text}, B = {budget}")
            _play(spec, budget)
    list_as_installed()
    count = sum(one.is_start for _, one in compiled.buffer)
    spent = f"{count} functions in {time.perf_counter() - start:.1f} s"
    folder = cache_folder()
    say(f"compiled {spent}, kept in {folder}" if count else f"nothing to compile: kept in {folder}")


def _play(spec: LearnerSpec, budget: int) -> None:
    """Whole tables and hindsight, rounds one by one, races."""
    from pickbest.catalog import make_environment
    from pickbest.core import Feedback
    from pickbest.learners.intervals import racing
    from pickbest.player import Player
    from pickbest.report.summaries import simulation_summary
    from pickbest.simulation.simulate import simulate

    environment = make_environment(ENVIRONMENT)
    learner = spec.build(environment.n_arms, budget, environment.rounds)
    partial_feedback = learner.feedback is Feedback.PICKED
    simulation_summary(simulate({spec.name: learner}, environment, replicates=2), ENVIRONMENT)
    player = Player(spec.build(environment.n_arms, budget, None))
    for _ in range(2):
        ticket = player.ask()
        player.tell(ticket, [0.5] * (len(ticket.arms) if partial_feedback else environment.n_arms))
    if partial_feedback:
        _race(racing(player.learner))


def _race(learner: Learner) -> None:
    """A round of a portfolio, whose losers are stopped."""
    import numpy as np

    from pickbest.core import replicate_keys, rng_for
    from pickbest.core.intervals import Intervals, learn_intervals, watch_probability

    state = learner.start(1)
    choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    half, watch = np.full(choice.arms.shape, 0.5), watch_probability(learner, state, choice.arms)
    seen = Intervals(half, half.copy(), half.copy(), watch, np.array([True]))
    learn_intervals(learner, state, choice, seen)


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
