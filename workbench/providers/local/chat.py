"""A chat request, checked and turned into what is asked of llama.cpp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.providers.local.api import bad_request
from workbench.providers.local.messages import plain_messages, with_tools
from workbench.providers.local.schema import MAX_ANSWER, reply_schema

TOOLS_MAX_TOKENS = 160
PLAIN_MAX_TOKENS = 512
MAX_STOPS = 4

_NOT_SENT = (
    "model",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "n_predict",
    "messages",
)


@dataclass(frozen=True)
class ChatPlan:
    """What to ask of llama.cpp, and how to give the reply back."""

    upstream: dict[str, Any]
    """The body for llama.cpp's own chat completions."""
    tools: bool
    """The reply is JSON to be turned into tool calls or an answer."""
    stream: bool
    include_usage: bool
    stops: tuple[str, ...]
    """Texts that end an answer; applied here when the reply is JSON, by llama.cpp when not."""


def plan(body: Any) -> ChatPlan:
    """Check a request and decide how to answer it.

    Raises:
        ApiError: status 400, naming the parameter that is wrong.
    """
    if not isinstance(body, dict):
        raise bad_request("The body must be a JSON object.")
    messages = plain_messages(body.get("messages"))
    stops = _stops(body.get("stop"))
    tools, may_answer = _choose(_functions(body), body.get("tool_choice"))
    upstream = {key: value for key, value in body.items() if key not in _NOT_SENT}
    upstream["max_tokens"] = _max_tokens(body, default=TOOLS_MAX_TOKENS if tools else None)
    # Reusing another prompt's state changes the rounding, and so, now and then, the reply.
    repeatable = body.get("temperature") == 0 or body.get("seed") is not None
    upstream["cache_prompt"] = not repeatable
    if tools:
        upstream.pop("stop", None)
        messages = with_tools(messages, tools, may_answer=may_answer)
        answer = _answer_schema(upstream.pop("response_format", None)) if may_answer else None
        schema = reply_schema(tools, answer=answer)
        upstream["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
        _refuse_with_tools(body)
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise bad_request("'stream_options' must be an object.", "stream_options")
    upstream |= {"messages": messages, "stream": bool(body.get("stream"))}
    if upstream["stream"]:
        upstream["stream_options"] = {"include_usage": True}
    return ChatPlan(
        upstream=upstream,
        tools=bool(tools),
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        stops=stops,
    )


def _functions(body: dict[str, Any]) -> list[dict[str, Any]]:
    if body.get("functions"):
        raise bad_request("'functions' is not supported; use 'tools'.", "functions")
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise bad_request("'tools' must be a list.", "tools")
    return [_function(tool, index) for index, tool in enumerate(tools)]


def _function(tool: Any, index: int) -> dict[str, Any]:
    where = f"tools[{index}]"
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or tool.get("type", "function") != "function":
        raise bad_request(f"{where} must have the type 'function' and a 'function'.", where)
    if not isinstance(function.get("name"), str) or not function["name"]:
        raise bad_request(f"{where}.function.name must be a text.", f"{where}.function.name")
    parameters = function.get("parameters") or {}
    if not isinstance(parameters, dict) or not isinstance(parameters.get("properties", {}), dict):
        where += ".function.parameters"
        raise bad_request(f"{where} must be a JSON schema of type object.", where)
    return function


def _choose(tools: list[dict[str, Any]], choice: Any) -> tuple[list[dict[str, Any]], bool]:
    """The tools that may be called, and whether an answer may be given instead."""
    if choice in (None, "auto"):
        return tools, True
    if choice == "none":
        return [], True
    if not tools:
        raise bad_request("'tool_choice' is given, but there are no 'tools'.", "tool_choice")
    if choice == "required":
        return tools, False
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    named = [tool for tool in tools if tool["name"] == name]
    if not named:
        raise bad_request(
            "'tool_choice' must be 'none', 'auto', 'required' or name one of the tools: "
            + ", ".join(tool["name"] for tool in tools),
            "tool_choice",
        )
    return named, False


def _answer_schema(response_format: Any) -> dict[str, Any]:
    """The schema of the answer: text, or what the request's own response format asks."""
    kind = response_format.get("type") if isinstance(response_format, dict) else "text"
    if kind == "json_object":
        return {"type": "object", "additionalProperties": True}
    if kind == "json_schema":
        named = response_format.get("json_schema")
        schema = named.get("schema") if isinstance(named, dict) else None
        if not isinstance(schema, dict):
            where = "response_format.json_schema.schema"
            raise bad_request(f"{where} must be a JSON schema.", where)
        return schema
    return {"type": "string", "minLength": 1, "maxLength": MAX_ANSWER}


def _refuse_with_tools(body: dict[str, Any]) -> None:
    """Say no to what cannot be given together with tools, instead of leaving it out."""
    if body.get("n") not in (None, 1):
        raise bad_request("'n' above 1 is not supported together with tools.", "n")
    if body.get("logprobs"):
        raise bad_request("'logprobs' is not supported together with tools.", "logprobs")


def _max_tokens(body: dict[str, Any], *, default: int | None) -> int:
    given = body.get("max_completion_tokens", body.get("max_tokens"))
    if given is None:
        return default or PLAIN_MAX_TOKENS
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise bad_request("'max_tokens' must be a whole number of at least 1.", "max_tokens")
    return given


def _stops(stop: Any) -> tuple[str, ...]:
    stops = [stop] if isinstance(stop, str) else (stop or [])
    if not isinstance(stops, list) or not all(isinstance(text, str) and text for text in stops):
        raise bad_request("'stop' must be a text or a list of texts.", "stop")
    if len(stops) > MAX_STOPS:
        raise bad_request(f"'stop' may hold at most {MAX_STOPS} texts.", "stop")
    return tuple(stops)
