"""Opening a recording: which files are some, and the lines of the trace that one stands for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from workbench.errors import TraceFormatError
from workbench.trace.byhand.checking import read_document
from workbench.trace.byhand.jsontext import parse_json
from workbench.trace.byhand.lines import trace_lines
from workbench.trace.byhand.places import Document
from workbench.trace.byhand.yamltext import parse_yaml
from workbench.trace.sources import BY_HAND

MAX_JSON_BYTES = 64 * 1024**2
"""A JSON recording may have that many bytes: it is held in memory."""
MAX_YAML_BYTES = 8 * 1024**2
"""A YAML recording may have that many bytes: YAML is slow to read."""

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_TRACE = re.compile(rb'\s*\{\s*"line"\s*:\s*"')


def seems_recording(path: Path, beginning: bytes) -> bool:
    """Whether a file is to be read as a recording: by its name, unless a trace's header is in it.

    Args:
        path: the file.
        beginning: its first few thousand bytes.
    """
    if path.suffix.lower() not in BY_HAND:
        return False
    return _TRACE.match(beginning.removeprefix(_BOM)) is None


def check_size(path: Path, size: int) -> None:
    """Refuse a file that is too large to be held in memory, before it is read.

    Raises:
        TraceFormatError: it is.
    """
    limit = MAX_JSON_BYTES if path.suffix.lower() == ".json" else MAX_YAML_BYTES
    if size > limit:
        raise TraceFormatError(
            f"it has {size:,} bytes, and a recording of this kind may have {limit:,}; "
            "a trace (NAME.trace.jsonl) may be as large as you like",
            file=path,
        )


def read_recording(path: Path, data: bytes) -> bytes:
    """A recording as the lines of a trace.

    Raises:
        MissingExtraError: it is YAML, and PyYAML is not installed.
        TraceVersionError: its ``_version`` is not 2.
        TraceFormatError: it is malformed; the error names the file, the line where it is known,
            the key path, what is wrong and what would be right.
    """
    return trace_lines(read_document(parse(path, data)), name=path.stem)


def parse(path: Path, data: bytes) -> Document:
    """The parsed file. Raises as :func:`read_recording`."""
    check_size(path, len(data))
    text, as_json = _text(path, data), path.suffix.lower() == ".json"
    document = parse_json(text, path) if as_json else parse_yaml(text, path)
    _refuse_others(document.data, path)
    return document


def _text(path: Path, data: bytes) -> str:
    if data.startswith(_WIDE):
        raise TraceFormatError("the file is UTF-16 text; save it as UTF-8", file=path)
    if b"\0" in data:
        raise TraceFormatError("this is a binary file, not a recording", file=path)
    data = data.removeprefix(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TraceFormatError(
            f"the byte {data[error.start]:#04x} is no UTF-8; save the file as UTF-8",
            file=path,
            line=data.count(b"\n", 0, error.start) + 1,
        ) from error
    if not text.strip():
        raise TraceFormatError("the file is empty; a recording holds an entry per step", file=path)
    return text


def _refuse_others(data: Any, path: Path) -> None:
    """What people take for a recording, said by its name."""
    if not isinstance(data, dict):
        return
    if "cells" in data and "nbformat" in data:
        raise TraceFormatError(
            "this is a Jupyter notebook, not a trace; open it in Jupyter", file=path
        )
    if isinstance(data.get("steps"), list) and isinstance(data.get("name"), str):
        raise TraceFormatError(
            "this is a workflow, not a recording: it says what to ask, and a recording holds what "
            "was answered, by step",
            file=path,
        )
