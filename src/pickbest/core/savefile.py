"""Saved state: a versioned header and named arrays as npz, checked and atomic."""

import contextlib
import hashlib
import io
import json
import math
import os
import secrets
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pickbest.core.codec import parsed
from pickbest.core.errors import PickbestError

Arrays = dict[str, NDArray[Any]]
SUFFIX = ".npz"
# A file that holds more was not written by us; a small one may unfold to anything.
MOST_BYTES = 64_000_000
MOST_RESAMPLES = 1_000_000


def write(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write header and arrays; the file appears whole, or stays as it was."""
    header = {**header, "checksum": checksum(header, arrays)}
    write_atomically(_checked(path), to_npz(header, arrays))


def read(path: str | Path, kind: str, newest: int) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file written by `write`, checked for damage and version."""
    path = _checked(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PickbestError(f"{path}: a save file has at most {MOST_BYTES:,} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        header, arrays = from_npz(content)
    except PickbestError as error:
        raise damaged(path, str(error)) from error
    if header.get("format") != kind:
        raise PickbestError(f"{path}: not a {kind} file, its format is {header.get('format')!r}")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise damaged(path, f"its version is {version!r}")
    if version > newest:
        raise PickbestError(
            f"{path}: written by a newer pickbest (file version {version}, this one reads up to "
            f"{newest}); upgrade with pip install --upgrade pickbest"
        )
    if header.pop("checksum", None) != checksum(header, arrays):
        raise damaged(path, "its checksum does not match")
    return header, arrays


def check_sizes(description: Any, arrays: Arrays) -> None:
    """Refuse a description whose numbers ask for more room than its file has filled.

    A saved learner's state is in the file, so none of its sizes can be far above what is there.
    """
    most = max(1_000, sum(array.size for array in arrays.values()))
    if isinstance(description, dict):
        for name, value in description.items():
            most_here = MOST_RESAMPLES if name == "resamples" else most
            if isinstance(value, int) and abs(value) > most_here:
                raise PickbestError(f"{name} must be at most {most_here} in this file, got {value}")
            check_sizes(value, arrays)
    elif isinstance(description, list) and description and isinstance(description[0], dict | list):
        for value in description:
            check_sizes(value, arrays)


def damaged(path: str | Path, reason: str) -> PickbestError:
    """The error for a file that cannot be trusted."""
    return PickbestError(f"{path}: the file is damaged ({reason}); restore it from a copy")


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write next to the target, sync, then rename: a crash leaves the old file or the new one.

    mode: permissions, less what the user's umask takes away.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        with open(os.open(temporary, flags, mode), "wb") as file:
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
    if path.suffix != SUFFIX:
        raise PickbestError(f"{path}: a save file must end in {SUFFIX}")
    return path


def to_npz(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Header and arrays as the content of an npz file."""
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(buffer, **{"header": text, **arrays})  # type: ignore[arg-type]
    return buffer.getvalue()


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Whatever libraries raise over content that is not what it should be is an error of ours."""
    try:
        yield
    except PickbestError:
        raise
    except Exception as error:
        raise PickbestError(f"{error}") from error


@_readable()
def from_npz(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """What `to_npz` was given; nothing is read that would take more room than MOST_BYTES."""
    arrays = arrays_from_npz(content, MOST_BYTES)
    header = parsed(arrays.pop("header").tobytes())
    if not isinstance(header, dict):
        raise PickbestError("its header is not a table")
    return header, arrays


@_readable()
def arrays_from_npz(content: bytes, most: int) -> Arrays:
    """The arrays of an npz file that has at most `most` bytes when it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > most:
            raise PickbestError(f"it holds more than {most:,} bytes")
        return {
            member.filename.removesuffix(".npy"): array_from_npy(archive.read(member))
            for member in archive.infolist()
        }


@_readable()
def array_from_npy(content: bytes) -> NDArray[Any]:
    """The numbers of an npy file; its shape must be that of the bytes that follow."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise PickbestError(f"an array has the unknown format {version}")
    shape, fortran, dtype = read_header(stream, max_header_size=10_000)
    body = content[stream.tell() :]
    if dtype.kind not in "biuf" or math.prod(shape) * dtype.itemsize != len(body):
        raise PickbestError(f"an array of shape {shape} and type {dtype} does not fit its bytes")
    flat: NDArray[Any] = np.frombuffer(body, dtype).copy()
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def checksum(header: dict[str, Any], arrays: Arrays) -> str:
    """A digest of header and arrays: their values, types and shapes."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
