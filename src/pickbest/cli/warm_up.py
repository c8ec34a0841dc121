"""`pickbest warm-up`: compile now what other commands would compile when they need it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from pickbest.cli.options import LearnersOption
from pickbest.cli.tables import say
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from pickbest.catalog import LearnerSpec
    from pickbest.core import Learner

# Some code is of one arm only, some of several.
BUDGETS = (1, 2, 3)
ENVIRONMENT = "task-1"


def warm_up(
    learner: LearnersOption,
    everything: Annotated[bool, typer.Option("--all", help="Every learner.")] = False,
) -> None:
    """Compile what `simulate`, `run` and `Player` need, once for this machine.

    It is kept in the package's folder where that can be written, and `pip uninstall` removes it.
    Without this, the first command that needs a learner compiles it.

    **Examples**

        pickbest warm-up

        pickbest warm-up --learner fpml-partial --learner og
    """
    from numba.core import event

    from pickbest.catalog import learner_entry, learner_names
    from pickbest.cli.compiled_files import cache_folder, list_as_installed
    from pickbest.kernels.compile_notice import COMPILING

    if everything:
        learner = [one for one in learner_names() if not learner_entry(one).needed_options]
    start = time.perf_counter()
    steps = [step for text in learner for step in _steps(text)]
    with event.install_recorder(COMPILING) as compiled, progress_bar("compiling") as progress:
        for done, (what, step) in enumerate(steps):
            if progress is not None:
                progress(done, len(steps), what)
            step()
    list_as_installed()
    count = sum(one.is_start for _, one in compiled.buffer)
    spent = f"{count} functions in {time.perf_counter() - start:.1f} s"
    folder = cache_folder()
    say(f"compiled {spent}, kept in {folder}" if count else f"nothing to compile: kept in {folder}")


def _steps(text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What compiles a learner: whole tables and hindsight, rounds one by one, races."""
    from pickbest.catalog import LearnerSpec

    spec = LearnerSpec.parse(text)
    for budget in (1,) if spec.entry.single_arm else BUDGETS:
        yield f"{text}, B = {budget}", partial(_play, spec, budget)


def _play(spec: LearnerSpec, budget: int) -> None:
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
