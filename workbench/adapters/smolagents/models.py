"""smolagents' models on the seam, where no hooked SDK sends their calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from workbench.adapters.frameworks.models import model_call, model_stream
from workbench.adapters.smolagents import names
from workbench.adapters.smolagents.codec import Asked, ModelCodec, request_of
from workbench.seam.current import COVERED, current_seam

_NAMES: Final = ("messages", "stop_sequences", "response_format", "tools_to_call_from")
"""What ``generate`` takes by position."""


def generate(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``generate`` of a class of models."""
    if _passes(model):
        return wrapped(*args, **kwargs)
    asked = _asked(args, kwargs)

    def make(given: Asked) -> Any:
        return wrapped(given.messages, **given.options)

    return model_call(ModelCodec(), request_of(model, asked), asked, make)


def stream(
    wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Any]:
    """Wraps ``generate_stream`` of a class of models."""
    if _passes(model):
        found: Iterator[Any] = wrapped(*args, **kwargs)
        return found
    asked = _asked(args, kwargs)

    def make(given: Asked) -> Any:
        return wrapped(given.messages, **given.options)

    return _when_read(model, asked, make)


def _when_read(model: Any, asked: Asked, make: Any) -> Iterator[Any]:
    """The call is made when the first piece is read, as a generator makes it."""
    yield from model_stream(ModelCodec(), request_of(model, asked), asked, make)


def _passes(model: Any) -> bool:
    return COVERED.get() or current_seam() is None or names.on_the_wire(model)


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked:
    given = {**dict(zip(_NAMES, args, strict=False)), **kwargs}
    return Asked(list(given.pop("messages")), {k: v for k, v in given.items() if v is not None})
