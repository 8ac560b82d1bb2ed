"""Rebuilding what was kept as data, where the reader has the type."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from workbench.errors import TraceFormatError, UnencodableError, UsageError
from workbench.trace import jcs
from workbench.trace.encoding import encode
from workbench.trace.jcs import JSON


def rebuild(json: JSON, value: Any, annotation: Any) -> Any:
    """Make a decoded value an instance of an annotation, and make sure that nothing was changed.

    Args:
        json: the encoded form, which the result has to give again.
        value: its decoded form.
        annotation: any type that pydantic understands.

    Raises:
        TraceFormatError: the value does not fit the annotation, or fits only by being changed.
        UsageError: pydantic cannot make values of this annotation.
    """
    adapter = _adapter(annotation)
    try:
        made = adapter.validate_python(value)
    except ValidationError as error:
        raise TraceFormatError(
            f"the recorded value is not a {_name(annotation)}: {_reasons(error)}. "
            "decode() still gives it as plain data"
        ) from error
    try:
        again = encode(made, plain=True)
    except UnencodableError as error:
        raise TraceFormatError(
            f"a {_name(annotation)} cannot be compared with what was recorded: {error}"
        ) from error
    difference = _difference(json, again, "$")
    if difference:
        raise TraceFormatError(
            f"as a {_name(annotation)} the recorded value would change at {difference}. "
            "decode() gives it as it was"
        )
    return made


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        hash(annotation)
    except TypeError:
        return _new_adapter(annotation)
    return _cached_adapter(annotation)


def _new_adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation)
    except PydanticUserError as error:
        raise UsageError(
            f"values of {_name(annotation)} cannot be rebuilt from recorded data: "
            f"{error.message}. Annotate with an Enum, dataclass or pydantic model"
        ) from error


_cached_adapter = lru_cache(maxsize=256)(_new_adapter)


def _difference(recorded: JSON, rebuilt: JSON, path: str) -> str | None:
    """The first place where a rebuilt value lacks or changes something; more fields are fine."""
    if type(recorded) is dict and type(rebuilt) is dict:
        if jcs.TAG in recorded or jcs.TAG in rebuilt:
            return None if _same(recorded, rebuilt) else path
        for key, item in recorded.items():
            if key not in rebuilt:
                return f"{path}.{key}"
            found = _difference(item, rebuilt[key], f"{path}.{key}")
            if found:
                return found
        return None
    if type(recorded) is list and type(rebuilt) is list and len(recorded) == len(rebuilt):
        pairs = enumerate(zip(recorded, rebuilt, strict=True))
        places = (_difference(one, two, f"{path}[{i}]") for i, (one, two) in pairs)
        return next(filter(None, places), None)
    return None if _same(recorded, rebuilt) else path


def _same(one: JSON, two: JSON) -> bool:
    return jcs.dump_encoded(one) == jcs.dump_encoded(two)


def _reasons(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'.'.join(map(str, p['loc'])) or 'the value'}: {p['msg']}" for p in problems)


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)
