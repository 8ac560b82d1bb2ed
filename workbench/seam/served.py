"""Answers that do not come from the world: a recorded entry, an edited one, a placeholder.

An answer is given the way the call asks for it: a recorded stream is put together for a plain
call, a plain reply is cut into chunks for a streaming one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbench.errors import DriftError, EditError, UsageError
from workbench.seam.calls import MISSING, Served
from workbench.seam.translate import spoiled
from workbench.trace.byhand.shapes import OF_VECTORS, as_api, chunks_as_api, placeholder_vectors
from workbench.trace.entries import ErrorInfo
from workbench.trace.payloads import has_view, view
from workbench.trace.payloads.reading import as_dict
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from workbench.seam.calls import Call
    from workbench.trace.edits import ReplyEdit
    from workbench.trace.trace import Entry

_OK = {"status": 200, "headers": {"content-type": "application/json"}}


def serve_entry(call: Call, entry: Entry) -> Served:
    """The recorded outcome of an entry, in the way that the call asks for it; with what a fault
    makes of it that was written into it by hand.

    Raises:
        DriftError: the entry holds another kind of answer than the call asks for.
    """
    return spoiled(call, entry, _as_recorded(call, entry))


def _as_recorded(call: Call, entry: Entry) -> Served:
    if call.kind == "event":
        return Served()
    error = entry.error
    if call.kind == "tool" and call.stream:
        return _yielded(call, entry)
    if call.kind != "model":
        return Served(response=MISSING if error is not None else entry.response, error=error)
    chunks = [chunk.data for chunk in entry.chunks]
    if call.stream:
        if chunks or entry.ended is not None:
            return Served(_envelope(entry), _chunks(call, entry, chunks), _stream_error(entry))
        if error is not None:
            return Served(error=error)
        return _as_stream(call, _answer(call, entry))
    if error is not None:
        return Served(error=error)
    if chunks and has_view(str(entry.api)):
        if entry.ended in ("cut", "stopped", "cancelled"):
            return Served(error=_stream_error(entry))
        body = _body_for(call, entry, view(str(entry.api)).assemble(chunks))
        return Served({**_OK, **_envelope(entry), "body": body})
    return Served(_answer(call, entry))


def _yielded(call: Call, entry: Entry) -> Served:
    """What a tool that is a generator yielded; the items of a list, where it was none."""
    error = entry.error
    if entry.ended is not None:
        chunks = [chunk.data for chunk in entry.chunks]
        returned = MISSING if entry.returned is None else encode(entry.returned, plain=True)
        return Served(returned, chunks, _stream_error(entry))
    if error is not None:
        return Served(error=error)
    try:
        return as_yielded(str(call.name), entry.response)
    except UsageError as problem:
        raise DriftError(
            f"{problem} (it was no generator when it was recorded, entry {entry.id})"
        ) from problem


def as_yielded(name: str, response: Any) -> Served:
    """A result that is whole, as what a tool that is a generator yields one by one.

    Raises:
        UsageError: it is no list.
    """
    if response is None or response is MISSING:
        return Served(chunks=[])
    if not isinstance(response, list):
        raise UsageError(
            f"the tool {name} is a generator, and {decode(response)!r} is said to be its result: "
            "give the list of what it yields"
        )
    return Served(chunks=list(response))


def _answer(call: Call, entry: Entry) -> Any:
    """A recorded plain response, in the call's own shape."""
    response = entry.response
    vectors = entry.api in OF_VECTORS  # their number is compared with that of the inputs
    if (entry.api == call.api and not vectors) or not isinstance(response, dict):
        return response
    return {**_OK, **_envelope(entry), "body": _body_for(call, entry, response.get("body"))}


def _body_for(call: Call, entry: Entry, body: Any) -> Any:
    return as_api(body, str(entry.api), str(call.api), _body(call.request))


