"""`reproduce`, `sabotage`: the paper's parts, and the report about them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from pickbest.cli.options import JsonOption, SeedOption, WorkersOption
from pickbest.cli.tables import print_json, say
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from pickbest.report.document import Section, Verdict
    from studies.paper.recipes import Finished, Recipe

MARKDOWN = "report.md"


def reproduce(
    parts: Annotated[
        list[str] | None,
        Argument(metavar="PART", help="Parts such as table-1, task-3, trade-off; all if none."),
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
    as_json: JsonOption = False,
) -> None:
    """Rebuild the paper's tables, figures and theorems as one HTML page.

    Finished parts are kept in the output folder: an interrupted run goes on where it was.

    **Examples**

        python -m studies reproduce --workers 2 --open

        python -m studies reproduce task-3 trade-off
    """
    written = reproduce_parts(parts or [], out, rewards, replicates, seed, workers)
    if as_json:
        print_json(
            {
                "page": str(written.page),
                "seconds": round(written.seconds, 1),
                "parts": written.parts,
                "verdicts": [
                    {"part": section.name, "statement": one.statement, "holds": one.holds}
                    for section, one in written.verdicts
                ],
            }
        )
        return
    say(f"{written.parts} parts, {written.seconds:.1f} s: {written.page}")
    if open_page:
        typer.launch(written.page.resolve().as_uri())


def sabotage(
    parts: Annotated[
        list[str] | None, Argument(metavar="PART", help="Parts such as task-3; all if none.")
    ] = None,
    record: Annotated[
        bool, Option("--record", help="Write what was found to data/sabotage.csv (all parts).")
    ] = False,
    workers: WorkersOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Break every part of the reproduction on purpose, and see which verdicts notice.

    What is found is compared with data/sabotage.csv, which the report shows; exit code 1 where
    the two differ. Run it with --record after a part or its trial in recipes.toml has changed.

    **Examples**

        python -m studies sabotage task-3

        python -m studies sabotage --record --workers 2
    """
    from studies.paper.sabotage import differences, record_rows, run_trials

    if record and parts:
        raise PickbestError(f"--record must have all parts, got {', '.join(parts)}: name none")
    with progress_bar("breaking") as progress:
        rows = run_trials(parts or [], workers, progress)
    if record:
        record_rows(rows)
    new = [] if record else differences(rows)
    fields = ("part", "mutant", "statement", "verdict")
    found = {"verdicts": len(rows), "differences": [dict(zip(fields, r, strict=True)) for r in new]}
    if as_json:
        print_json(found)
    else:
        for row in new:
            say(f"not as recorded: {', '.join(row)}")
        say(f"{len(rows)} verdicts, {len(new)} not as recorded")
    if new:
        raise typer.Exit(1)


@dataclass(frozen=True)
class Written:
    """What a run wrote."""

    page: Path
    seconds: float
    parts: int
    verdicts: Sequence[tuple[Section, Verdict]]


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
    from pickbest.report.html import need_packages, write_report
    from pickbest.report.plots import need_package
    from studies.paper.recipes import ReportPlan, chosen_recipes, kept_parts, run_parts
    from studies.paper.recorded_rewards import find_rewards
    from studies.paper.report import build_report
    from studies.report.markdown import to_markdown

    started = time.monotonic()
    recipes = chosen_recipes(names)
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    need_packages()
    need_package("highspy", "lp", "linear programs")
    plan = ReportPlan(out / "parts", find_rewards(rewards), seed, replicates, workers)
    with _progress(recipes) as finished:
        run_parts(plan, recipes, finished)
    report = build_report(plan, kept_parts(plan))
    page = write_report(report, out)
    write_atomically(out / MARKDOWN, to_markdown(report).encode())
    return Written(page, time.monotonic() - started, len(recipes), report.verdicts)


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
