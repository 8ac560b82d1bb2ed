"""DSPy's older shape: requests like OpenAI's chat completions, results that are parsed already."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from workbench.adapters.dspy import names
from workbench.adapters.frameworks.codec import Body, Codec
from workbench.errors import UnencodableError
from workbench.trace.entries import ErrorInfo
from workbench.trace.values import decode, encode

_COUNTS: Final = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
"""Token counts, as a trace and as DSPy names them."""


@dataclass(frozen=True)
class LegacyAsked:
    """One call: the request, and the same once more as a model of one's own is called with it."""

    request: dict[str, Any]
    context: dict[str, Any]


def legacy_asked_of(request: dict[str, Any]) -> Body:
    """What a request asks, without what belongs to the connection."""
    hidden = names.client_settings() | {"model", "messages", "tools", "rollout_id", "cache"}
    said: Body = {
        "model": request.get("model"),
        "messages": [_message(each) for each in request["messages"]],
    }
    if request.get("tools"):
        said["tools"] = [_tool(each) for each in request["tools"]]
    for key, value in request.items():
        if key not in hidden and value is not None:
            said.setdefault(key, _readable(value))
    return said


def _readable(value: Any) -> Any:
    if isinstance(value, type) and issubclass(value, BaseModel):
        return value.model_json_schema()
    try:
        return encode(value, plain=True)
    except UnencodableError:
        return f"<{type(value).__qualname__}>"


def _tool(offered: Any) -> Body:
    function = offered.get("function") if isinstance(offered, dict) else None
    if not isinstance(function, dict):
        return {"name": type(offered).__name__, "given": _readable(offered)}
    return {key: _readable(value) for key, value in function.items()}


def _message(message: Any) -> Body:
    data: dict[str, Any] = dict(message) if isinstance(message, dict) else vars(message)
    said: Body = {"role": data.get("role"), "content": _readable(data.get("content"))}
    if calls := data.get("tool_calls"):
        said["tool_calls"] = [call_of(each) for each in calls]
    for key in ("tool_call_id", "name"):
        if data.get(key):
            said[key] = data[key]
    return said


def call_of(call: Any) -> Body:
    """A call of a tool in OpenAI's shape, as a trace has it."""
    data = _readable(call)
    function = data.get("function") or {}
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):  # else it stays the text that it is
            arguments = json.loads(arguments)
    return {"id": data.get("id"), "name": function.get("name") or "", "arguments": arguments}


def call_back(call: Body) -> Body:
    """A call in OpenAI's shape again."""
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": call.get("name"), "arguments": text}
    return {"id": call.get("id"), "type": "function", "function": function}


def _message_back(said: Body) -> Body:
    made = dict(said)
    if said.get("tool_calls"):
        made["tool_calls"] = [call_back(each) for each in said["tool_calls"]]
    return made


class LegacyCodec(Codec):
    """Calls whose result DSPy has parsed already, a ``CallResult``."""

    def __init__(self, lm: Any) -> None:
        self._lm = lm

    def dump(self, result: Any) -> Any:
        """The result as JSON, with what it was parsed from where a trace can hold that."""
        record = result.dump()
        try:
            return encode(record, plain=True)
        except UnencodableError:
            return encode({**record, "raw": None}, plain=True)

    def load(self, native: Any) -> Any:
        """The result again, as it came: not out of a cache."""
        record = decode(native)
        made = names.call_result().CallResult.load(record)
        raw = made.provider_response() if made.raw is None else made.raw
        return replace(made, cache_hit=False, usage=record["usage"], raw=raw)

    def body(self, result: Any) -> Body:
        """What the first output says."""
        first = result.outputs[0] if result.outputs else None
        output: dict[str, Any] = first if isinstance(first, dict) else {"text": first}
        said: Body = {"content": output.get("text")}
        if output.get("tool_calls"):
            said["tool_calls"] = [call_of(each) for each in output["tool_calls"]]
        if output.get("reasoning_content"):
            said["reasoning"] = output["reasoning_content"]
        if result.response_model:
            said["model"] = result.response_model
        counts = result.usage
        usage = {ours: counts[each] for ours, each in _COUNTS if isinstance(counts.get(each), int)}
        return said | ({"usage": usage} if usage else {})

    def make(self, body: Body) -> Any:
        """A result that says this."""
        output: Body = {"text": body.get("content")}
        if body.get("reasoning"):
            output["reasoning_content"] = body["reasoning"]
        if body.get("tool_calls"):
            output["tool_calls"] = [call_back(each) for each in body["tool_calls"]]
        module = names.call_result()
        outputs = [module.attributes(output)] if len(output) > 1 else [output["text"]]
        counts = body.get("usage") or {}
        made = module.CallResult(
            outputs=outputs,
            usage={each: counts[ours] for ours, each in _COUNTS if ours in counts},
            response_model=body.get("model") or self._lm.model,
        )
        return replace(made, raw=made.provider_response())

    def apply(self, given: LegacyAsked, body: Body, was: Body) -> LegacyAsked:
        """The call with another request."""
        request, context = dict(given.request), dict(given.context)
        settings = dict(context.get("call_kwargs") or {})
        for key in body.keys() | was.keys():
            if body.get(key) == was.get(key):
                continue
            if key == "messages":
                context["prompt"] = None
                messages = [_message_back(each) for each in body["messages"]]
                request["messages"] = context["messages"] = messages
            elif key == "tools":
                tools = [{"type": "function", "function": each} for each in body.get("tools") or ()]
                request["tools"] = settings["tools"] = tools
            else:
                request[key] = settings[key] = decode(body.get(key))
        return LegacyAsked(request, {**context, "call_kwargs": settings})

    def exception(self, info: ErrorInfo) -> BaseException:
        """What an engine failed with, complete."""
        return names.recorded_error(super().exception(info))

    def injected(self, info: ErrorInfo) -> BaseException:
        """A failure as an engine has it."""
        return names.engine_error(info)
