"""Features of problems, computed before arms are picked: cheap built-in ones, or a function's."""

import contextlib
import gzip
import re
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.features import Feature, Features, by_name

FeatureFunction = Callable[[Any], Features]
# (the features, the seconds that they took); None where they failed or took too long: a problem
# whose features are not known is solved all the same.
TimedFeatures = Callable[[Any], tuple[Features | None, float]]
# By default, of the deadline of a round.
SHARE_OF_DEADLINE, MOST_SECONDS = 0.02, 10.0
# Whatever a file holds, reading ends.
MOST_BYTES, CHUNK = 8_000_000, 65_536
# What is counted: commands, binders, and operators that tell theories apart.
COUNTED = """
    assert check-sat declare-fun declare-const declare-datatypes define-fun push forall exists let
    ite and or not => = distinct + - * / div mod <= < >= > select store bvadd bvmul bvudiv bvshl
    concat extract bvult bvslt fp.add fp.mul fp.div to_fp str.++ str.len re.* Int Real Bool Array
"""
SYMBOL = re.compile(rb"[A-Za-z0-9_.+*/<>=-]{1,40}")
LOGIC = re.compile(rb"\(\s*set-logic\s+([A-Za-z0-9_]{1,40})")


def smtlib(path: Path, until: float) -> dict[str, Feature]:
    """Of an SMT-LIB script: its logic, and shares of all symbols that were read until then."""
    counts: Counter[bytes] = Counter()
    logic, opened, symbols = None, 0, 0
    for number, chunk in enumerate(chunks(path, until)):
        if number == 0 and (found := LOGIC.search(chunk)):
            logic = found[1].decode("ascii")
        words = SYMBOL.findall(chunk)
        counts.update(words)
        symbols += len(words)
        opened += chunk.count(b"(")
    return {
        **place_of(path),
        "logic": logic,
        "symbols": symbols,
        "different": len(counts),
        "terms_per_symbol": opened / symbols if symbols else None,
        **{
            f"{name} share": counts[name.encode()] / symbols if symbols else None
            for name in COUNTED.split()
        },
    }


def dimacs(path: Path, until: float) -> dict[str, Feature]:
    """Of a CNF: sizes, and shapes of the clauses that were read until then, one per line."""
    variables = clauses = None
    lengths = {"unit": 0, "binary": 0, "ternary": 0, "longer": 0}
    seen = literals = positive = horn = 0
    for line in lines(path, until):
        words = line.split()
        if not words or words[0] == b"c":
            continue
        if words[0] == b"p":
            if len(words) >= 4 and words[2].isdigit() and words[3].isdigit():
                variables, clauses = int(words[2][:18]), int(words[3][:18])
            continue
        if words[0] == b"%":
            break
        clause = [word for word in words if word != b"0"]
        above = sum(not word.startswith(b"-") for word in clause)
        lengths[("longer", "unit", "binary", "ternary")[len(clause) if len(clause) < 4 else 0]] += 1
        seen, literals, positive = seen + 1, literals + len(clause), positive + above
        horn += above <= 1
    shares = {f"{name}_share": number / seen if seen else None for name, number in lengths.items()}
    return {
        **place_of(path),
        "variables": variables,
        "clauses": clauses,
        "clauses_per_variable": clauses / variables if clauses and variables else None,
        "mean_length": literals / seen if seen else None,
        "positive_share": positive / literals if literals else None,
        "horn_share": horn / seen if seen else None,
        **shares,
    }


def chunks(path: Path, until: float) -> Iterator[bytes]:
    """The file's beginning, unpacked if it ends in .gz, until the time (monotonic) has come."""
    packed = path.suffix == ".gz"
    read = 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            while read < MOST_BYTES and time.monotonic() < until:
                chunk = file.read(CHUNK)
                if not chunk:
                    return
                read += len(chunk)
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return


def lines(path: Path, until: float) -> Iterator[bytes]:
    """Its whole lines; what is cut off at the end is left out."""
    rest = b""
    for chunk in chunks(path, until):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if len(rest) < CHUNK:
        yield rest


def place_of(path: Path) -> dict[str, float | str]:
    """What a path says: the folder, the name up to its first digit, and how long the file is."""
    stem = re.split(r"\d", path.name.split(".")[0], maxsplit=1)[0].strip("-_ ")
    return {"folder": path.resolve().parent.name, "family": stem, "bytes": path.stat().st_size}


BUILT_IN = {"dimacs": dimacs, "smtlib": smtlib}


def as_feature_function(
    given: str | FeatureFunction | None, deadline: float, seconds: float | None = None
) -> TimedFeatures | None:
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
    if not callable(given) and given not in BUILT_IN:
        raise unknown_name("kind of features", given, BUILT_IN)

    def timed(problem: Any) -> tuple[Features | None, float]:
        """A function that goes on beyond its time is not waited for."""
        started = time.monotonic()
        found: list[Features] = []

        def compute() -> None:
            with contextlib.suppress(Exception):  # of the user's, on any problem: anything
                told = (
                    given(problem)
                    if callable(given)
                    else BUILT_IN[given](Path(str(problem)), started + limit)
                )
                found.append(by_name(told))

        thread = threading.Thread(target=compute, name="pickbest-features", daemon=True)
        thread.start()
        # Built-in ones end by themselves shortly after their time.
        thread.join(limit + 0.5)
        return (found[0] if found else None), time.monotonic() - started

    return timed
