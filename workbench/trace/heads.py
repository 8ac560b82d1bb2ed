"""The first line of a trace, and what to say about a file that has none."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from workbench.errors import TraceFormatError
from workbench.trace.checking import first_problem
from workbench.trace.entries import FORMAT, TraceLine
from workbench.trace.notices import Notices
from workbench.trace.sources import Source
from workbench.trace.values import loads
from workbench.trace.versions import Reader, reader_of

BOM = b"\xef\xbb\xbf"

_MAX_HEADER = 64 * 1024**2
_MAX_GUESS = 8 * 1024**2
_NOT_TRACE = 'its first line must be the trace\'s header, {"line":"trace", …}'
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def read_first_line(source: Source, notices: Notices) -> tuple[TraceLine, int, Reader]:
    """The header, where the trace begins in the file (3 after a byte order mark), and what reads
    its lines.

    Raises:
        TraceVersionError: the version is newer than this package reads, or is none.
        TraceFormatError: the file is no trace; the text says what it seems to be.
    """
    beginning = source.read(0, min(source.size, 4096))
    begin = len(BOM) if beginning.startswith(BOM) else 0
    if begin:
        notices.add("the file begins with a byte order mark; it is ignored", 1)
    if not beginning[begin:].strip():
        raise _bad(source, "the file is empty; nothing was recorded in it")
    if beginning.startswith(_WIDE):
        raise _bad(source, "the file is UTF-16 text, and a trace is UTF-8; save it as UTF-8")
    if b"\0" in beginning:
        raise _bad(source, "this is a binary file, not a trace")
    first = _first_line(source, begin)
    header, reader = _header(source, first)
    return header, begin, reader


def _bad(source: Source, message: str, line: int | None = None) -> TraceFormatError:
    return TraceFormatError(message, file=source.path, line=line)


def _first_line(source: Source, begin: int) -> bytes:
    size = min(source.size - begin, 64 * 1024)
    while True:
        data = source.read(begin, size)
        cut = data.find(b"\n")
        if cut >= 0:
            return data[: cut + 1]
        if size >= min(source.size - begin, _MAX_HEADER):
            return data
        size = min(source.size - begin, size * 8)


def _header(source: Source, first: bytes) -> tuple[TraceLine, Reader]:
    try:
        data = loads(first)
    except TraceFormatError as error:
        raise _bad(source, _guess(source, first), 1) from error
    if not isinstance(data, dict) or data.get("line") != "trace":
        raise _bad(source, _what_json(data), 1)
    if data.get("format") != FORMAT:
        raise _bad(source, f"the header's format is {data.get('format')!r}, not {FORMAT!r}", 1)
    reader = reader_of(data.get("version"), source.path)
    try:
        return TraceLine.model_validate(reader.loads(first)), reader
    except TraceFormatError as error:
        raise _bad(source, f"the header is not valid: {error}", 1) from error
    except ValidationError as error:
        raise _bad(source, f"the header is not valid: {first_problem(error)}", 1) from error


def _guess(source: Source, first: bytes) -> str:
    """What a file is whose first line is no JSON."""
    if _wrongly_encoded(first):
        return "this is a binary file, or text that is not UTF-8; a trace is JSON Lines in UTF-8"
    if first.lstrip().startswith(b'{"line":"trace"') and not first.endswith(b"\n"):
        return (
            "the file holds only a part of its first line: the recording died as it began, and "
            "there is nothing to read"
        )
    if source.size <= _MAX_GUESS:
        try:
            return _what_json(loads(source.read(0, source.size).removeprefix(BOM)))
        except TraceFormatError:
            pass
    shown = first.decode(errors="ignore")[:60].strip()
    return f"not JSON, so not a trace: it begins with {shown!r}; {_NOT_TRACE}"


def _wrongly_encoded(first: bytes) -> bool:
    """Whether a line is no UTF-8, other than by ending inside a character."""
    try:
        first.decode()
    except UnicodeDecodeError as error:
        return error.reason != "unexpected end of data"
    return False


def _what_json(data: Any) -> str:
    if isinstance(data, dict) and "cells" in data and "nbformat" in data:
        return "this is a Jupyter notebook, not a trace; open it in Jupyter"
    if isinstance(data, dict) and data.get("line") is not None:
        return f"the first line is a {str(data['line'])[:40]!r} line; {_NOT_TRACE}. Was it lost?"
    if _is_agentloom(data):
        return (
            "this is an AgentLoom recording, and its name says that it is a trace: give it a name "
            "that ends in .json, and it opens"
        )
    return f"this is JSON, but no trace: {_NOT_TRACE}"


def _is_agentloom(data: Any) -> bool:
    """A map of steps, each with a reply or a list of them."""
    if not isinstance(data, dict):
        return False
    steps = [value for key, value in data.items() if not key.startswith("_")]
    turns = [turn for step in steps for turn in (step if isinstance(step, list) else [step])]
    known = {"content", "tool_calls", "usage", "embeddings", "fault"}
    return bool(turns) and all(isinstance(turn, dict) and known & set(turn) for turn in turns)
