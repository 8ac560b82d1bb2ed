"""What a model says, part by part, as the body and as the events of each of four APIs.

A part is ``("think", text)``, ``("text", text)`` or ``("call", id, name, arguments)``, whose
arguments are a text, for some are no JSON. An id of None leaves it out, where the API can.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import loopback
import pytest
from speaking import Speaker, event, pieces

from workbench.trace.payloads import view

Part = tuple[Any, ...]
Said = Sequence[Part]
APIS = ("openai.chat", "openai.responses", "anthropic.messages", "google.generate_content")
_SIGNED = "c2lnbmF0dXJl+/"
_ENDINGS = ("/chat/completions", "/responses", "/v1/messages")


def signature(place: int) -> str:
    """The signature of the part at a place, in base64."""
    return f"{_SIGNED}{place:02}"


def _calls(said: Said) -> list[Part]:
    return [part for part in said if part[0] == "call"]


def _words(said: Said, kind: str) -> str:
    return "".join(part[1] for part in said if part[0] == kind)


# -- chat completions -------------------------------------------------------------------------


def _chat(said: Said, model: str, usage: Any) -> dict[str, Any]:
    calls = [_chat_call(part) for part in _calls(said)]
    message: dict[str, Any] = {"role": "assistant", "content": _words(said, "text") or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    counts = usage or {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    return {**head, "choices": [choice], "usage": counts}


def _chat_call(part: Part, arguments: str | None = None) -> dict[str, Any]:
    text = part[3] if arguments is None else arguments
    return {"id": part[1], "type": "function", "function": {"name": part[2], "arguments": text}}


def chat_chunk(
    delta: dict[str, Any], finish: str | None = None, model: str = "served-model-1"
) -> bytes:
    """One chunk of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({**_chunk_head(model), "choices": [choice]})


def _chunk_head(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}


