"""The report about the paper's parts."""

import dataclasses
from collections.abc import Mapping

from pickbest._version import __version__
from pickbest.report.document import Chapter, Report, Section, Verdict
from studies.paper.recipes import CHAPTERS, RECIPES, Recipe, ReportPlan
from studies.paper.sabotage import matrix
from studies.report.sections import listed

TITLE = "Trading off resource budgets for improved regret bounds: reproduced"
INTRO = (
    "Each round, pick B of N arms and pay the smallest cost. This page rebuilds every table, "
    "figure and statement of Falck and Orton (NeurIPS 2022), next to the printed numbers; verdicts "
    "are computed from the runs, and [each of them can fail](#sabotage)."
)
DOUBT = "A page of verdicts is worth what its weakest verdict is worth: each was put to the test."


def build_report(plan: ReportPlan, sections: Mapping[str, Section]) -> Report:
    """The report about the finished parts."""
    chapters = []
    for name, (title, intro) in CHAPTERS.items():
        recipes = [recipe for recipe in RECIPES if recipe.chapter == name]
        reasons = [_reason(recipe) for recipe in recipes if recipe.name not in sections]
        done = [sections[recipe.name] for recipe in recipes if recipe.name in sections]
        chapters.append(Chapter(name, title, intro, done, reasons))
    chapters.append(Chapter("doubt", "Can these verdicts fail?", DOUBT, [matrix()]))
    rewards = plan.rewards
    whose = "" if rewards.papers else "not the paper's, "
    source = f"{rewards.source} ({whose}SHA-256 {rewards.digest[:12]}…)"
    own = f"each part's own, up to {max(recipe.replicates for recipe in RECIPES)}"
    facts = (
        ("pickbest", __version__),
        ("seed", str(plan.seed)),
        ("runs", own if plan.replicates is None else str(plan.replicates)),
        ("recorded rewards", source),
    )
    whole = Report(TITLE, INTRO, facts, chapters, "python -m studies reproduce")
    return dataclasses.replace(whole, summary=summary_of(whole))


def summary_of(report: Report) -> str:
    """What was reproduced, what was refuted and what is new, from the verdicts that there are."""
    judged = {
        chapter.name: [
            (section, verdict)
            for section, verdict in report.verdicts
            if section in chapter.sections and verdict.holds is not None
        ]
        for chapter in report.chapters
    }
    met = [
        f"{verdict.text.partition(' printed')[0]} printed means of {verdict.statement[:7]}"
        for _, verdict in judged["printed"]
    ]
    proved = judged["regret"] + judged["statements"]
    failed = [(section, verdict) for section, verdict in proved if not verdict.holds]
    new = [_linked(section, verdict) for section, verdict in judged["beyond"] if verdict.holds]
    sentences = []
    if met:
        sentences.append(f"**Reproduced:** {listed(met)}, within |z| < 4;")
    if proved:
        sentences.append(f"{len(proved) - len(failed)} of {len(proved)} verdicts on its theorems.")
    if failed:
        named = listed([_linked(section, verdict) for section, verdict in failed])
        sentences.append(f"**Refuted**, by games in which it fails: {named}.")
    if new:
        sentences.append(f"**New:** {'; '.join(new)}.")
    return " ".join(sentences)


def _linked(section: Section, verdict: Verdict) -> str:
    """A verdict's statement up to its colon, where it has a number."""
    numbered = verdict.statement.startswith("Proposition")
    what = verdict.statement.partition(":")[0] if numbered else verdict.statement
    return f"[{what}](#{section.name})"


def _reason(recipe: Recipe) -> str:
    return f"**{recipe.title}** has not been run yet: `python -m studies reproduce {recipe.name}`."
