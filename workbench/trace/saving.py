"""Writing a finished file: beside its place first, then by a rename."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Iterable
from pathlib import Path

from workbench.errors import TraceError, TraceExistsError, TraceWriteError
from workbench.trace.appender import OWNER_ONLY

_WAITS = (0.02, 0.1, 0.4, 1.0)


def partial_path(path: Path) -> Path:
    """A hidden name beside a file, for what is to take its place."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(3).hex()}.partial")


def signature(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file was written or replaced; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def free_beside(path: Path) -> Path:
    """The first of ``NAME-2.trace.jsonl``, ``NAME-3…`` that is not there; now it is, and empty."""
    name, dot, kind = path.name.partition(".")
    number = 2
    while True:
        found = path.with_name(f"{name}-{number}{dot}{kind}")
        try:
            found.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return found


def put_in_place(
    partial: Path,
    path: Path,
    replaces: object = None,
    errors: list[TraceWriteError] | None = None,
) -> Path:
    """Rename, and give the path; on Windows a scanner or reader can hold the old file for a moment.

    Args:
        partial: the new trace.
        path: where it is to be.
        replaces: the :func:`signature` of what it replaces: where that is another one now, the new
            trace is put beside it, and ``errors`` gets an error that says so.

    Raises:
        TraceWriteError: it could not take the place; the text says where it lies.
    """
    if replaces is not None and signature(path) != replaces:
        taken, path = path, free_beside(path)
        if errors is not None:
            errors.append(
                TraceWriteError(
                    f"{taken} was written by somebody else meanwhile and is left as it is; this "
                    f"trace is complete and lies at {path}"
                )
            )
    for wait in (*_WAITS, None):
        try:
            partial.replace(path)
        except OSError as error:
            if wait is None or not isinstance(error, PermissionError):
                raise TraceWriteError(
                    f"{path} could not be replaced ({error}); the new trace is complete "
                    f"and lies at {partial}"
                ) from error
            time.sleep(wait)
        else:
            break
    return path


def exists(path: Path) -> TraceExistsError:
    """The error for a path that holds a trace already."""
    return TraceExistsError(
        f"{path} exists already; nothing was changed. "
        "Choose another path, or pass replace=True to write over it"
    )


def make_folder(path: Path) -> None:
    """Make the folder that a file is to be in.

    Raises:
        TraceWriteError: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> TraceWriteError:
    """The error for a path that cannot be written."""
    return TraceWriteError(f"{path}: cannot be written ({error}); choose another path")


def check_replaceable(path: Path, *, replace: bool) -> None:
    """Raise TraceExistsError unless what is there is a trace, and may be replaced."""
    from workbench.trace.trace import read_header

    try:
        read_header(path)
    except TraceError as error:
        raise TraceExistsError(
            f"{path} exists and is no trace that can be read, so it is never overwritten "
            f"({error}). Move it away, or choose another path"
        ) from error
    if not replace:
        raise exists(path)


def has_content(path: Path) -> bool:
    """Whether there is a file with something in it."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def save_bytes(path: Path, blocks: Iterable[bytes], *, replace: bool) -> Path:
    """Write a whole trace file, readable by its owner only; to ``.gz`` compressed.

    Raises:
        TraceExistsError: the file exists, and ``replace`` was not given, or it is no trace.
        TraceWriteError: it cannot be written; nothing is left of the attempt.
    """
    if has_content(path):
        check_replaceable(path, replace=replace)
    partial = partial_path(path)
    make_folder(path)
    try:
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(fd, "wb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    for block in blocks:
                        packed.write(block)
            else:
                file.writelines(blocks)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, TraceError):
            raise unwritable(path, error) from error
        raise
    put_in_place(partial, path)
    return path