def _chat_events(said: Said, model: str, usage: Any) -> Iterator[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    index = 0
    for part in said:
        if part[0] == "text":
            deltas += [{"content": piece} for piece in pieces(part[1])]
        elif part[0] == "call":
            deltas.append({"tool_calls": [{"index": index, **_chat_call(part, "")}]})
            for piece in pieces(part[3]):
                more = {"index": index, "function": {"arguments": piece}}
                deltas.append({"tool_calls": [more]})
            index += 1
    yield from (chat_chunk(delta, model=model) for delta in deltas)
    yield chat_chunk({}, "tool_calls" if index else "stop", model)
    if usage is not None:  # as where the request asked for it
        yield event({**_chunk_head(model), "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


# -- responses --------------------------------------------------------------------------------


def _response(said: Said, model: str, usage: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "completed",
        "error": None,
        "output": [_item(part, place) for place, part in enumerate(said)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage or {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17},
    }


def _item(part: Part, place: int) -> dict[str, Any]:
    if part[0] == "think":
        summary = [{"type": "summary_text", "text": part[1]}]
        head = {"type": "reasoning", "id": f"rs_{place}"}
        return {**head, "summary": summary, "encrypted_content": signature(place)}
    if part[0] == "call":
        head = {"type": "function_call", "id": f"fc_{place}", "status": "completed"}
        return {**head, "call_id": part[1], "name": part[2], "arguments": part[3]}
    text = {"type": "output_text", "text": part[1], "annotations": [], "logprobs": []}
    head = {"type": "message", "id": f"msg_{place}", "role": "assistant", "status": "completed"}
    return {**head, "content": [text]}


def _response_events(said: Said, model: str, usage: Any) -> Iterator[bytes]:
    whole = _response(said, model, usage)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    steps: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for place, item in enumerate(whole["output"]):
        steps += _item_steps(item, place)
    steps.append({"type": "response.completed", "response": whole})
    for number, data in enumerate(steps):
        yield event({**data, "sequence_number": number}, data["type"])


def _item_steps(item: dict[str, Any], place: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": place}
    empty: dict[str, Any] = {"message": {"content": []}, "function_call": {"arguments": ""}}
    begun = {**item, **empty.get(item["type"], {})}
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    if item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield {"type": "response.function_call_arguments.done", **at, **done}
    elif item["type"] == "message":
        (part,) = item["content"]
        at["content_index"] = 0
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": place, "item": item}


# -- messages ---------------------------------------------------------------------------------


def _message(said: Said, model: str, usage: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_block(part, place) for place, part in enumerate(said)],
        "stop_reason": "tool_use" if _calls(said) else "end_turn",
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 12, "output_tokens": 5},
    }


def _block(part: Part, place: int) -> dict[str, Any]:
    if part[0] == "think":
        return {"type": "thinking", "thinking": part[1], "signature": signature(place)}
    if part[0] == "call":
        return {"type": "tool_use", "id": part[1], "name": part[2], "input": json.loads(part[3])}
    return {"type": "text", "text": part[1]}


def _message_events(said: Said, model: str, usage: Any) -> Iterator[bytes]:
    whole = _message(said, model, usage)
    counts = {**whole["usage"], "output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": counts}
    yield _named({"type": "message_start", "message": begun})
    for index, (block, part) in enumerate(zip(whole["content"], said, strict=True)):
        empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}}
        start = {**block, **empty.get(block["type"], {"input": {}})}
        yield _named({"type": "content_block_start", "index": index, "content_block": start})
        for delta in _deltas(block, part):
            yield _named({"type": "content_block_delta", "index": index, "delta": delta})
        yield _named({"type": "content_block_stop", "index": index})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    said_tokens = {"output_tokens": whole["usage"]["output_tokens"]}
    yield _named({"type": "message_delta", "delta": end, "usage": said_tokens})
    yield _named({"type": "message_stop"})


def _named(data: dict[str, Any]) -> bytes:
    return event(data, data["type"])


def _deltas(block: dict[str, Any], part: Part) -> Iterator[dict[str, Any]]:
    if part[0] == "think":
        yield {"type": "thinking_delta", "thinking": part[1]}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif part[0] == "call":
        for piece in pieces(part[3]):
            yield {"type": "input_json_delta", "partial_json": piece}
    else:
        for piece in pieces(part[1]):
            yield {"type": "text_delta", "text": piece}


# -- generateContent --------------------------------------------------------------------------


def _content(said: Said, model: str, usage: Any) -> dict[str, Any]:
    return _candidate(
        [_google(part, place) for place, part in enumerate(said)], model, usage, "STOP"
    )


def _candidate(parts: list[Any], model: str, usage: Any, finish: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        found["finishReason"] = finish
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17}
    head = {"modelVersion": model, "responseId": "r-1"}
    return {"candidates": [found], "usageMetadata": usage or counts, **head}


def _google(part: Part, place: int) -> dict[str, Any]:
    if part[0] == "call":
        call = {"name": part[2], "args": json.loads(part[3])}
        named = call if part[1] is None else {**call, "id": part[1]}
        return {"functionCall": named, "thoughtSignature": signature(place)}
    thought = {"thought": True} if part[0] == "think" else {}
    return {"text": part[1], **thought}


def _content_events(said: Said, model: str, usage: Any) -> Iterator[bytes]:
    found: list[dict[str, Any]] = []
    for place, part in enumerate(said):
        made = _google(part, place)
        cut = pieces(made["text"]) if "text" in made else ()
        found += [{**made, "text": piece} for piece in cut] or [made]
    for number, each in enumerate(found, 1):
        finish = "STOP" if number == len(found) else None
        yield event(_candidate([each], model, usage, finish))


# -- all of them ------------------------------------------------------------------------------

_BODIES: dict[str, tuple[Callable[..., Any], Callable[..., Iterator[bytes]]]] = {
    "openai.chat": (_chat, _chat_events),
    "openai.responses": (_response, _response_events),
    "anthropic.messages": (_message, _message_events),
    "google.generate_content": (_content, _content_events),
}


def body(api: str, said: Said, model: str = "served-model-1", usage: Any = None) -> Any:
    """The whole answer, as JSON."""
    return _BODIES[api][0](said, model, usage)


def events(
    api: str, said: Said, model: str = "served-model-1", usage: Any = None
) -> Iterator[bytes]:
    """The same as the events of a stream."""
    return _BODIES[api][1](said, model, usage)


def turn_of(api: str, asked: Any) -> int:
    """How many times the model has spoken already in a conversation, from 0."""
    said = view(api).messages(asked)
    return sum(each.role == "assistant" and not each.continues for each in said)


def put_speaker(monkeypatch: pytest.MonkeyPatch, api: str, **changes: Any) -> Speaker:
    """Change how the loopback server speaks one API: fields of its speaker, by name. Gives the one
    that it had."""
    old = next(each for each in loopback.SPEAKERS if each.knows(_path(api)))
    new: Speaker = replace(old, **changes)
    found = [new if each is old else each for each in loopback.SPEAKERS]
    monkeypatch.setattr(loopback, "SPEAKERS", found)
    return old


def say(monkeypatch: pytest.MonkeyPatch, api: str, *turns: Said, **more: Any) -> None:
    """Let the loopback server's model say these things, turn by turn; then the last one again.

    ``more`` are ``model`` and ``usage`` of each answer, as :func:`body` takes them.
    """

    def now(asked: Any) -> Said:
        return turns[min(turn_of(api, asked), len(turns) - 1)]

    put_speaker(
        monkeypatch,
        api,
        reply=lambda _path, asked: body(api, now(asked), **more),
        events=lambda _path, asked: events(api, now(asked), **more),
    )


def _path(api: str) -> str:
    endings = dict(zip(APIS, _ENDINGS, strict=False))
    return endings.get(api, "/v1beta/models/ok:generateContent")