def _chunks(call: Call, entry: Entry, chunks: list[Any]) -> list[Any]:
    if entry.api == call.api:
        return chunks
    if entry.ended == "complete":
        whole = _body_for(call, entry, view(str(entry.api)).assemble(chunks))
        return list(view(str(call.api)).split(whole, include_usage=_wants_usage(call)))
    return chunks_as_api(chunks, str(entry.api), str(call.api), _body(call.request))


def serve_reply(call: Call, entry: Entry, edit: ReplyEdit) -> Served:
    """The recorded reply with a person's change, in the way that the call asks for it."""
    body = _body_for(call, entry, edit.rewrite(str(entry.api), entry.reply_body))
    response = {**_OK, **_envelope(entry), "body": body}
    return _as_stream(call, response) if call.stream else Served(response)


def simulated(call: Call, result: Any) -> Served:
    """What a person says that a call gave: of a model a text, or a response's body."""
    if call.kind == "tool" and call.stream:
        return as_yielded(str(call.name), result)
    if call.kind != "model":
        return Served(result)
    body = result
    if isinstance(result, str):
        shape = view(str(call.api))
        body = shape.with_reply(shape.assemble([]), text=result)
    elif isinstance(result, dict) and "body" in result:
        body = result["body"]
    response = {**_OK, "body": body}
    return _as_stream(call, response) if call.stream else Served(response)


def placeholder(call: Call) -> Served:
    """What a lenient replay answers when nothing recorded fits: `Mock response`, or `{}` where
    the reply has a schema; zeros for embeddings. A tool gives None."""
    if call.kind != "model":
        return Served(chunks=[]) if call.stream else Served(None)
    body_asked = _body(call.request)
    if call.api in OF_VECTORS:
        return Served({**_OK, "body": placeholder_vectors(call.api, body_asked)})
    shape = view(str(call.api))
    body = shape.assemble([])
    with suppress(EditError):  # a count of tokens says nothing
        body = shape.with_reply(body, text="{}" if _wants_json(body_asked) else "Mock response")
    response = {**_OK, "body": body}
    return _as_stream(call, response) if call.stream else Served(response)


def _wants_json(asked: dict[str, Any]) -> bool:
    """Whether the reply is to have a schema, in whichever way the api says so."""
    if any(name in asked for name in _FORMATS):
        return True
    nested = [asked.get(name) for name in ("text", "output_config", "generationConfig")]
    inner = [each for each in nested if isinstance(each, dict)]
    kinds = [as_dict(each.get("format")).get("type", "text") for each in inner]
    schemas = [each for each in inner if "responseSchema" in each or "responseJsonSchema" in each]
    return bool(schemas) or any(kind != "text" for kind in kinds)


_FORMATS = ("response_format", "response_schema", "text_format", "output_format")


def _as_stream(call: Call, response: Any) -> Served:
    shape = view(str(call.api))
    whole: dict[str, Any] = response if isinstance(response, dict) else {}
    head = {key: value for key, value in whole.items() if key != "body"}
    chunks = shape.split(
        whole.get("body"),
        include_usage=_wants_usage(call),
    )
    return Served(head, list(chunks))


def _wants_usage(call: Call) -> bool:
    return view(str(call.api)).wants_usage(_body(call.request))


def _stream_error(entry: Entry) -> ErrorInfo | None:
    if entry.error is not None:
        return entry.error
    if entry.ended == "stopped":
        return ErrorInfo(
            type="stopped",
            module="workbench",
            message=(
                f"the recorded reader stopped here, after {len(entry.chunks)} chunks: what would "
                "have come next was never received. Record again to have it"
            ),
        )
    if entry.ended == "cancelled":
        return ErrorInfo(type="CancelledError", module="asyncio", message="cancelled")
    return None


def _envelope(entry: Entry) -> dict[str, Any]:
    response = entry.response
    if not isinstance(response, dict):
        return {}
    return {key: value for key, value in response.items() if key != "body"}


def _body(request: Any) -> dict[str, Any]:
    body = request.get("body") if isinstance(request, dict) else None
    return body if isinstance(body, dict) else {}
