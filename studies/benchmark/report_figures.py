"""The two plots of the page: shares as a heat map, ranks with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pickbest.core.savefile import write_atomically
from pickbest.report.document import Table
from pickbest.report.plots import GREY, OKABE_ITO, images, new_figure
from studies.benchmark.comparisons import Estimate
from studies.benchmark.lineup import AUTO, YARDSTICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAT_MAP, RANKS = "shares", "ranks"
# Between orange and blue of the palette that colour-blind people can read.
COLOURS = ("#D55E00", "#ffffff", "#0072B2")
MARKED = {YARDSTICK: OKABE_ITO[1], AUTO: OKABE_ITO[0]}


def draw_heat_map(table: Table, folder: Path) -> None:
    """A table of shares, learners by environments, as colours."""
    from matplotlib.colors import LinearSegmentedColormap

    shares = np.array([row[1:] for row in table.rows], dtype=np.float64)
    learners = [str(row[0]) for row in table.rows]
    families = [column.label for column in table.columns[1:]]
    colours = LinearSegmentedColormap.from_list("shares", COLOURS)
    with _drawn(folder, HEAT_MAP, 7.0, 1.9 + 0.22 * len(learners)) as axes:
        axes.grid(False)
        shown = np.clip(shares, -1.0, 1.0)
        image = axes.imshow(shown, cmap=colours, vmin=-1, vmax=1, aspect="auto")
        axes.set_xticks(range(len(families)), families, rotation=90, fontsize=8)
        axes.set_yticks(range(len(learners)), learners, fontsize=8.5)
        axes.figure.colorbar(image, ax=axes, label="share of the gap", shrink=0.8)


def draw_ranks(ranks: Mapping[str, Estimate], folder: Path) -> None:
    """Mean ranks, the best on top, with intervals; full dots are level with the first."""
    ordered = sorted(ranks.items(), key=lambda item: item[1].mean)
    with _drawn(folder, RANKS, 6.4, 1.2 + 0.26 * len(ranks)) as axes:
        for row, (label, rank) in enumerate(ordered):
            colour = MARKED.get(label, GREY)
            axes.plot([rank.low, rank.high], [row, row], color=colour, linewidth=2)
            face = colour if rank.level else "white"
            axes.plot(rank.mean, row, "o", color=colour, markerfacecolor=face, markersize=6)
        axes.set_yticks(range(len(ordered)), [label for label, _ in ordered], fontsize=8.5)
        axes.invert_yaxis()
        axes.set_xlabel("mean rank over environments and budgets (1 is best)")


@contextmanager
def _drawn(folder: Path, name: str, width: float, height: float) -> Iterator[Axes]:
    figure, axes = new_figure(width, height)
    yield axes
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, content in zip(("png", "svg"), images(figure, name), strict=True):
        write_atomically(folder / f"{name}.{suffix}", content)
