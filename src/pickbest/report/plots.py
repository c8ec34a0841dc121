"""Plots of simulations and what all plots share, drawn with Matplotlib (extra: plot)."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pickbest.core import MissingExtraError, PickbestError
from pickbest.report.palette import styles_of
from pickbest.simulation.result import Simulation
from pickbest.simulation.summary import RIVALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def need_package(package: str, extra: str, purpose: str) -> None:
    """Say before any work is done that a package is missing, and which extra brings it."""
    if find_spec(package) is None:
        raise MissingExtraError(package, extra, purpose)


def new_figure(width: float = 7.0, height: float = 4.2) -> tuple[Figure, Axes]:
    """A figure with one pair of axes, in the style that all our plots share."""
    need_package("matplotlib", "plot", "a plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    axes = figure.subplots()
    style(axes)
    return figure, axes


def style(axes: Axes) -> None:
    """Light grid, no box."""
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def images(figure: Figure, name: str) -> tuple[bytes, bytes]:
    """A figure as PNG and as SVG, whose text is drawn as outlines (no font is needed).

    Without a date and with names from a fixed salt, the same data give the same files.
    """
    import matplotlib

    png, svg = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(png, format="png", dpi=200, metadata={"Software": "pickbest"})
        # Without a ground of its own, a page may show it on dark.
        figure.savefig(svg, format="svg", metadata={"Date": None}, transparent=True)
    return png.getvalue(), svg.getvalue()


def name_lines(axes: Axes) -> None:
    """Write the names of the lines at their right."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9.5)


def check_plot_path(path: str | Path) -> Path:
    """The file name of a plot: its suffix says the format. Asks for Matplotlib at once."""
    need_package("matplotlib", "plot", "a plot")
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PickbestError(f"{path}: a plot must end in {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise PickbestError(f"{path}: the folder {path.parent} does not exist")
    return path


def plot_regret(
    simulation: Simulation,
    path: str | Path | None = None,
    against: str | None = None,
    budget: int | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Mean regret with 95% bands, one line per learner; see `Simulation.plot`."""
    if path is not None:
        path = check_plot_path(path)
    rival = simulation.matters if against is None else against
    bands = {name: simulation.band(name, against=rival, budget=budget) for name in simulation.runs}
    if axes is None:
        axes = new_figure()[1] if path else _shown_axes()
    figure = axes.get_figure(root=True)
    rounds = np.arange(1, simulation.environment.rounds + 1)
    styles = styles_of(bands)
    for name, band in bands.items():
        colour, line = styles[name]
        axes.plot(rounds, band.mean, color=colour, linestyle=line, label=name)
        if simulation.replicates > 1:
            axes.fill_between(rounds, band.low, band.high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xlabel("round")
    so_far = " so far" if rival == "best_arm" else ""
    axes.set_ylabel(f"regret against the {RIVALS[rival]}{so_far}")
    name_lines(axes)
    if path is not None and figure is not None:
        figure.savefig(path)
    return axes


def _shown_axes() -> Axes:
    """Axes of a figure that pyplot knows: notebooks show it, scripts with plt.show()."""
    need_package("matplotlib", "plot", "a plot")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")
    style(axes)
    return axes
