"""What computes the features of a problem, and how long it may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.features import Features, by_name
from pickbest.portfolio.features.dimacs import dimacs
from pickbest.portfolio.features.smtlib import smtlib

FeatureFunction = Callable[[Any], Features]
BUILT_IN = {"dimacs": dimacs, "smtlib": smtlib}
# By default, of the deadline of a round.
SHARE_OF_DEADLINE, MOST_SECONDS = 0.02, 10.0


@dataclass(frozen=True)
class Timed:
    """Features within a time limit.

    compute: of the problem and of the moment (monotonic) until which it should take.
    """

    compute: Callable[[Any, float], Features]
    seconds: float

    def of(self, problem: Any) -> tuple[Features | None, float]:
        """(the features, the seconds that they took); None where they failed or took too long.

        A problem whose features are not known is solved all the same. A function that goes on
        beyond its time is not waited for.
        """
        started = time.monotonic()
        found: list[Features] = []

        def compute() -> None:
            try:
                found.append(by_name(self.compute(problem, started + self.seconds)))
            except Exception:  # a function of the user's, on any problem: it may raise anything
                found.clear()

        thread = threading.Thread(target=compute, name="pickbest-features", daemon=True)
        thread.start()
        # Built-in ones end by themselves shortly after their time.
        thread.join(self.seconds + 0.5)
        return (found[0] if found else None), time.monotonic() - started


def as_feature_function(
    given: str | FeatureFunction | None, deadline: float, seconds: float | None = None
) -> Timed | None:
    """What computes features: a built-in name (for problems that are files), or a function.

    seconds: how long it may take; None: 2% of the deadline, 10 s at most.
    """
    if given is None:
        return None
    limit = min(SHARE_OF_DEADLINE * deadline, MOST_SECONDS) if seconds is None else seconds
    if not 0.0 < limit < deadline:
        raise PickbestError(
            f"features_seconds must be above 0 and below the deadline of {deadline} s, got {limit}"
        )
    if callable(given):
        function = given
        return Timed(lambda problem, _: function(problem), limit)
    if given not in BUILT_IN:
        raise unknown_name("kind of features", given, BUILT_IN)
    read = BUILT_IN[given]
    return Timed(lambda problem, until: read(Path(str(problem)), until), limit)
