"""Cleaning a trace's lines: what somebody said, not what the journal itself made.

A journal sends every line through :class:`LineCleaner` before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from workbench.trace.entries import BaseLine, ChunkLine, ResultLine, TraceLine
from workbench.trace.redaction.names import each_word
from workbench.trace.redaction.redactor import Redactor
from workbench.trace.redaction.streams import Stream

_OWN: Final = each_word(
    "line format version id of kind at created_at started_at pid hash redact salt seed sha256 "
    "base in asked_by origin attempt reason source ended effect status usage counts runtime "
    "nth offset_s duration_s first_s held_s stream"
)
"""Fields that hold numbers, ids, hashes, times, or words of the format."""


_MAX_FINE: Final = 10_000


def clean_fields(
    redactor: Redactor, fields: dict[str, Any], fine: set[Any] | None = None, clean: Any = None
) -> dict[str, Any]:
    """A line's fields, as :meth:`BaseLine.as_dict` gives them, without secrets; the order stays.

    Each field is a value of its own, so that a rule's path begins at a request, a response or an
    output.

    Args:
        redactor: the trace's.
        fields: as said.
        fine: texts that were seen to hold no secret, such as a model's name; it is added to.
        clean: the very object that is known to hold none, if any.
    """
    if not redactor.on:
        return fields
    fine = set() if fine is None else fine
    out = {}
    for name, value in fields.items():
        known = value is None or value is clean or name in _OWN
        if known or (type(value) is str and value in fine):
            out[name] = value
        else:
            new = out[name] = redactor.clean(value)
            if new is value and type(value) is str and len(fine) < _MAX_FINE:
                fine.add(value)
    return out


def clean_header(redactor: Redactor, header: TraceLine) -> TraceLine:
    """A trace's first line without secrets, and with the names and the salt of the rules."""
    if not redactor.on:
        return header
    fields = clean_fields(redactor, header.as_dict())
    heavy = fields.pop("input", None)
    fields |= {"redact": redactor.names, "salt": redactor.salt}
    if "input" in header.model_fields_set:
        fields["input"] = heavy
    if header.hash is not None:
        fields["hash"] = header.hash
    return TraceLine.model_validate(fields)


class LineCleaner:
    """Gives for each line what may be written: without secrets, and when it is known what is one.

    Args:
        redactor: the trace's.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._streams: dict[str, Stream] = {}
        self._fine: set[Any] = set()

    def ready(self, line: BaseLine, clean: Any = None) -> Iterator[tuple[BaseLine, dict[str, Any]]]:
        """The lines that may be written now that this one came, each with its clean fields.

        They are this one, but for a chunk at whose end a secret may have begun: that one waits
        for the next chunk or the result of its call. ``clean`` is as in :func:`clean_fields`.
        """
        if not self.redactor.on:
            yield line, line.as_dict()
        elif isinstance(line, ChunkLine):
            stream = self._streams.setdefault(line.of, Stream(self.redactor))
            for chunk, data in stream.add(line, line.data):
                yield chunk, self._fields(chunk, data)
        else:
            if isinstance(line, ResultLine):
                yield from self._flushed(line.of)
            yield line, clean_fields(self.redactor, line.as_dict(), self._fine, clean)

    def waiting(self) -> Iterator[tuple[BaseLine, dict[str, Any]]]:
        """All that waits still: nothing more comes."""
        for call in list(self._streams):
            yield from self._flushed(call)

    def forget(self) -> None:
        """Drop what waits: in a forked child, whose parent writes it."""
        self._streams.clear()

    def _flushed(self, call: str) -> Iterator[tuple[BaseLine, dict[str, Any]]]:
        stream = self._streams.pop(call, None)
        for chunk, data in stream.flush() if stream is not None else ():
            yield chunk, self._fields(chunk, data)

    def _fields(self, chunk: ChunkLine, data: Any) -> dict[str, Any]:
        fields = chunk.as_dict()
        if "data" in fields:
            fields["data"] = data
        return clean_fields(self.redactor, fields)
