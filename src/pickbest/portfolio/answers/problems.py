"""Problem files: what their names say, and what is in them, packed or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

from pickbest.core import PickbestError

_PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# A packed file may unpack to anything; a problem of this size takes minutes to read here.
LONGEST = 2 * 1024**3


def suffix_of(problem: Any) -> str:
    """What a problem's name ends in, without how it is packed; "" for what has no name.

    >>> suffix_of("queries/q1.smt2.xz")
    '.smt2'
    """
    if not isinstance(problem, str | Path):
        return ""
    path = Path(problem)
    return Path(path.stem if path.suffix.lower() in _PACKED else path).suffix.lower()


def read_problem(path: str | Path) -> bytes:
    """What is in a problem file, unpacked where its name says that it is packed."""
    path = Path(path)
    opener: Callable[..., IO[bytes]] = cast(Any, _PACKED.get(path.suffix.lower(), open))
    try:
        with opener(path, "rb") as file:
            content: bytes = file.read(LONGEST + 1)
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PickbestError(f"{path}: cannot be read ({reason})") from error
    if len(content) > LONGEST:
        raise PickbestError(f"{path}: larger than {LONGEST / 1024**3:g} GB")
    return content
