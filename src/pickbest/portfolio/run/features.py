"""Features of problems, computed before arms are picked: what a file says, or a function finds."""

import contextlib
import gzip
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pickbest.core import unknown_name
from pickbest.core.features import Feature, Features, by_name

FeatureFunction = Callable[[Any], Features]
# (the features, the seconds that they took); None where they failed or took too long: a problem
# whose features are not known is solved all the same.
TimedFeatures = Callable[[Any], tuple[Features | None, float]]
# How much of a round's deadline they may take.
SHARE_OF_DEADLINE = 0.1
# How much of a file is read.
BEGINNING = 65_536
LOGIC = re.compile(rb"\(\s*set-logic\s+([A-Za-z0-9_]{1,40})")
SIZES = re.compile(rb"(?m)^p\s+cnf\s+(\d{1,18})\s+(\d{1,18})")


def of_file(problem: Any) -> dict[str, Feature]:
    """What the path, the length and the beginning of a file say; .gz is unpacked.

    family: its name up to the first digit. logic: of an SMT-LIB script. variables, clauses: of a
    formula in DIMACS.
    """
    path = Path(str(problem))
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        beginning = file.read(BEGINNING)
    logic, sizes = LOGIC.search(beginning), SIZES.search(beginning)
    return {
        "folder": path.resolve().parent.name,
        "family": re.split(r"\d", path.name.split(".")[0], maxsplit=1)[0].strip("-_ "),
        "bytes": path.stat().st_size,
        "logic": logic[1].decode("ascii") if logic else None,
        "variables": int(sizes[1]) if sizes else None,
        "clauses": int(sizes[2]) if sizes else None,
    }


def as_feature_function(
    given: str | FeatureFunction | None, deadline: float
) -> TimedFeatures | None:
    """What computes features: "file", or a function of the problem."""
    if given is None:
        return None
    if not callable(given) and given != "file":
        raise unknown_name("kind of features", given, ("file",))
    function = given if callable(given) else of_file

    def timed(problem: Any) -> tuple[Features | None, float]:
        """A function that goes on beyond its time is not waited for."""
        started = time.monotonic()
        found: list[Features] = []

        def compute() -> None:
            with contextlib.suppress(Exception):  # of the user's, on any problem: anything
                found.append(by_name(function(problem)))

        thread = threading.Thread(target=compute, name="pickbest-features", daemon=True)
        thread.start()
        thread.join(SHARE_OF_DEADLINE * deadline)
        return (found[0] if found else None), time.monotonic() - started

    return timed
