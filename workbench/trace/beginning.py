"""How a trace begins in its file: where it is written, its first line, that of one more writer."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import TraceVersionError, UsageError
from workbench.trace.entries import EndLine, WriterLine
from workbench.trace.header import TraceLine
from workbench.trace.heads import read_first_line
from workbench.trace.notices import Notices
from workbench.trace.saving import check_replaceable, has_content, partial_path
from workbench.trace.sharing import Packed
from workbench.trace.sources import open_source
from workbench.trace.times import utc_now
from workbench.trace.values import dumps, loads


def beside(path: Path, *, replace: bool) -> Path | None:
    """Where to write what is to replace a trace; None when nothing is there to be replaced."""
    if not has_content(path):
        return None
    check_replaceable(path, replace=replace)
    return partial_path(path)


def first_line(header: TraceLine) -> bytes:
    """The header, with the format and its version also where nobody set them."""
    fields = header.as_dict()
    first = {"line": "trace", "format": header.format, "version": header.version}
    if header.hash is not None:
        fields["hash"] = header.hash.model_dump()
    return Packed({**first, **fields}).json()


def new_writer() -> str:
    """The id of one more writer."""
    return os.urandom(4).hex()


def joined_line(writer: str) -> WriterLine:
    """The line with which one more writer begins."""
    return WriterLine(id=writer, pid=os.getpid(), started_at=utc_now())


def checked_path(path: Path | str) -> Path:
    """Where a trace is to be written. Raises UsageError for what cannot be one."""
    path = Path(path)
    if path.suffix == ".gz":
        raise UsageError(f"{path}: a trace is recorded uncompressed; compress it afterwards")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it, such as run.trace.jsonl")
    return path


def header_to_join(path: Path) -> TraceLine:
    """The header of a trace that is to be gone on with.

    Raises:
        TraceVersionError: it is of an older version of the format: a file has lines of one only.
        TraceError: the file is no trace that can be read.
    """
    notices = Notices()
    header, _, reader = read_first_line(open_source(path, notices), notices)
    if reader.old:
        raise TraceVersionError(
            f"the trace has format version {reader.version}, and a recording goes on in version "
            f"{header.version} only. Write it anew, and go on with that:  "
            "workbench.load(path).trim().save(new_path)",
            file=path,
            line=1,
        )
    return header


def snapshot(end: EndLine) -> EndLine:
    """A line that ends a run as it is now, whatever becomes of the output that it holds."""
    if "output" not in end.model_fields_set:
        return end
    return end.model_copy(update={"output": loads(dumps(end.output))})
