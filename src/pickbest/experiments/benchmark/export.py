"""All cells as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from pickbest.experiments.benchmark.contrasts import contrasts
from pickbest.experiments.benchmark.lineup import YARDSTICK
from pickbest.experiments.benchmark.shares import Cell, standard_error

COLUMNS = (
    "world", "group", "family", "arms", "rounds", "budget", "learner", "reward", "standard_error",
    "random", "best", "best_arm", "share", "share_standard_error", "z_against_yardstick", "seconds",
)  # fmt: skip


def cells_csv(cells: Sequence[Cell]) -> str:
    """Every cell with all digits."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    against = {
        (each.world.name, each.budget, each.first): each.z
        for label in dict.fromkeys(cell.learner for cell in cells)
        for each in contrasts(cells, label, YARDSTICK)
    }
    for cell in cells:
        world, result = cell.world, cell.result
        has_best = bool(result.best)
        writer.writerow(
            [
                world.name, world.group, world.family, world.environment.n_arms,
                world.environment.rounds, cell.budget, cell.learner, cell.reward,
                cell.standard_error, np.mean(result.random) if has_best else "",
                np.mean(result.best) if has_best else "", np.mean(result.best_arm),
                "" if cell.share is None else cell.share,
                "" if cell.shares is None else standard_error(cell.shares),
                against.get((world.name, cell.budget, cell.learner), ""),
                round(result.seconds, 3),
            ]
        )  # fmt: skip
    return buffer.getvalue()
