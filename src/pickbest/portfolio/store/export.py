"""Journals as plain files: JSON lines that any tool can read, written whole or not at all."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError
from pickbest.core.codec import encode, parsed
from pickbest.core.savefile import write_atomically
from pickbest.portfolio.store.protocol import Entry
from pickbest.portfolio.store.records import Record, decode_record, kind_of

FORMAT, VERSION = "pickbest-journal", 1


def export_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """A header, then one record a line."""
    yield json.dumps({"format": FORMAT, "version": VERSION})
    for entry in entries:
        yield encode({"kind": kind_of(entry.record), "record": entry.record})


def export_file(entries: Iterable[Entry], path: Path) -> None:
    """Write a journal to a file."""
    content = "".join(line + "\n" for line in export_lines(entries))
    try:
        write_atomically(path, content.encode())
    except OSError as error:
        raise PickbestError(f"{path}: cannot be written ({error.strerror})") from error


def read_export(path: Path) -> list[Record]:
    """The records of a file that `export_file` wrote, checked line by line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise PickbestError(f"{path}: cannot be read ({error})") from error
    if lines[-1] == "":
        lines.pop()
    header = _parsed(path, 1, lines[0] if lines else "")
    if header.get("format") != FORMAT:
        raise PickbestError(f"{path}: not a {FORMAT} file, its format is {header.get('format')!r}")
    version = header.get("version")
    if version != VERSION or isinstance(version, bool):
        raise PickbestError(
            f"{path}: written by a newer pickbest (file version {version}, this one reads up to "
            f"{VERSION}); upgrade with pip install --upgrade pickbest"
        )
    records = []
    for number, line in enumerate(lines[1:], 2):
        content = _parsed(path, number, line)
        try:
            records.append(decode_record(str(content["kind"]), json.dumps(content["record"])))
        except (KeyError, PickbestError) as error:
            raise PickbestError(f"{path}: line {number} is not a record ({error})") from error
    return records


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        content = parsed(line)
    except ValueError as error:
        raise PickbestError(f"{path}: line {number} is not JSON") from error
    if not isinstance(content, dict):
        raise PickbestError(f"{path}: line {number} is not a record")
    return content
