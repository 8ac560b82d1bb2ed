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

    def __init__(self, trace: Trace, index: int, head: dict[str, Any], first_chunk: int) -> None:
        super().__init__(trace, index)
        line, result = trace.index.calls[index], trace.index.results[index]
        text = {name: value for name, value in head.items() if type(value) is str}.get
        self.id = text("id") or f"?{index + 1}"
        self.kind = ENTRY_KINDS[trace.index.kinds[line]]
        self.step = text("step") or ""
        self.api, self.name, self.hash = text("api"), text("name"), text("hash")
        self.enclosing = text("in")
        self.stream = head.get("stream") is True
        self.repeat = head.get("repeat") is True
        call = self.kind in ("model", "tool")
        self.open, self.result_line = call and result < 0, result
        self.plain = call and result >= 0 and first_chunk < 0 and not (self.stream or self.repeat)
        self.handed_over = first_chunk if first_chunk >= 0 else max(line, result)


def calls_of(trace: Trace) -> Iterator[Taped]:
    """The calls of a trace, in the order of starts. No body is read for it."""
    index, read = trace.index, trace.lines.head_reader()
    chunks: dict[int, int] = {}
    for line, entry in zip(index.chunk_lines, index.chunk_entries, strict=True):
        chunks.setdefault(entry, line)
    for entry, line in enumerate(index.calls):
        if ENTRY_KINDS[index.kinds[line]] in KINDS:
            yield Taped(trace, entry, read(line), chunks.get(entry, -1))
