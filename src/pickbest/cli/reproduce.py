"""`pickbest reproduce`: run the paper's parts and write the report about them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pickbest._version import __version__
from pickbest.core import PickbestError
from pickbest.core.savefile import write_atomically
from pickbest.experiments.paper.parts import why_missing
from pickbest.experiments.paper.recipes import CHAPTERS, RECIPES, Recipe
from pickbest.experiments.paper.reproduce import (
    Finished,
    Plan,
    chosen_recipes,
    kept_parts,
    run_parts,
)
from pickbest.experiments.paper.rewards import Rewards, find_rewards
from pickbest.report.document import (
    Chapter,
    Figure,
    Report,
    Section,
    Table,
)
from pickbest.report.figures import draw_all
from pickbest.report.markdown import to_markdown, write_tables
from pickbest.report.html import to_html
from pickbest.report.plots import need_matplotlib

PAGE, MARKDOWN = "report.html", "report.md"
TITLE = "Trading off resource budgets for improved regret bounds: reproduced"
INTRO = (
    "Each round, pick B of N arms and pay the smallest cost. This page rebuilds every table, "
    "figure and statement of Falck and Orton (NeurIPS 2022), beside the printed numbers; verdicts "
    "are computed from the runs."
)


@dataclass(frozen=True)
class Written:
    """What a run wrote, how many of the parts that were asked for, and which it left out."""

    page: Path
    seconds: float
    parts: int
    left_out: Sequence[str]


def reproduce(
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
    started = time.monotonic()
    recipes = chosen_recipes(names)
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    need_matplotlib("the report")
    plan = Plan(out / "parts", seed, replicates, rewards, workers)
    recorded = find_rewards(rewards)
    out.mkdir(parents=True, exist_ok=True)
    with _progress(recipes) as finished:
        run_parts(plan, recipes, finished)
    sections = kept_parts(plan)
    report = build_report(plan, sections, recorded)
    write_report(report, out)
    left_out = [reason for recipe in recipes if (reason := why_missing(recipe))]
    return Written(out / PAGE, time.monotonic() - started, len(recipes) - len(left_out), left_out)


def build_report(plan: Plan, sections: dict[str, Section], rewards: Rewards) -> Report:
    """The report about the finished parts."""
    chapters = []
    for name, (title, intro) in CHAPTERS.items():
        recipes = [recipe for recipe in RECIPES if recipe.chapter == name]
        reasons = [_reason(recipe, recipe.name in sections) for recipe in recipes]
        done = [sections[recipe.name] for recipe in recipes if recipe.name in sections]
        missing = [reason for reason in reasons if reason]
        chapters.append(Chapter(name, title, intro, done, missing))
    whose = "the paper's own" if rewards.papers else "not the paper's"
    source = f"{rewards.source} ({whose}, SHA-256 {rewards.digest[:12]}…)"
    own = f"each part's own, up to {max(recipe.replicates for recipe in RECIPES)}"
    facts = (
        ("pickbest", __version__),
        ("seed", str(plan.seed)),
        ("runs", own if plan.replicates is None else str(plan.replicates)),
        ("recorded rewards", source),
    )
    return Report(TITLE, INTRO, facts, chapters)


def _reason(recipe: Recipe, done: bool) -> str | None:
    if done:
        return None
    return why_missing(recipe) or (
        f"**{recipe.title}** has not been run yet: `pickbest reproduce {recipe.name}`."
    )


def write_report(report: Report, out: Path) -> None:
    """Figures, CSV tables, Markdown and the page."""
    blocks = [block for section in report.sections for block in section.blocks]
    draw_all((block for block in blocks if isinstance(block, Figure)), out / "figures")
    write_tables((block for block in blocks if isinstance(block, Table)), out / "tables")
    write_atomically(out / MARKDOWN, to_markdown(report).encode())
    write_atomically(out / PAGE, to_html(report, out / "figures").encode())


@contextmanager
def _progress(recipes: Sequence[Recipe]) -> Iterator[Finished]:
    """A bar with the time left on a terminal, else one line for each part."""
    from rich.console import Console

    able = [recipe for recipe in recipes if why_missing(recipe) is None]
    console = Console(stderr=True, highlight=False)
    started = time.monotonic()
    if not sys.stderr.isatty():

        def say(recipe: Recipe, was_kept: bool) -> None:
            how = "kept" if was_kept else f"{time.monotonic() - started:5.1f} s"
            console.print(f"{recipe.name:<18} {how}")

        yield say
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}/{task.fields[parts]} parts"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        total = sum(recipe.seconds for recipe in able)
        task = bar.add_task("reproducing", total=total, done=0, parts=len(able))
        count = 0

        def advance(recipe: Recipe, was_kept: bool) -> None:
            nonlocal count
            count += 1
            bar.update(task, advance=recipe.seconds, done=count, description=recipe.name)

        yield advance
