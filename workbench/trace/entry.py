"""One thing that crossed the seam, read from its lines when it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UnavailableError
from workbench.trace.bodies import shared_count
from workbench.trace.canonical import DEFAULT_IGNORE, request_hash
from workbench.trace.entry_head import EntryHead
from workbench.trace.payloads import Message, Reply, ToolCall, has_view, view
from workbench.trace.values import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.trace.turns import Turn

USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a streamed reply."""

    data: Any
    """The piece as the SDK parsed it."""
    offset_s: float | None
    """Seconds since the call began; None when not recorded."""


class Entry(EntryHead):
    """One thing that crossed the seam.

    Its bodies are read from the file when asked for, and made anew each time: a caller may change
    what it gets. What is not recorded is None. A body that damage made unreadable raises
    :class:`~workbench.errors.UnavailableError`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        name = self.name or self.model or self.type or ""
        return f"<Entry {self.id}: {self.kind} {name}>".replace(" >", ">")

    @property
    def usage(self) -> dict[str, int | None] | None:
        """Tokens, as recorded, or read from the response; only counts that are there.

        None when there are none, also because the response is damaged.
        """
        found: dict[str, int | None] | None = self._outcome("usage", dict)
        if found is None and self.kind == "model" and self.api and has_view(self.api):
            try:
                body = self.reply_body
            except TraceError:
                return None
            read = view(self.api).usage(body) if body is not None else None
            if read is not None:
                counts = {name: getattr(read, name) for name in USAGE_FIELDS}
                found = {name: count for name, count in counts.items() if count is not None}
        return found

    @property
    def request(self) -> Any:
        """A call's request, complete. A tool's is ``{name, arguments}`` as stored, an event's
        ``{type, data}``, that of an input ``{prompt, choices}``.

        Raises:
            UnavailableError: part of it is damaged, or only its hash was recorded.
        """
        self._refuse_hash_only()
        if self.kind == "event":
            return {"type": self.type, "data": self.trace.bodies.stored(self._line)}
        if self.kind == "input":
            asked = {name: self._head.get(name) for name in ("prompt", "choices")}
            return {name: value for name, value in asked.items() if value is not None}
        if not self._is_call:
            return None
        return self.trace.bodies.request(self._index, raw=self.kind == "tool")

    @property
    def sent(self) -> Any:
        """What was sent instead of what was asked, when an edit changed it."""
        value = self._head.get("sent")
        if value is None:
            return None
        stored = self.trace.bodies.put_back(value, self._line)
        return stored if self.kind == "tool" else decode(stored)

    @property
    def response(self) -> Any:
        """A call's response: a model's ``{status, headers, body}``; a tool's result or a human's
        answer as stored, of a generator the list of what it yielded."""
        if self.kind == "input":
            return self.trace.bodies.stored(self._line)
        if self._yielded:
            return [chunk.data for chunk in self.chunks]
        return self.stored_response

    @property
    def stored_response(self) -> Any:
        """The response as its line has it: of a generator what it returned, as stored."""
        line = self._result_line
        if line is None:
            return None
        bodies = self.trace.bodies
        return bodies.stored(line) if self.kind == "tool" else bodies.decoded(line)

    @property
    def _yielded(self) -> bool:
        """Whether it is a generator's call, whose values were recorded one by one."""
        return self.kind == "tool" and self.stream and self.ended is not None

    @property
    def returned(self) -> Any:
        """What a tool that is a generator returned at its end, decoded; None elsewhere."""
        return decode(self.stored_response) if self._yielded else None

    @property
    def body(self) -> Any:
        """A model's request body."""
        return _body(self.request) if self.kind == "model" else None

    @property
    def reply_body(self) -> Any:
        """A model's response body; for a stream the one that its chunks make up."""
        if self.kind != "model":
            return None
        body = _body(self.response)
        if body is None and self.api and has_view(self.api):
            chunks = self.chunks
            if chunks:
                return view(self.api).assemble([chunk.data for chunk in chunks])
        return body

    @property
    def chunks(self) -> list[Chunk]:
        """The pieces of a stream, in the order of arrival; empty for a plain reply. Of a tool that
        is a generator: what it yielded."""
        lines, bodies = self.trace.lines, self.trace.bodies
        found = []
        for line in self.trace.chunk_lines(self._index):
            offset = lines.head(line).get("offset_s")
            data = bodies.stored(line) if self.kind == "tool" else bodies.decoded(line)
            found.append(Chunk(data, offset if isinstance(offset, int | float) else None))
        return found

    @property
    def messages(self) -> list[Message]:
        """A model's conversation, as the payload view reads it. Raises UnknownApiError."""
        return view(self.api or "").messages(self.body) if self.kind == "model" else []

    @property
    def own_messages(self) -> tuple[int, list[Any]]:
        """How many items an earlier request had already, and the raw items that were added.

        The whole request is not put together for it. Raises as :attr:`request`.
        """
        self._refuse_hash_only()
        return self.trace.bodies.own_items(self._index) if self.kind == "model" else (0, [])

    @property
    def shared_count(self) -> int:
        """How many items of the conversation were in an earlier request already."""
        return shared_count(self._head)

    @property
    def reply(self) -> Reply | None:
        """What the model said, as the payload view reads it; None when nothing came."""
        body = self.reply_body
        return None if body is None else view(self.api or "").reply(body)

    @property
    def text(self) -> str:
        """The text of the reply."""
        reply = self.reply
        return reply.text if reply is not None else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that the reply asks for."""
        reply = self.reply
        return reply.tool_calls if reply is not None else ()

    @property
    def arguments(self) -> Any:
        """A tool's arguments, decoded."""
        if self.kind != "tool":
            return None
        request = self.request
        return decode(request.get("arguments")) if isinstance(request, dict) else None

    @property
    def result(self) -> Any:
        """What a tool returned, decoded; of a generator the list of what it yielded."""
        return decode(self.response) if self.kind == "tool" else None

    @property
    def data(self) -> Any:
        """What an event carries, decoded."""
        return self.trace.bodies.decoded(self._line) if self.kind == "event" else None

    @property
    def value(self) -> Any:
        """A reading, or what a human answered, decoded."""
        if self.kind not in ("value", "clock", "input"):
            return None
        return self.trace.bodies.decoded(self._line)

    @property
    def prompt(self) -> Any:
        """What a human was asked, decoded."""
        return decode(self._head.get("prompt")) if self.kind == "input" else None

    @property
    def choices(self) -> list[Any] | None:
        """The answers that a human was to choose from."""
        return decode(self._head.get("choices")) if self.kind == "input" else None

    @property
    def turn(self) -> Turn | None:
        """The turn that it belongs to."""
        return self.trace.turn_of(self._index)

    def _refuse_hash_only(self) -> None:
        if self.hash_only:
            raise UnavailableError(
                f"{self.trace.lines.place(self._line)}: the request of {self.id} was not recorded, "
                'only its hash (requests="hash")'
            )

    def verify(self) -> bool | None:
        """Whether the request, put together, has the hash that was recorded.

        None without one, and where nothing but the hash was recorded.

        Raises:
            UnavailableError: the request cannot be put together.
        """
        if not self._is_call or self.hash_only:
            return None
        request = self.request
        if self.hash is None:
            return None
        forms = [request] if self.kind == "model" else [decode(request), request]
        return any(request_hash(self.kind, self.api, f, self.ignored) == self.hash for f in forms)

    @property
    def ignored(self) -> Sequence[str]:
        """JSON pointers to what of its request did not count when it was hashed."""
        header = self.trace.header.hash
        api = self.api or "tool"
        return DEFAULT_IGNORE.get(api, ()) if header is None else header.ignore.get(api, ())


def _body(payload: Any) -> Any:
    return payload.get("body") if isinstance(payload, dict) else None
