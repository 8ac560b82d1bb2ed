"""What a tool's signature says: its parameters, their types, and their JSON Schema."""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
)
from types import MethodType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from workbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from inspect import Parameter

_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_READERS = (Generator, AsyncGenerator, Iterator, AsyncIterator, Iterable, AsyncIterable)


def code_of(function: Any) -> Any:
    """The function whose code and annotations a callable has: a partial's own, an object's
    ``__call__``, else the callable itself."""
    while isinstance(function, functools.partial | MethodType):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if inspect.isroutine(function) or isinstance(function, type) or hasattr(function, "__code__"):
        return function
    if hasattr(function, "__wrapped__"):  # made by a decorator that gives an object
        return code_of(function.__wrapped__)
    return getattr(type(function), "__call__", function)  # noqa: B004 - a function is needed


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine, as far as can be told before."""
    found = code_of(inspect.unwrap(function))
    return inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(code_of(function))


def yields(function: Any) -> str | None:
    """``sync`` or ``async`` where calling it gives a generator; None where it does not."""
    for found in (code_of(function), code_of(inspect.unwrap(function))):
        if inspect.isasyncgenfunction(found):
            return "async"
        if inspect.isgeneratorfunction(found):
            return "sync"
    return None


def signature_of(function: Any, name: str) -> inspect.Signature:
    """A tool's signature.

    Raises:
        UsageError: Python knows none, as of some functions written in C.
    """
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"tool {name}: Python knows no signature of {function!r}, so its arguments cannot be "
            "told apart by name; wrap it in a function of yours"
        ) from error


def hints_of(function: Any, name: str, *, extras: bool = False) -> dict[str, Any]:
    """The annotations of a tool's parameters and result, by name.

    Args:
        function: the tool's function.
        name: the tool's name.
        extras: whether ``Annotated[…]`` keeps what it says beside the type.

    Raises:
        UsageError: they name something that is not defined.
    """
    found = code_of(function)
    if isinstance(found, type):
        found = vars(found).get("__init__", found)
    try:
        return typing.get_type_hints(found, include_extras=extras)
    except NameError as error:
        raise UsageError(
            f"tool {name}: its annotations name something that is not defined ({error}); "
            "import it where the function is defined, not only for type checking"
        ) from error
    except TypeError:  # nothing of Python's own says anything of annotations
        return {}


def result_hint(hints: Mapping[str, Any], *, each: bool) -> Any:
    """What a tool gives, by its annotation; None where that says nothing.

    Args:
        hints: the annotations by name.
        each: of a generator: what it yields.
    """
    hint = hints.get("return")
    if each:
        if typing.get_origin(hint) not in _READERS:
            return None
        hint = typing.get_args(hint)[0]
    return None if hint in (None, Any, type(None)) else hint


class _Quiet(GenerateJsonSchema):
    """A default that JSON does not have is left out of the schema, and nothing is said of it."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


def schema_of(
    name: str, parameters: Mapping[str, Parameter], hints: Mapping[str, Any]
) -> dict[str, Any]:
    """JSON Schema of a tool's arguments, by name.

    Raises:
        UsageError: an annotation is of a type that JSON has no form for.
    """
    fields: dict[str, Any] = {}
    for number, (each, parameter) in enumerate(parameters.items()):
        if parameter.kind not in _SEVERAL:
            # By a name of ours: a parameter may be called as a method of a model is.
            fields[f"p{number}"] = (hints.get(each, Any), _field(each, parameter))
    schema = _made(name, fields)
    for each in schema.get("properties", {}).values():
        each.pop("title", None)
    schema["additionalProperties"] = _further(name, parameters, hints)
    return schema


def _made(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    try:
        model: type[BaseModel] = create_model(
            name, __config__=ConfigDict(arbitrary_types_allowed=True), **fields
        )
        schema: dict[str, Any] = model.model_json_schema(schema_generator=_Quiet)
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError) as error:
        said = str(error).split("\n", maxsplit=1)[0]
        raise UsageError(
            f"tool {name}: no JSON Schema can be made of its annotations ({said}); a model can "
            "only give what JSON has"
        ) from error
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


def _field(name: str, parameter: Parameter) -> Any:
    default = parameter.default
    if isinstance(default, FieldInfo):  # a parameter that says more of itself
        found = copy.copy(default)
        found.alias = found.validation_alias = found.serialization_alias = name
        return found
    return Field(... if default is parameter.empty else default, alias=name)


def _further(name: str, parameters: Mapping[str, Parameter], hints: Mapping[str, Any]) -> Any:
    """What arguments of other names may be."""
    for each, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            hint = hints.get(each, Any)
            return True if hint is Any else _made(name, {"p": (hint, ...)})["properties"]["p"]
    return False


def like_function(function: Any) -> dict[str, Any]:
    """The attributes that make an object look like the function to :mod:`inspect` and
    :mod:`typing`, whatever kind of callable it is."""
    outer, inner = code_of(function), code_of(inspect.unwrap(function))
    kind = inner if isinstance(function, functools.partial) else type(function)
    named = function if hasattr(function, "__name__") else kind
    found = {
        "__module__": getattr(named, "__module__", None),
        "__name__": getattr(named, "__name__", kind.__name__),
        "__qualname__": getattr(named, "__qualname__", kind.__qualname__),
        "__doc__": getattr(outer, "__doc__", None) or getattr(named, "__doc__", None),
        "__annotations__": getattr(outer, "__annotations__", {}),
        "__wrapped__": function,
    }
    if hasattr(inner, "__code__"):
        found |= {each: getattr(inner, each, None) for each in _CODE}
    return found


_CODE = ("__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__")
