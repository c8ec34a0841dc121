"""Saved state: a versioned header and named arrays, as JSON or npz, checked and atomic."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pickbest.core import PickbestError

Arrays = dict[str, NDArray[Any]]
SUFFIXES = (".json", ".npz")


def write(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write header and arrays; the file appears whole, or stays as it was."""
    path = _checked(path)
    header = {**header, "checksum": _checksum(header, arrays)}
    if path.suffix == ".npz":
        buffer = io.BytesIO()
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez(buffer, **{"header": text, **arrays})  # type: ignore[arg-type]
        write_atomically(path, buffer.getvalue())
        return
    packed = {
        name: {"dtype": array.dtype.str, "shape": array.shape, "values": array.ravel().tolist()}
        for name, array in arrays.items()
    }
    write_atomically(path, (json.dumps({**header, "arrays": packed}) + "\n").encode())


def read(path: str | Path, kind: str, newest: int) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file written by `write`, checked for damage and version."""
    path = _checked(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    header, arrays = (_parse_npz if path.suffix == ".npz" else _parse_json)(path, content)
    if header.get("format") != kind:
        raise PickbestError(f"{path}: not a {kind} file, its format is {header.get('format')!r}")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise damaged(path, f"its version is {version!r}")
    if version > newest:
        raise PickbestError(
            f"{path}: written by a newer pickbest (file version {version}, this one reads up to "
            f"{newest}); upgrade with pip install --upgrade pickbest"
        )
    checksum = header.pop("checksum", None)
    if checksum != _checksum(header, arrays):
        raise damaged(path, "its checksum does not match")
    return header, arrays


def damaged(path: str | Path, reason: str) -> PickbestError:
    """The error for a file that cannot be trusted."""
    return PickbestError(f"{path}: the file is damaged ({reason}); restore it from a copy")


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target, sync, then rename: a crash leaves the old file or the new one."""
    # Opened plainly, not with tempfile, so that the file gets the user's usual permissions.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _checked(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PickbestError(f"{path}: a save file must end in .json or .npz")
    return path


def _parse_json(path: Path, content: bytes) -> tuple[dict[str, Any], Arrays]:
    try:
        header = json.loads(content)
        arrays = {
            name: np.array(packed["values"], np.dtype(packed["dtype"])).reshape(packed["shape"])
            for name, packed in header.pop("arrays").items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise damaged(path, f"{error}") from error
    return header, arrays


def _parse_npz(path: Path, content: bytes) -> tuple[dict[str, Any], Arrays]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        header = json.loads(arrays.pop("header").tobytes())
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise damaged(path, f"{error}") from error
    return header, arrays


def _checksum(header: dict[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
