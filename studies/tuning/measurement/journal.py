"""The journal of a measurement: one JSON line for each evaluation, and one measurer at a time."""

import fcntl
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from pickbest.core import PickbestError
from pickbest.core.savefile import damaged
from studies.tuning.space import Point

FORMAT = "pickbest-measure"
SYNC_SECONDS = 1.0


@dataclass(frozen=True)
class Record:
    """One evaluation; a point of None: the optimizer itself failed."""

    point: Point | None
    loss: float | None
    reason: str = ""
    seconds: float = 0.0


Records = dict[str, dict[int, Record]]
"""unit → call → what came out."""


@dataclass
class Journal:
    """Appends evaluations to a file and remembers them; opened by `open_journal`."""

    path: Path
    file: IO[bytes]
    header: dict[str, Any]
    records: Records = field(default_factory=dict)
    synced: float = 0.0

    def append(self, unit: str, call: int, record: Record) -> None:
        """Remember an evaluation: killed or not, it is kept; a power cut may cost some seconds."""
        self.records.setdefault(unit, {})[call] = record
        line = {"unit": unit, "call": call, "point": record.point, "loss": record.loss}
        if record.reason:
            line["reason"] = record.reason
        self._write({**line, "seconds": round(record.seconds, 4)})

    def restart(self, unit: str) -> None:
        """Forget the evaluations of a unit."""
        self.records.pop(unit, None)
        self._write({"restart": unit})

    def sync(self) -> None:
        """Put everything on disk now."""
        os.fsync(self.file.fileno())
        self.synced = time.monotonic()

    def close(self) -> None:
        """Sync, and let others measure here."""
        self.sync()
        self.file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line).encode() + b"\n")
        self.file.flush()
        if time.monotonic() - self.synced > SYNC_SECONDS:
            self.sync()


def open_journal(folder: Path, fixed: dict[str, Any], checksums: dict[str, str]) -> Journal:
    """Begin a journal in the folder, or go on with the one that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "journal.jsonl"
    file = path.open("a+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise PickbestError(f"{path}: another process is measuring into this folder") from error
    try:
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        # What a crash tore was never counted on.
        file.truncate(len(whole))
        header, records = _parse(path, whole)
        _check_same(path, header, fixed, checksums)
        journal = Journal(path, file, header, records)
        merged = _merged(header, fixed, checksums)
        if merged != header:
            journal.header = merged
            journal._write(merged)
            journal.sync()
    except BaseException:
        file.close()
        raise
    return journal


def read_journal(folder: Path, fixed: dict[str, Any], checksums: dict[str, str]) -> Records:
    """The records of a journal of these settings, also while another process writes it."""
    path = folder / "journal.jsonl"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    header, records = _parse(path, content[: content.rfind(b"\n") + 1])
    _check_same(path, header, fixed, checksums)
    return records


def _parse(path: Path, content: bytes) -> tuple[dict[str, Any], Records]:
    header: dict[str, Any] = {}
    records: Records = {}
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            line = json.loads(text)
            if "format" in line:
                header = line
            elif "restart" in line:
                records.pop(line["restart"], None)
            else:
                records.setdefault(line["unit"], {})[line["call"]] = Record(
                    line["point"], line["loss"], line.get("reason", ""), line["seconds"]
                )
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(path, f"line {number}: {error}") from error
    if content and header.get("format") != FORMAT:
        raise PickbestError(f"{path}: not the journal of a measurement")
    return header, records


def _merged(
    header: dict[str, Any], fixed: dict[str, Any], checksums: dict[str, str]
) -> dict[str, Any]:
    old = header.get("fixed", {})
    together = {**old.get("versions", {}), **fixed["versions"]}
    return {
        "format": FORMAT,
        "fixed": {**fixed, "versions": dict(sorted(together.items()))},
        "checksums": {**header.get("checksums", {}), **checksums},
    }


def _check_same(
    path: Path, header: dict[str, Any], fixed: dict[str, Any], checksums: dict[str, str]
) -> None:
    if not header:
        return
    before = {**header["fixed"], **header["fixed"]["versions"]}
    now = {**fixed, **fixed["versions"]}
    del before["versions"], now["versions"]
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            raise PickbestError(
                f"{path}: was measured with {name} {before[name]}, and now it is {now[name]}; "
                "go on with the same, or measure into another folder"
            )
    for name in sorted(header["checksums"].keys() & checksums.keys()):
        if header["checksums"][name] != checksums[name]:
            kind = "objective" if ":" in name else "data set"
            raise PickbestError(
                f"{path}: the {kind} {name!r} has changed since it was measured; "
                "measure into another folder"
            )
