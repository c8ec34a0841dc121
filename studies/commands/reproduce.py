"""`pickbest reproduce`: run the paper's parts and write the report about them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from pickbest.cli.options import SeedOption, WorkersOption
from pickbest.cli.tables import say
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from studies.paper.recipes import Recipe
    from studies.paper.run_parts import Finished

MARKDOWN = "report.md"


def reproduce(
    parts: Annotated[
        list[str] | None,
        Argument(
            metavar="[PART]...", help="Parts such as table-1, task-3, trade-off; all if none."
        ),
    ] = None,
    rewards: Annotated[
        Path | None,
        Option(help="Rewards for the main experiment (rounds x arms, in [0, 1]), not the paper's."),
    ] = None,
    replicates: Annotated[
        int | None,
        Option("--replicates", "-r", help="Games of every part, instead of its own number."),
    ] = None,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    out: Annotated[Path, Option(help="Folder for the report.")] = Path("out"),
    open_page: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Rebuild the paper's tables, figures and theorems as one HTML page.

    Finished parts are kept in the output folder: an interrupted run goes on where it was.

    **Examples**

        pickbest reproduce --workers 2 --open

        pickbest reproduce task-3 trade-off
    """
    written = reproduce_parts(parts or [], out, rewards, replicates, seed, workers)
    for sentence in written.left_out:
        say(f"left out: {sentence.replace('**', '').replace('`', '')}")
    say(f"{written.parts} parts, {written.seconds:.1f} s: {written.page}")
    if open_page:
        typer.launch(written.page.resolve().as_uri())


@dataclass(frozen=True)
class Written:
    """What a run wrote, how many of the parts that were asked for, and which it left out."""

    page: Path
    seconds: float
    parts: int
    left_out: Sequence[str]


def reproduce_parts(
    names: Sequence[str],
    out: Path,
    rewards: Path | None = None,
    replicates: int | None = None,
    seed: int = 0,
    workers: int = 1,
) -> Written:
    """Run the named parts (all where none is named) and write the report into `out`.

    The page shows every part that is finished for this seed, replicates and rewards, so parts
    may be run one after the other.
    """
    from pickbest.core.savefile import write_atomically
    from pickbest.report.write import need_packages, write_report
    from studies.paper.recorded_rewards import find_rewards
    from studies.paper.report import build_report
    from studies.paper.run_parts import (
        ReportPlan,
        chosen_recipes,
        kept_parts,
        run_parts,
        why_missing,
    )
    from studies.report.markdown import to_markdown

    started = time.monotonic()
    recipes = chosen_recipes(names)
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    need_packages()
    plan = ReportPlan(out / "parts", find_rewards(rewards), seed, replicates, workers)
    left_out = [reason for recipe in recipes if (reason := why_missing(recipe))]
    with _progress([recipe for recipe in recipes if why_missing(recipe) is None]) as finished:
        run_parts(plan, recipes, finished)
    report = build_report(plan, kept_parts(plan))
    page = write_report(report, out)
    write_atomically(out / MARKDOWN, to_markdown(report).encode())
    return Written(page, time.monotonic() - started, len(recipes) - len(left_out), left_out)


@contextmanager
def _progress(recipes: Sequence[Recipe]) -> Iterator[Finished]:
    """A bar in expected seconds on a terminal, else one line for each part."""
    started = time.monotonic()
    done: list[Recipe] = []
    total = sum(recipe.seconds for recipe in recipes)
    with progress_bar("reproducing") as progress:

        def finished(recipe: Recipe, was_kept: bool) -> None:
            done.append(recipe)
            if progress is None:
                how = "kept" if was_kept else f"{time.monotonic() - started:5.1f} s"
                say(f"{recipe.name:<18} {how}", stderr=True)
            else:
                text = f"{recipe.name}, {len(done)}/{len(recipes)} parts"
                progress(sum(recipe.seconds for recipe in done), total, text)

        yield finished
