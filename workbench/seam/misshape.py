"""What a fault makes of the answer that a call would have got, recorded or live.

Everything here is pure: an answer goes in, another one comes out, and nothing that went in is
changed. Replies are read and written through the payload views, so one fault holds for every
API; an answer that is streamed comes out streamed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import EditError
from workbench.seam.broken_calls import UnfitError, break_call, made_call
from workbench.seam.calls import MISSING, Served
from workbench.seam.exceptions import describe
from workbench.trace.faults import (
    CutOff,
    EmptyResult,
    MalformedResponse,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StaleResult,
)
from workbench.trace.faults.tools import tool_error
from workbench.trace.payloads import PayloadView, Reply, ToolCall, has_view, view
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from workbench.seam.calls import Call
    from workbench.trace.entries import ErrorInfo
    from workbench.trace.faults import Fault

TOKEN = 4
"""Characters that count as one token where a reply is cut off."""

_LIMIT = {
    "anthropic.messages": "max_tokens",
    "google.generate_content": "MAX_TOKENS",
    "openai.responses": "max_output_tokens",
}
"""The finish reason for a token limit, where it is not ``length``."""

_MALFORMED = {"google.generate_content": "MALFORMED_FUNCTION_CALL"}
"""The finish reason that stands for a call with arguments that are no JSON, where a call holds an
object and so cannot be broken in this way. A call that is cut off is not there either."""

_EMPTY: tuple[type, ...] = (dict, list, tuple, set, frozenset, str, bytes, bytearray)


def reshape(fault: Fault, call: Call, served: Served, earlier: Any = MISSING) -> Served | None:
    """The answer as the fault makes it; None when there is nothing that it could do to it.

    Args:
        fault: one that strikes on the outcome.
        call: the call as it was asked.
        served: the answer that it would have got, plain or as chunks.
        earlier: the previous result of the same tool in this run, as a trace holds it.
    """
    try:
        return _shaped(fault, call, served, earlier)
    except UnfitError:
        return None


def why_not(fault: Fault, call: Call, served: Served, earlier: Any = MISSING) -> str:
    """Why :func:`reshape` gives None, as a part of a sentence; empty when it does not."""
    try:
        _shaped(fault, call, served, earlier)
    except UnfitError as error:
        return str(error)
    return ""


def _shaped(fault: Fault, call: Call, served: Served, earlier: Any) -> Served:
    if served.error is not None:
        raise UnfitError("the call fails anyway")
    if call.kind == "tool" and call.stream:
        return _yielded(_result(fault, call, Served(list(served.chunks or ())), earlier))
    return _result(fault, call, served, earlier)


def _result(fault: Fault, call: Call, served: Served, earlier: Any) -> Served:
    if isinstance(fault, PartialSuccess):
        return _partial(fault, served)
    if isinstance(fault, StaleResult):
        if earlier is MISSING:
            raise UnfitError(f"{call.name} has given no result before in this run")
        return Served(copy.deepcopy(earlier))
    if isinstance(fault, EmptyResult):
        return Served(_emptied(served.response))
    if isinstance(fault, MalformedResponse):
        return _unreadable(fault, served)
    if isinstance(fault, Refusal | CutOff | MalformedToolCall):
        return _spoilt(fault, call, served)
    raise UnfitError(f"{fault.label} does not strike on an outcome")


# -- tools --------------------------------------------------------------------------------------


def _yielded(whole: Served) -> Served:
    """A result that is whole, as what a generator yields one by one before it ends or fails."""
    found = whole.response
    return Served(chunks=found if isinstance(found, list) else [], error=whole.error)


def _partial(fault: PartialSuccess, served: Served) -> Served:
    done = served.response if fault.result is None else fault.result
    done = None if done is MISSING else copy.deepcopy(done)
    return Served(done, error=tool_error("injected failure after a part of the work", result=done))


def _emptied(response: Any) -> Any:
    value = None if response is MISSING else decode(response)
    kind = next((each for each in _EMPTY if isinstance(value, each)), None)
    if value is None or (kind is not None and not value):
        raise UnfitError("the result is nothing anyway")
    return None if kind is None else encode(kind())


# -- an answer that cannot be read ----------------------------------------------------------------


def _unreadable(fault: MalformedResponse, served: Served) -> Served:
    if served.chunks is not None:
        half = len(served.chunks) // 2
        text = _broken_text(fault, served.chunks[half : half + 1])
        kept = copy.deepcopy(served.chunks[:half])
        info = _parse_error(text).model_copy(update={"body": text})
        return Served(_head(served.response), kept, info)
    body = served.response.get("body") if isinstance(served.response, dict) else None
    text = _broken_text(fault, [body])
    head = _head(served.response)
    status, headers = head.get("status", 200), head.get("headers") or {}
    kept_as = {"status": status, "headers": headers, "body": text}
    return Served({**head, "body": text}, error=_parse_error(text).model_copy(update=kept_as))


def _broken_text(fault: MalformedResponse, of: Sequence[Any]) -> str:
    if fault.text is not None:
        return fault.text
    whole = json.dumps(of[0], ensure_ascii=False) if of and isinstance(of[0], dict) else "{}"
    return whole[: max(1, len(whole) // 2)]


def _parse_error(text: str) -> ErrorInfo:
    """What Python's parser says to a text that is not JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return describe(error)
    raise UnfitError("the text is valid JSON")


