"""Figures of a report, drawn from data to PNG and SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pickbest.core.savefile import write_atomically
from pickbest.report import palette, plots
from pickbest.report.document import Figure, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Small enough that text stays readable when a phone shows the figure at its own width.
WIDTH, HEIGHT = 5.8, 3.9
HEROES = ("fpml", "auto")


def draw_all(figures: Iterable[Figure], folder: Path) -> None:
    """Write NAME.png and NAME.svg for every figure."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        for suffix, content in zip(("png", "svg"), render(figure), strict=True):
            write_atomically(folder / f"{figure.name}.{suffix}", content)


def render(figure: Figure) -> tuple[bytes, bytes]:
    """The figure as PNG and as SVG."""
    drawn, axes = plots.new_figure(WIDTH, HEIGHT)
    axes.set_xscale("log" if figure.log_x else "linear")
    axes.set_yscale("log" if figure.log_y else "linear")
    named = [one.look for one in figure.series if one.x and not one.look.startswith("#")]
    colours = {name: colour for name, (colour, _) in palette.styles_of(named).items()}
    # What the figure is about is drawn last, on top of all others.
    for series in sorted(figure.series, key=lambda one: one.look in HEROES):
        if series.x:
            _draw(axes, series, colours.get(series.look, series.look))
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    _tick(axes, figure)
    plots.name_lines(axes)
    return plots.images(drawn, figure.name)


def typeset(label: str) -> str:
    """Powers and OG's index as Matplotlib's mathtext.

    >>> typeset("(1/4)^B T")
    '(1/4)$^{\\\\mathrm{B}}$ T'
    """
    label = re.sub(r"\^([\d.]*\w)", r"$^{\\mathrm{\1}}$", label)
    return label.replace("OG_hybrid", r"OG$_{\mathrm{hybrid}}$")


def _draw(axes: Axes, series: Series, colour: str) -> None:
    """Draw one series."""
    hollow, hero = series.marker == "s", series.look in HEROES
    axes.errorbar(
        series.x,
        series.y,
        yerr=series.spread,
        label=typeset(series.label) or None,
        color=colour,
        linestyle=series.line,
        marker=series.marker or None,
        markersize=6 if hollow else 4.5,
        markerfacecolor="none" if hollow else colour,
        linewidth=2.2 if hero else 1.6,
        zorder=3 if hero else 2,
        elinewidth=0.9,
        capsize=2,
    )


def _tick(axes: Axes, figure: Figure) -> None:
    """Whole numbers where x counts something, and plain numbers instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))
    for axis, log, limits in (
        (axes.xaxis, figure.log_x, axes.get_xlim()),
        (axes.yaxis, figure.log_y, axes.get_ylim()),
    ):
        axis.set_major_formatter(plain)
        if log:
            short = limits[1] / limits[0] < 100
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if short else (1,)))
            axis.set_minor_formatter(NullFormatter())
    if not figure.log_x:
        # Fractions are long: fewer of them fit side by side.
        left, right = axes.get_xlim()
        axes.xaxis.set_major_locator(MaxNLocator(5 if right - left < 2 else "auto", integer=True))
