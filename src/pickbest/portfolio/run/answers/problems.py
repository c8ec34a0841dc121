"""Problem files: what their names say, and what is in them, packed or not."""

from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from pickbest.core import PickbestError

# Loaded where a problem is packed: that takes longer than to read most of the others.
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
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
    try:
        with _opened(path) as file:
            content: bytes = file.read(LONGEST + 1)
    except Exception as error:  # an OSError, or what the module that unpacks calls it
        reason = getattr(error, "strerror", None) or error
        raise PickbestError(f"{path}: cannot be read ({reason})") from error
    if len(content) > LONGEST:
        raise PickbestError(f"{path}: larger than {LONGEST / 1024**3:g} GB")
    return content


def _opened(path: Path) -> IO[bytes]:
    module = _PACKED.get(path.suffix.lower())
    if module is None:
        return path.open("rb")
    return cast(IO[bytes], import_module(module).open(path, "rb"))