# -- what the model said ------------------------------------------------------------------------


def _spoilt(fault: Refusal | CutOff | MalformedToolCall, call: Call, served: Served) -> Served:
    if not has_view(str(call.api)):
        raise UnfitError(f"replies of the API {call.api} cannot be read")
    shape = view(str(call.api))
    asked = _body(call.request)
    body = _whole(shape, served)
    try:
        new = _CHANGES[type(fault)](fault, shape, asked, body)
    except EditError as error:
        raise UnfitError(str(error)) from error
    head = _head(served.response)
    if served.chunks is None:
        return Served({**head, "body": copy.deepcopy(new)})
    chunks = shape.split(copy.deepcopy(new), include_usage=shape.wants_usage(asked))
    return Served(head, list(chunks))


def _refused(fault: Refusal, shape: PayloadView, _asked: Any, body: Any) -> Any:
    return shape.with_reply(body, refusal=fault.text)


def _miscalled(fault: MalformedToolCall, shape: PayloadView, asked: Any, body: Any) -> Any:
    reply, tools = shape.reply(body), shape.tools(asked)
    if fault.mutate == "bad_json" and shape.api in _MALFORMED and (reply.tool_calls or tools):
        return shape.with_reply(body, tool_calls=[], finish_reason=_MALFORMED[shape.api])
    if not reply.tool_calls:
        return shape.with_reply(
            body, tool_calls=[break_call(fault.mutate, made_call(tools), tools)]
        )
    first, *others = reply.tool_calls
    broken = break_call(fault.mutate, first, tools)
    new = shape.with_reply(body, tool_calls=[broken, *others], finish_reason=reply.finish_reason)
    return new if reply.finish_reason is not None else _unfinished(shape, new)


def _cut(fault: CutOff, shape: PayloadView, _asked: Any, body: Any) -> Any:
    reply = shape.reply(body)
    length = len(reply.text) + sum(len(call.raw) for call in reply.tool_calls)
    left = length // 2 if fault.after_tokens is None else fault.after_tokens * TOKEN
    if left >= length:
        tokens = -(-length // TOKEN)
        raise UnfitError(f"the reply has no more than about {tokens} tokens")
    calls = _calls_within(reply, left - len(reply.text))
    if shape.api in _MALFORMED:
        calls = [call for call in calls if isinstance(call, ToolCall)]
    return shape.with_reply(
        body,
        text=reply.text[:left] if reply.text else None,
        tool_calls=calls if reply.tool_calls else None,
        finish_reason=_LIMIT.get(shape.api, "length"),
    )


def _calls_within(reply: Reply, left: int) -> list[ToolCall | dict[str, Any]]:
    """The calls that a limit leaves, the last of them with a part of its arguments."""
    calls: list[ToolCall | dict[str, Any]] = []
    for call in reply.tool_calls:
        if left <= 0:
            break
        whole = left >= len(call.raw)
        part = {"id": call.id, "name": call.name, "arguments": call.raw[:left]}
        calls.append(call if whole else part)
        left -= len(call.raw)
    return calls


_CHANGES: dict[type, Callable[..., Any]] = {
    Refusal: _refused,
    MalformedToolCall: _miscalled,
    CutOff: _cut,
}


_REASON = {"anthropic.messages": "stop_reason", "openai.responses": "status"}
"""Where a body says why it ended, where that is a field of its own."""


def _unfinished(shape: PayloadView, body: Any) -> Any:
    """The body without a finish reason, as the provider sent none."""
    if shape.api in _REASON:
        return {**body, _REASON[shape.api]: None}
    for listed, name in (("choices", "finish_reason"), ("candidates", "finishReason")):
        if isinstance(body.get(listed), list):
            first, *others = body[listed]
            return {**body, listed: [{**first, name: None}, *others]}
    return {**body, "finish_reason": None}


def _whole(shape: PayloadView, served: Served) -> dict[str, Any]:
    """The body of an answer, put together where it is streamed."""
    if served.chunks is not None:
        body = shape.assemble(served.chunks) if served.chunks else None
    else:
        body = served.response.get("body") if isinstance(served.response, dict) else None
    if not isinstance(body, dict):
        raise UnfitError("the answer is no JSON object")
    return body


def _head(response: Any) -> dict[str, Any]:
    """Status and headers of a response; what followed its last event is about the old one."""
    whole = response if isinstance(response, dict) else {}
    return {
        key: copy.deepcopy(value) for key, value in whole.items() if key not in ("body", "rest")
    }


def _body(request: Any) -> dict[str, Any]:
    body = request.get("body") if isinstance(request, dict) else None
    return body if isinstance(body, dict) else {}
