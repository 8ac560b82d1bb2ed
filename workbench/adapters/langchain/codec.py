"""How a chat model's results look in a trace, where no SDK's call is inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from workbench.adapters.frameworks.aligning import aligned
from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.langchain import results
from workbench.adapters.langchain.neutral import (
    calls_of,
    ended_of,
    message_back,
    offered_of,
    readable,
    reasoning_of,
    reply_parts,
    usage_back,
)
from workbench.trace.values import decode


@dataclass(frozen=True)
class Asked:
    """One call of a model: what its method is called with."""

    messages: Any
    """A list of messages; of a model that completes texts a prompt, or a list of them."""
    stop: list[str] | None
    options: dict[str, Any]


class ChatCodec(Codec):
    """Chat models."""

    def __init__(self, provider: str | None) -> None:
        self.provider = provider

    # -- whole results --------------------------------------------------------------------

    def dump(self, result: Any) -> Any:
        """A ``ChatResult`` as JSON."""
        return {
            "generations": [_kept(each) for each in result.generations],
            "llm_output": readable(result.llm_output),
        }

    def load(self, native: Any) -> Any:
        """The result again."""
        from langchain_core.outputs import ChatGeneration, ChatResult

        listed = [
            ChatGeneration(message=results.load(each["message"]), generation_info=_info(each))
            for each in native["generations"]
        ]
        return ChatResult(generations=listed, llm_output=decode(native["llm_output"]))

    def body(self, result: Any) -> Body:
        """What the first generation says."""
        first = result.generations[0]
        message = first.message
        said: Body = {"content": readable(message.content)}
        calls = calls_of(message)
        if calls:
            said["tool_calls"] = calls
        ended = ended_of(message, {**(result.llm_output or {}), **(first.generation_info or {})})
        return said | reasoning_of(message) | ended

    def make(self, body: Body) -> Any:
        """A result that says this."""
        from langchain_core.messages import AIMessage
        from langchain_core.outputs import ChatGeneration, ChatResult

        message = AIMessage(
            content=body.get("content") or "",
            usage_metadata=usage_back(body.get("usage")),
            response_metadata=_ended_back(body),
            **reply_parts(body),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def apply(self, given: Asked, body: Body, was: Body) -> Asked:
        """The call with another request; messages that nobody changed stay the objects they are."""
        old = list(zip(was["messages"], given.messages, strict=True))
        messages = aligned(body["messages"], old, message_back)
        options = {**given.options}
        for key in body.keys() | was.keys() - {"messages", "stop"}:
            if body.get(key) == was.get(key) or key in ("messages", "stop"):
                continue
            if key not in body:
                options.pop(key, None)
            else:
                tools = key == "tools"
                options[key] = [offered_of(t) for t in body[key]] if tools else decode(body[key])
        return replace(given, messages=messages, stop=body.get("stop"), options=options)

    # -- streams --------------------------------------------------------------------------

    def dump_chunk(self, chunk: Any) -> Any:
        """A ``ChatGenerationChunk`` as JSON."""
        return _kept(chunk)

    def load_chunk(self, native: Any) -> Any:
        """The chunk again."""
        from langchain_core.outputs import ChatGenerationChunk

        message = results.load(native["message"])
        return ChatGenerationChunk(message=message, generation_info=_info(native))

    def chunk_body(self, chunk: Any) -> Body:
        """What a chunk says; it has one piece of one call at most."""
        message = chunk.message
        said: Body = {}
        if isinstance(message.content, str):
            said |= {"text": message.content} if message.content else {}
        else:
            said |= _spoken(message.content)
        for piece in message.tool_call_chunks[:1]:
            named = {k: piece.get(k) for k in ("index", "id", "name") if piece.get(k) is not None}
            said["tool_call"] = {**named, "arguments": piece.get("args") or ""}
        return said | reasoning_of(message) | ended_of(message, chunk.generation_info)

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """Neutral chunks as LangChain's."""
        return _made_chunks


def apart(chunk: Any) -> Iterator[Any]:
    """A chunk as chunks with one piece of one tool call at most; added up they are the same."""
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk

    pieces = getattr(chunk.message, "tool_call_chunks", ())
    if len(pieces) < 2:
        yield chunk
        return
    for place, piece in enumerate(pieces):
        if piece.get("index") is None:
            piece = {**piece, "index": place}  # noqa: PLW2901 - else they would grow into one
        if place:
            message = AIMessageChunk(content="", tool_call_chunks=[piece], id=chunk.message.id)
            yield ChatGenerationChunk(message=message)
            continue
        whole = chunk.message
        drop = {"tool_calls", "invalid_tool_calls"}
        data = {k: getattr(whole, k) for k in whole.model_fields_set - drop}
        first = type(whole)(**{**data, "tool_call_chunks": [piece]})
        yield ChatGenerationChunk(message=first, generation_info=chunk.generation_info)


def _kept(generation: Any) -> Body:
    kept: Body = {"message": results.dump(generation.message, plain=True)}
    if generation.generation_info is not None:
        kept["info"] = readable(generation.generation_info)
    return kept


def _info(kept: Body) -> Any:
    return decode(kept["info"]) if "info" in kept else None


def _spoken(blocks: list[Any]) -> Body:
    """The text and the reasoning of content in blocks."""
    said: dict[str, str] = {}
    for block in blocks:
        if isinstance(block, str):
            said["text"] = said.get("text", "") + block
        elif isinstance(block, dict):
            for key, name in (
                ("text", "text"),
                ("thinking", "reasoning"),
                ("reasoning", "reasoning"),
            ):
                if isinstance(block.get(key), str):
                    said[name] = said.get(name, "") + block[key]
    return said


def _ended_back(body: Body) -> dict[str, Any]:
    pairs = (("finish_reason", "finish_reason"), ("model", "model_name"))
    return {name: body[key] for key, name in pairs if body.get(key)}


def _made_chunks(said: Body) -> Iterator[Any]:
    from langchain_core.messages import AIMessageChunk
    from langchain_core.messages.tool import tool_call_chunk
    from langchain_core.outputs import ChatGenerationChunk

    call = said.get("tool_call")
    pieces = []
    if isinstance(call, dict):
        named = {key: call.get(key) for key in ("name", "id", "index")}
        pieces.append(tool_call_chunk(args=call.get("arguments"), **named))
    extra = {"reasoning_content": said["reasoning"]} if said.get("reasoning") else {}
    message = AIMessageChunk(
        content=said.get("text") or said.get("content") or "",
        tool_call_chunks=pieces,
        additional_kwargs=extra,
        usage_metadata=usage_back(said.get("usage")),
        response_metadata=_ended_back(said),
    )
    yield ChatGenerationChunk(message=message)
