"""A simulation in a few lines, for people: as text, HTML or LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from pickbest.simulation.statistics import Estimate

RIVALS = {
    "best_arm": "best arm", "best_subset": "best subset", "greedy": "greedy subset", "top": "top B",
}  # fmt: skip
_OF_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@dataclass(frozen=True)
class LearnerSummary:
    """paid: mean cost of a round (or reward); regret: over all rounds, by comparator."""

    name: str
    budget: int
    paid: Estimate
    regret: dict[str, Estimate]


@dataclass(frozen=True, repr=False)
class Summary:
    """What each learner paid and regrets, with confidence intervals of the means.

    shows: "cost" or "reward".
    """

    title: str
    shows: str
    confidence: float
    learners: tuple[LearnerSummary, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings of a table."""
        regrets = (f"regret to {RIVALS[rival]}" for rival in self._rivals)
        return ("learner", "B", f"mean {self.shows}", *regrets)

    @property
    def _rivals(self) -> tuple[str, ...]:
        return tuple(self.learners[0].regret)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of a table, one row per learner."""
        return [
            (row.name, str(row.budget), str(row.paid), *map(str, row.regret.values()))
            for row in self.learners
        ]

    @property
    def note(self) -> str:
        """What ± means."""
        return f"±: {self.confidence:.0%} confidence interval of the mean over replicates"

    def __repr__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(_padded, range(len(line)), line, widths)) for line in lines)
        return "\n".join([self.title, *(line.rstrip() for line in aligned), self.note])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return (
            f"<table><caption>{escape(self.title)}; {escape(self.note)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def to_latex(self) -> str:
        """A tabular with the rules of the package booktabs; the best of each column in bold."""
        best = self._best_cells()
        cells = [list(map(_latex, row)) for row in self.rows]
        for row, column in best:
            cells[row][column] = rf"\textbf{{{cells[row][column]}}}"
        lines = [" & ".join(line) + r" \\" for line in (map(_latex, self.columns), *cells)]
        note = " ".join(f"{self.title}; {self.note}".split())
        begin = rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}"
        top = [f"% {note}", begin, r"\toprule", lines[0], r"\midrule"]
        return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}"])

    def _best_cells(self) -> list[tuple[int, int]]:
        """(row, column) of the best mean of each column; nothing where there is one row."""
        if len(self.learners) < 2:
            return []
        sign = 1.0 if self.shows == "cost" else -1.0
        columns = [[sign * row.paid.mean for row in self.learners]]
        columns += [[row.regret[rival].mean for row in self.learners] for rival in self._rivals]
        return [(means.index(min(means)), place) for place, means in enumerate(columns, start=2)]


def _padded(place: int, cell: str, width: int) -> str:
    return cell.rjust(width) if place else cell.ljust(width)


def _latex(cell: str) -> str:
    quoted = re.sub(r"[\\~^&%$#_{}]", lambda each: _OF_LATEX.get(each[0], rf"\{each[0]}"), cell)
    return re.sub(r"(?<![\w.])-(?=[\d.])", "$-$", quoted).replace("±", r"$\pm$")
