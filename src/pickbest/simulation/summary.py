"""A simulation in a few lines, for people: as text or HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from pickbest.simulation.statistics import Estimate

RIVALS = {
    "best_arm": "best arm", "best_subset": "best subset", "greedy": "greedy subset", "top": "top B",
}  # fmt: skip


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


def _padded(place: int, cell: str, width: int) -> str:
    return cell.rjust(width) if place else cell.ljust(width)
