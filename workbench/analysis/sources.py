"""Where traces come from: a trace, a path, a glob, a folder, or several of these."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, Union

from workbench.errors import TraceError, UsageError
from workbench.trace.trace import Trace, load

Source: TypeAlias = Union[Trace, str, Path, Iterable["Source"]]  # noqa: UP007 - it names itself
"""What every function of :mod:`workbench.analysis` takes."""

_ENDINGS = (".trace.jsonl", ".trace.jsonl.gz")


class SkippedTraceWarning(UserWarning):
    """A file that a glob or folder named is no trace that can be read, and was left out."""


def traces(source: Source) -> Iterator[Trace]:
    """The traces that a source names, one at a time, files in the order of their names.

    A file that was named itself must be readable. Among those that a glob or a folder found, one
    that is not gets a :class:`SkippedTraceWarning` with its name and what is wrong, and the rest
    is read.

    Raises:
        TraceError: a file that was named itself is no trace.
        UsageError: a glob or folder finds nothing, or the source is something else.
    """
    if isinstance(source, Trace):
        yield source
    elif isinstance(source, str | Path):
        yield from _named(Path(source))
    elif isinstance(source, Iterable):
        for each in source:
            yield from traces(each)
    else:
        raise UsageError(
            f"{source!r} is no source of traces: give a trace, a path, a glob, a folder, "
            "or several of these"
        )


def _named(path: Path) -> Iterator[Trace]:
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.name.endswith(_ENDINGS))
        if not found:
            raise UsageError(f"{path} holds no trace (no file that ends in .trace.jsonl)")
        yield from _readable(found)
    elif not path.exists() and glob.has_magic(str(path)):
        found = sorted(Path(each) for each in glob.glob(str(path), recursive=True))  # noqa: PTH207 - an absolute pattern
        found = [each for each in found if each.is_file()]
        if not found:
            raise UsageError(f"no file matches {path}")
        yield from _readable(found)
    else:
        yield load(path)


def _readable(paths: Iterable[Path]) -> Iterator[Trace]:
    for path in paths:
        try:
            trace = load(path)
        except (TraceError, OSError) as error:
            text = str(error) if str(path) in str(error) else f"{path}: {error}"
            warnings.warn(f"left out: {text}", SkippedTraceWarning, stacklevel=2)
            continue
        yield trace


def one(source: Source, what: str) -> Trace:
    """The one trace that a source names.

    Raises:
        UsageError: it names none or several.
    """
    found = list(traces(source))
    if len(found) != 1:
        raise UsageError(f"{what} must be one trace, and {source!r} names {len(found)}")
    return found[0]
