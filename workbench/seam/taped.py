"""The entries of a trace as a tape holds them: what matching looks at is read once, at opening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError
from workbench.seam.calls import MISSING
from workbench.trace.entry import Entry
from workbench.trace.index import ENTRY_KINDS
from workbench.trace.lines import may_hold_tags
from workbench.trace.values import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.trace.trace import Trace

KINDS = ("model", "tool", "input", "event")
"""The kinds of entries that are calls."""


_NOT_PLAIN = frozenset({"error", "ended", "fault"})


class Taped(Entry):
    """A recorded call whose head is read already; bodies are read when asked for, as ever."""

    __slots__ = (
        "api",
        "enclosing",
        "handed_over",
        "hash",
        "id",
        "kind",
        "name",
        "open",
        "plain",
        "repeat",
        "result_line",
        "step",
        "stream",
    )

    id: str
    kind: str
    step: str
    api: str | None
    name: str | None
    hash: str | None
    enclosing: str | None
    stream: bool
    open: bool
    repeat: bool
    handed_over: int
    result_line: int
    plain: bool
    """A call that has its answer in one line, not in chunks, and gives it once."""

    def plain_response(self) -> Any:
        """The response of a plain call that did not fail, made anew; MISSING for any other, and
        where it cannot be read."""
        line, lines = self.result_line, self.trace.lines
        try:
            data = lines.raw(line)
            found = lines.reader.loads(data)
            if type(found) is not dict or not _NOT_PLAIN.isdisjoint(found):
                return MISSING
            response = found.get("response")
            if may_hold_tags(data):
                response = self.trace.bodies.put_back(response, line)
                return response if self.kind == "tool" else decode(response)
        except TraceError:
            return MISSING
        return response

    def __init__(
        self, trace: Trace, index: int, kind: str, head: dict[str, Any], first_chunk: int
    ) -> None:
        self.trace, self._index, self.kind = trace, index, kind
        get, result = head.get, trace.index.results[index]
        self.id = _text(get("id")) or f"?{index + 1}"
        self.step = _text(get("step")) or ""
        self.api, self.name, self.hash = _text(get("api")), _text(get("name")), _text(get("hash"))
        self.enclosing = _text(get("in"))
        self.stream, self.repeat = get("stream") is True, get("repeat") is True
        call = kind in ("model", "tool")
        self.open, self.result_line = call and result < 0, result
        self.plain = call and result >= 0 > first_chunk and not (self.stream or self.repeat)
        line = result if result >= 0 else trace.index.calls[index]
        self.handed_over = first_chunk if first_chunk >= 0 else line


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def calls_of(trace: Trace) -> Iterator[Taped]:
    """The calls of a trace, in the order of starts. No body is read for it."""
    index, read = trace.index, trace.lines.head_reader()
    chunks: dict[int, int] = {}
    for line, entry in zip(index.chunk_lines, index.chunk_entries, strict=True):
        chunks.setdefault(entry, line)
    kinds = {code: name for code, name in ENTRY_KINDS.items() if name in KINDS}
    for entry, line in enumerate(index.calls):
        kind = kinds.get(index.kinds[line])
        if kind is not None:
            yield Taped(trace, entry, kind, read(line), chunks.get(entry, -1))
