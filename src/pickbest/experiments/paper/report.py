"""The report about the paper's parts."""

from __future__ import annotations

from collections.abc import Mapping

from pickbest._version import __version__
from pickbest.experiments.paper.recipes import CHAPTERS, RECIPES, Recipe
from pickbest.experiments.paper.run_parts import ReportPlan, why_missing
from pickbest.report.document import Chapter, Report, Section

TITLE = "Trading off resource budgets for improved regret bounds: reproduced"
INTRO = (
    "Each round, pick B of N arms and pay the smallest cost. This page rebuilds every table, "
    "figure and statement of Falck and Orton (NeurIPS 2022), beside the printed numbers; verdicts "
    "are computed from the runs."
)


def build_report(plan: ReportPlan, sections: Mapping[str, Section]) -> Report:
    """The report about the finished parts."""
    chapters = []
    for name, (title, intro) in CHAPTERS.items():
        recipes = [recipe for recipe in RECIPES if recipe.chapter == name]
        reasons = [_reason(recipe) for recipe in recipes if recipe.name not in sections]
        done = [sections[recipe.name] for recipe in recipes if recipe.name in sections]
        chapters.append(Chapter(name, title, intro, done, reasons))
    rewards = plan.rewards
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


def _reason(recipe: Recipe) -> str:
    return why_missing(recipe) or (
        f"**{recipe.title}** has not been run yet: `pickbest reproduce {recipe.name}`."
    )
