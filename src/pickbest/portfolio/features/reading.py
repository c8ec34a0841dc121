"""Problem files, read up to a size and a moment: whatever they hold, reading ends."""

from __future__ import annotations

import gzip
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 8_000_000
CHUNK = 65_536


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
