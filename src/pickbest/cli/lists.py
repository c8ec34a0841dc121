"""`pickbest learners` and `pickbest environments`: what the catalog knows."""

from __future__ import annotations

from pickbest.cli import tables
from pickbest.cli.options import JsonOption


def learners(as_json: JsonOption = False) -> None:
    """List the learners, their tunings and options."""
    from pickbest.report.summaries import learners_summary

    tables.show(learners_summary(), as_json, tables.learners_table)


def environments(as_json: JsonOption = False) -> None:
    """List the named environments."""
    from pickbest.report.summaries import environments_summary

    tables.show(environments_summary(), as_json, tables.environments_table)
