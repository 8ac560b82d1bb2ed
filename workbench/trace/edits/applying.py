"""Putting in and dropping: the trace as it would be, in memory.

Lines that stay are those of the file, and entries keep their ids. What is put in has the source
``hand``, and no hash: it answers by its order in its step. So do the model calls after it in the
step, and those after something that was dropped: what leads up to them is no longer what was
recorded, so that no agent would ask for them in the recorded words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from workbench.errors import EditError
from workbench.trace.appender import MemoryAppender
from workbench.trace.edits.checking_order import call_of
from workbench.trace.edits.models import DropEdit, InsertEdit
from workbench.trace.edits.parts import NewEvent, NewTool, NewTurn
from workbench.trace.edits.places import affected
from workbench.trace.entries import BaseLine, CallLine, EventLine, ResultLine, TraceLine
from workbench.trace.index import CHUNK, END, MODEL, RESULT, TRACE
from workbench.trace.journal import Journal
from workbench.trace.payloads import view
from workbench.trace.trace import Trace
from workbench.trace.values import dumps, encode

if TYPE_CHECKING:
    from workbench.trace.edits.builder import Edits
    from workbench.trace.edits.parts import CallEdit
    from workbench.trace.entry import Entry
    from workbench.trace.payloads import ToolCall

_OK = {"status": 200, "headers": {"content-type": "application/json"}}
_STREAMED = ("ended", "first_s")


def apply(edits: Edits) -> Trace:
    """See :meth:`Edits.apply`."""
    if not edits.structural:
        return edits.trace
    if problems := edits.problems():
        raise EditError("; ".join(problems), problems=problems)
    return _Applied(edits).write()


class _Applied:
    def __init__(self, edits: Edits) -> None:
        self.trace = edits.trace
        self.gone: set[str] = set()
        """The ids of the entries that are dropped."""
        self.calls_gone: dict[str, list[ToolCall]] = defaultdict(list)
        """By model entry, the calls that its reply no longer makes."""
        self.before: dict[int, list[BaseLine]] = defaultdict(list)
        """By line, from 0, what is put in before it."""
        self.after: dict[int, list[BaseLine]] = defaultdict(list)
        """By line, from 0, what is put in after it."""
        self.unknown: dict[tuple[str, str | None], int] = {}
        """By step and enclosing call, the seq from which model calls have no hash any more."""
        self.number = 0
        for edit in edits:
            if isinstance(edit, DropEdit):
                self._drop(edit)
            elif isinstance(edit, InsertEdit):
                self._insert(edit)

    def _drop(self, edit: DropEdit) -> None:
        entries = affected(self.trace, edit)
        self.gone |= {entry.id for entry in entries}
        turn = entries[0].turn
        if edit.pair and turn is not None:
            call = call_of(entries[0], turn)
            if call is not None:
                self.calls_gone[turn.model.id].append(call)
        if entries[0].kind in ("model", "tool"):
            self._forget(entries[0], entries[0].seq)

    def _insert(self, edit: InsertEdit) -> None:
        entries = affected(self.trace, edit)
        anchor = entries[0] if edit.where == "before" else entries[-1]
        new = self._lines(edit.what, anchor)
        index = self.trace.index
        if edit.where == "before":
            self.before[index.calls[anchor.seq - 1]] += new
        else:
            places = [entry.seq - 1 for entry in entries]
            ends = (max(index.calls[each], index.results[each]) for each in places)
            self.after[max(ends)] += new
        if not isinstance(edit.what, NewEvent):
            self._forget(anchor, anchor.seq + (edit.where == "after"))

    def _forget(self, entry: Entry, seq: int) -> None:
        place = (entry.step, entry.enclosing)
        self.unknown[place] = min(seq, self.unknown.get(place, seq))

    # -- what is put in

    def _lines(self, new: NewTurn | NewTool | NewEvent, anchor: Entry) -> list[BaseLine]:
        inside: dict[str, Any] = {"step": anchor.step or None, "enclosing": anchor.enclosing}
        place = {name: value for name, value in inside.items() if value is not None}
        if isinstance(new, NewEvent):
            return [EventLine(id=self._id(), type=new.event, source="hand", data=new.data, **place)]
        if isinstance(new, NewTool):
            turn = anchor.turn
            asked_by = turn.model.id if turn is not None else None
            return self._tool(new.name, new.arguments, new.result, asked_by, place)
        return self._turn(new, anchor, place)

    def _turn(self, new: NewTurn, anchor: Entry, place: dict[str, Any]) -> list[BaseLine]:
        turn = anchor.turn
        model = turn.model if turn is not None else next(iter(self.trace.models()), None)
        api = (model.api if model is not None else None) or "workbench"
        entry_id = self._id()
        calls = [
            {**call.written(), "id": call.id or f"call_{entry_id}_{number}"}
            for number, call in enumerate(new.tool_calls, 1)
        ]
        shape = view(api)
        body = shape.with_reply(shape.assemble([]), text=new.text, tool_calls=calls)
        asked = model.model if model is not None else None
        fields = place if asked is None else {**place, "model": asked}
        lines: list[BaseLine] = [
            CallLine(id=entry_id, kind="model", api=api, **fields),
            ResultLine(of=entry_id, source="hand", response={**_OK, "body": body}),
        ]
        for call, result in zip(new.tool_calls, new.results or (), strict=False):
            lines += self._tool(call.name, _arguments(call), result, entry_id, place)
        return lines

    def _tool(
        self, name: str, arguments: Any, result: Any, asked_by: str | None, place: dict[str, Any]
    ) -> list[BaseLine]:
        entry_id = self._id()
        if asked_by is not None:
            place = {**place, "asked_by": asked_by}
        request = {"name": name, "arguments": arguments}
        call = CallLine(id=entry_id, kind="tool", name=name, **place, request=request)
        return [call, ResultLine(of=entry_id, source="hand", response=result)]

    def _id(self) -> str:
        """An id that no entry has."""
        while True:
            self.number += 1
            if self.trace.index.ids.find_text(f"hand-{self.number}") < 0:
                return f"hand-{self.number}"

    # -- what is written

    def write(self) -> Trace:
        """The trace with what is put in and without what is dropped."""
        trace, entries = self.trace, self._entries()
        new = _New(trace)
        out = [trace.lines.raw(0) + b"\n"]
        for line, kind in enumerate(trace.index.kinds):
            out += map(new.line, self.before.get(line, ()))
            if kind == END:
                out.append(self._end(line))
            elif kind != TRACE:
                out.append(self._kept(line, kind, entries.get(line), new))
            out += map(new.line, self.after.get(line, ()))
        return Trace.from_bytes(b"".join(out))

    def _entries(self) -> dict[int, Entry]:
        """The entry of each line that belongs to one."""
        index, entries = self.trace.index, self.trace.entries
        found = {line: entries[place] for place, line in enumerate(index.calls)}
        found |= {line: entries[p] for p, line in enumerate(index.results) if line >= 0}
        chunks = zip(index.chunk_lines, index.chunk_entries, strict=True)
        return found | {line: entries[place] for line, place in chunks}

    def _kept(self, line: int, kind: int, entry: Entry | None, new: _New) -> bytes:
        """A recorded line as it stays, byte for byte where it can; nothing for a dropped one."""
        if entry is None:
            return self._raw(line)
        if entry.id in self.gone:
            return b""
        if entry.id in self.calls_gone:
            if kind == CHUNK:
                return b""  # the whole reply stands in the result
            if kind == RESULT:
                return new.line(self._rewritten(line, entry))
        if kind != MODEL:
            return self._raw(line)
        base = self.trace.lines.head(line).get("base")
        lost = isinstance(base, list) and bool(base) and base[0] in self.gone
        first = self.unknown.get((entry.step, entry.enclosing))
        nameless = first is not None and entry.seq >= first
        if not (lost or nameless):
            return self._raw(line)
        fields = self.trace.lines.whole(line)
        if nameless:
            fields.pop("hash", None)
        if not lost:
            return dumps(fields) + b"\n"
        # The conversation began with that of a dropped call, so it is written whole.
        whole = {"base": None, "request": entry.request, "sent": entry.sent}
        fields |= {name: value for name, value in whole.items() if name in fields}
        del fields["base"]
        return new.line(CallLine.model_validate(fields))

    def _raw(self, line: int) -> bytes:
        return self.trace.lines.raw(line) + b"\n"

    def _rewritten(self, line: int, entry: Entry) -> ResultLine:
        """The reply without the calls that are dropped, as a plain one."""
        gone = list(self.calls_gone[entry.id])
        kept = []
        for call in entry.tool_calls:
            if call in gone:
                gone.remove(call)
            else:
                kept.append(call)
        body = view(entry.api or "").with_reply(entry.reply_body, tool_calls=kept)
        old = entry.response
        envelope = old if isinstance(old, dict) else _OK
        fields = self.trace.lines.whole(line)
        for name in _STREAMED:
            fields.pop(name, None)
        fields |= {"source": "edited", "response": encode({**envelope, "body": body})}
        return ResultLine.model_validate(fields)

    def _end(self, line: int) -> bytes:
        if line != self.trace.index.ends[-1] or not self.trace.lines.head(line).get("counts"):
            return self._raw(line)
        counts = Counter(each.kind for each in self.trace.entries if each.id not in self.gone)
        counts.update(kind for each in self._put_in() if (kind := _kind(each)))
        fields = self.trace.lines.whole(line)
        return dumps({**fields, "counts": dict(counts)}) + b"\n"

    def _put_in(self) -> list[BaseLine]:
        return [
            each for lines in (self.before, self.after) for new in lines.values() for each in new
        ]


class _New:
    """Lines as a journal writes them."""

    def __init__(self, trace: Trace) -> None:
        header = TraceLine(id=trace.id)
        self._appender = MemoryAppender()
        self._journal = Journal(header, self._appender, writer="hand", strict=True)

    def line(self, line: BaseLine) -> bytes:
        """One line, after the blobs that it needs first."""
        begin = len(self._appender.data)
        self._journal.append(line)
        return bytes(self._appender.data[begin:])


def _kind(line: BaseLine) -> str:
    """The kind of the entry that a line begins; empty for the others."""
    if isinstance(line, CallLine):
        return line.kind
    name = str(getattr(line, "line", ""))
    return name if name in ("event", "value", "clock", "input") else ""


def _arguments(call: CallEdit) -> Any:
    """A call's arguments as the tool's entry has them."""
    if isinstance(call.arguments, dict):
        return encode(call.arguments)
    from workbench.trace.payloads.reading import parse_arguments

    value, error = parse_arguments(call.arguments)
    return encode(call.arguments if error else value)
