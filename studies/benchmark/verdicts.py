"""Sentences that say what the cells show, computed from them."""

from collections.abc import Sequence

from pickbest.report.document import Verdict
from studies.benchmark.comparisons import (
    SIGNIFICANT,
    complete_learners,
    contrasts,
    mean_share_intervals,
)
from studies.benchmark.lineup import AUTO, YARDSTICK
from studies.benchmark.report_tables import judged, scope
from studies.benchmark.shares import Cell

# What `auto` is meant to gain at least, in multiples of the yardstick's share.
GAIN = 1.5


def verdicts(cells: Sequence[Cell]) -> list[Verdict]:
    """Who leads, and whether `auto` keeps its promises where it plays."""
    shares = {label: share.mean for label, share in mean_share_intervals(judged(cells)).items()}
    found = []
    if shares:
        best = max(shares, key=shares.__getitem__)
        text = f"{best} closes {shares[best]:.3f} of the gap"
        if YARDSTICK in shares and best != YARDSTICK:
            text += f", {YARDSTICK} {shares[YARDSTICK]:.3f}"
        found.append(Verdict(f"Largest mean share of the gap over {scope(cells)}", f"{text}."))
    if AUTO in complete_learners(cells):
        found += _promises(cells, shares)
    return found


def _promises(cells: Sequence[Cell], shares: dict[str, float]) -> list[Verdict]:
    found = []
    compared = contrasts(cells, AUTO, YARDSTICK)
    worse = [each for each in compared if each.worse]
    if compared:
        places = ", ".join(f"{each.place.name} B = {each.budget}" for each in worse[:6])
        text = f"Worse in {len(worse)} of {len(compared)} cells (z < −{SIGNIFICANT:.0f})"
        found.append(
            Verdict(
                f"{AUTO} is nowhere significantly worse than {YARDSTICK}",
                f"{text}: {places}." if worse else f"{text}.",
                not worse,
            )
        )
    if AUTO in shares and YARDSTICK in shares:
        ratio = shares[AUTO] / shares[YARDSTICK]
        found.append(
            Verdict(
                f"{AUTO} closes at least {GAIN} times as much of the gap as {YARDSTICK}",
                f"{shares[AUTO]:.3f} against {shares[YARDSTICK]:.3f}: {ratio:.2f} times.",
                shares[AUTO] >= GAIN * shares[YARDSTICK],
            )
        )
    others = {label: share for label, share in shares.items() if label != AUTO}
    if AUTO in shares and others:
        rival = max(others, key=others.__getitem__)
        found.append(
            Verdict(
                f"{AUTO} closes more of the gap than every other learner",
                f"{shares[AUTO]:.3f} against {others[rival]:.3f} of {rival}.",
                shares[AUTO] > others[rival],
            )
        )
    return found
