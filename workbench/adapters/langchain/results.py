"""What LangChain's tools give, as a trace keeps it: messages, documents, commands, interrupts.

An object of one of these types is kept as ``{"lc_class": its name, "fields": what it is made of}``.
Only the types named here are ever made again; what a trace says is never imported.
"""

from __future__ import annotations

from typing import Any, Final

from workbench.adapters.langchain import names
from workbench.errors import TraceFormatError, UnencodableError
from workbench.trace.values import decode, encode

CLASS: Final = "lc_class"

_MODELS: Final = {
    **dict.fromkeys(
        (
            "AIMessage",
            "AIMessageChunk",
            "ChatMessage",
            "FunctionMessage",
            "HumanMessage",
            "RemoveMessage",
            "SystemMessage",
            "ToolMessage",
        ),
        "langchain_core.messages",
    ),
    "Document": "langchain_core.documents",
}
"""Pydantic models, and the modules that give them to users."""
_PLAIN: Final = {"Command": ("graph", "update", "resume", "goto"), "Send": ("node", "arg")}
"""Types of ``langgraph.types``, and what they are made of."""


class Raised:
    """Stands for LangGraph's own signals, which a tool raises to stop or leave its graph."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def signals() -> tuple[type[BaseException], ...]:
    """The exceptions that are no failures: an interrupt, and a command to the graph above."""
    found = (names.loaded("langgraph.errors", each) for each in ("GraphInterrupt", "ParentCommand"))
    return tuple(each for each in found if each is not None)


def dump(result: Any, *, plain: bool = False) -> Any:
    """A result as JSON.

    Args:
        result: what a tool gave, or a model's message.
        plain: keep what has no type in a trace as its data.

    Raises:
        UnencodableError: it holds something that would not come back as it is.
    """
    if not _has_class(result):
        try:
            return encode(result)
        except UnencodableError:
            pass  # it may hold a message or the like
    return encode(_outward(result), plain=plain)


def load(json: Any) -> Any:
    """The result again."""
    return _inward(decode(json))


def _has_class(value: Any) -> bool:
    if isinstance(value, dict):
        return CLASS in value or any(map(_has_class, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_class, value))


def _outward(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(_outward, value))
    if kind is dict:
        plain = {key: _outward(each) for key, each in value.items()}
        return {CLASS: "dict", "fields": plain} if CLASS in value else plain
    if kind is Raised:
        return _signal(value.error)
    name = kind.__name__
    if name in _MODELS and kind is names.loaded(_MODELS[name], name):
        return {CLASS: name, "fields": {k: _outward(v) for k, v in _data(value).items()}}
    if name in _PLAIN and kind is names.loaded("langgraph.types", name):
        return {CLASS: name, "fields": _parts(value)}
    return value


def _data(model: Any) -> dict[str, Any]:
    """What was given to a model, and whatever else it holds."""
    given = {name: getattr(model, name) for name in model.model_fields_set}
    defaults = type(model).model_fields
    for name, value in vars(model).items():  # a validator may have set what nobody gave
        if name not in given and value != defaults[name].get_default(call_default_factory=True):
            given[name] = value
    return given


def _parts(value: Any) -> dict[str, Any]:
    name = type(value).__name__
    if getattr(value, "timeout", None) is not None:
        raise UnencodableError(f"a {name} with a timeout cannot be kept in a trace: leave it out")
    return {part: _outward(getattr(value, part)) for part in _PLAIN[name]}


def _signal(error: BaseException) -> dict[str, Any]:
    name = type(error).__name__
    if name == "ParentCommand":
        return {CLASS: name, "fields": {"command": _outward(error.args[0])}}
    values = [_outward(each.value) for each in error.args[0]]
    return {CLASS: "GraphInterrupt", "fields": {"values": values}}


def _inward(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(_inward, value))
    if kind is not dict:
        return value
    if CLASS not in value:
        return {key: _inward(each) for key, each in value.items()}
    name, fields = value[CLASS], value.get("fields")
    if not isinstance(fields, dict):
        raise TraceFormatError(f"a tool's result of the type {name!r} has no fields")
    fields = {key: _inward(each) for key, each in fields.items()}
    return fields if name == "dict" else _made(name, fields)


def _made(name: Any, fields: dict[str, Any]) -> Any:
    if name in _MODELS:
        model = names.imported(_MODELS[name], name)
        return model.model_construct(_fields_set=set(fields), **fields)
    if name in _PLAIN:
        return names.imported("langgraph.types", name)(**fields)
    if name == "GraphInterrupt":
        interrupts = names.interrupts_here(fields["values"])
        return Raised(names.imported("langgraph.errors", name)(interrupts))
    if name == "ParentCommand":
        return Raised(names.imported("langgraph.errors", name)(fields["command"]))
    raise TraceFormatError(
        f"a tool's recorded result is of the type {name!r}, which this version cannot make. "
        f"It makes: {', '.join([*_MODELS, *_PLAIN])}"
    )
