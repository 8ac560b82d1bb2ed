"""The calls that an io makes, as the trace keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from workbench.errors import UsageError
from workbench.seam.calls import Call
from workbench.seam.tool import Tool
from workbench.trace.values import encode

if TYPE_CHECKING:
    from workbench.seam.agentio.world import World

API: Final = "workbench"
EMBED_API: Final = "workbench.embeddings"

_SPECS: WeakKeyDictionary[Tool[..., Any], dict[str, Any]] = WeakKeyDictionary()


def model_call(
    model: str,
    messages: Any,
    tools: Sequence[Tool[..., Any] | dict[str, Any]],
    params: dict[str, Any],
    *,
    stream: bool,
) -> Call:
    """The call of a model. The messages are the agent's own objects, and are not copied.

    Raises:
        UsageError: the messages are no list, or a tool is none.
    """
    if isinstance(messages, str):
        raise UsageError(
            "messages= is a list of messages: "
            '[{"role": "user", "content": …}], and not the text alone'
        )
    body: dict[str, Any] = {"model": model, "messages": messages}
    if tools:
        body["tools"] = [tool_spec(each) for each in tools]
    if params:
        body.update(params)
    if stream:
        body["stream"] = True
    return Call("model", {"body": body}, API, None, model, stream)


def embed_call(model: str, texts: Any, params: dict[str, Any]) -> Call:
    """The call for embeddings.

    Raises:
        UsageError: one text was given where a list is wanted.
    """
    if isinstance(texts, str):
        raise UsageError("texts= is a list of texts: give [text] for a single one")
    body = {"model": model, "input": list(texts), **params}
    return Call("model", {"body": body}, EMBED_API, None, model)


def tool_call(world: World, name: str, arguments: dict[str, Any]) -> Call:
    """The call of a tool, by what was asked for: its defaults are no part of it."""
    tool = world.tools.get(name)
    request = {"name": name, "arguments": encode(arguments, plain=True)}
    if tool is None:
        return Call("tool", request, name=name)
    return Call("tool", request, name=name, effect=tool.effect, key=_key(tool, arguments))


def input_call(prompt: str, choices: Sequence[str] | None) -> Call:
    """The question to a person."""
    request: dict[str, Any] = {"prompt": prompt}
    if choices is not None:
        request["choices"] = list(choices)
    return Call("input", request)


def event_call(type_: str, data: Any) -> Call:
    """An event."""
    return Call("event", {"type": type_, "data": encode(data)}, name=type_)


def tool_spec(tool: Any) -> dict[str, Any]:
    """A tool as a request offers it: ``{"name", "description", "parameters"}``.

    Raises:
        UsageError: it is no tool.
    """
    if isinstance(tool, Tool):
        spec = _SPECS.get(tool)
        if spec is None:
            spec = _SPECS[tool] = {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            }
        return spec
    if isinstance(tool, Mapping):
        function = tool.get("function")
        return dict(function) if isinstance(function, Mapping) else dict(tool)
    if callable(tool):
        return tool_spec(Tool(tool))
    raise UsageError(
        f"{tool!r} is no tool: give a function with @workbench.tool, or "
        '{"name", "description", "parameters"}'
    )


def _key(tool: Tool[..., Any], arguments: dict[str, Any]) -> str | None:
    """The idempotency key that a tool declares; none where it cannot be called so anyway."""
    if tool.key_of is None:
        return None
    owner = () if tool.bound_to is None else (tool.bound_to,)
    try:
        bound = tool.signature.bind(*owner, **arguments)
    except TypeError:  # the call itself says what is wrong with the arguments
        return None
    bound.apply_defaults()
    return tool.key_of(**{k: v for k, v in bound.arguments.items() if k in tool.parameters})
