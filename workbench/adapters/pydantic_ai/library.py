"""What is private in pydantic-ai, or differs between its releases; nothing else touches it.

Private: ``StreamedResponse._get_event_iterator`` (which every model of a user's own implements),
``._parts_manager._parts`` and ``._usage``; the module ``pydantic_ai._utils``, in which ids of tool
calls are made up; the ``_media_type`` and ``_identifier`` of contents such as images.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from types import ModuleType
from typing import Any

from pydantic_ai import _utils, exceptions
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel

from workbench.adapters.frameworks.clients import is_wired
from workbench.seam.agentio.errors import to_error
from workbench.trace.entries import ErrorInfo


def module_of_ids() -> ModuleType:
    """The module in which ids of tool calls are made up.

    Raises:
        AttributeError: this release makes them up elsewhere.
    """
    _utils.generate_tool_call_id  # noqa: B018 - it must be there
    return _utils


def worked_out(content: Any) -> tuple[str, ...]:
    """The fields of a content that nobody gave, and that are worked out when they are asked for."""
    names = ("media_type", "identifier")
    return tuple(name for name in names if getattr(content, f"_{name}", "given") is None)


def is_ours(model: Any) -> bool:
    """Whether a model's calls are recorded here: not those of wrappers, which ask other models,
    nor those that a hooked SDK sends. It is decided from the model alone, so that a replay
    decides as the recording did."""
    if isinstance(model, WrapperModel | FallbackModel):
        return False
    return not is_wired(model, getattr(model, "provider", None), getattr(model, "_provider", None))


def fault_error(info: ErrorInfo, model_name: str) -> BaseException:
    """The library's own exception for an injected fault; what it has no word for is ours."""
    if info.status is not None and info.status >= 400:
        error = exceptions.ModelHTTPError(info.status, model_name, info.body)
        if getattr(error, "headers", 0) is None and info.headers:
            error.headers = {name.lower(): value for name, value in info.headers.items()}
        return error
    kinds = {
        "timeout": ("ModelTimeoutError", "ModelAPIError"),
        "connection_reset": ("ModelConnectionError", "ModelAPIError"),
        "connection_refused": ("ModelConnectionError", "ModelAPIError"),
    }
    for name in kinds.get(info.type, ()):
        kind = getattr(exceptions, name, None)
        if kind is not None:
            made: BaseException = kind(model_name, info.message)
            return made
    if info.type == "malformed_response":
        return exceptions.UnexpectedModelBehavior(info.message)
    return to_error(info)


def instructions_of(messages: Sequence[Any], parameters: Any) -> str | None:
    """The instructions of a request, wherever this release keeps them."""
    parts = getattr(parameters, "instruction_parts", None)
    if parts:
        return "\n\n".join(part.content for part in parts)
    for message in reversed(messages):
        if getattr(message, "instructions", None):
            return str(message.instructions)
    return None


def with_instructions(messages: list[Any], parameters: Any, text: str | None) -> Any:
    """The parameters with other instructions; the messages are changed in place."""
    for number, message in enumerate(messages):
        if getattr(message, "instructions", None):
            messages[number] = replace(message, instructions=None)
    last = max((n for n, m in enumerate(messages) if m.kind == "request"), default=None)
    if last is not None:
        messages[last] = replace(messages[last], instructions=text)
    if not hasattr(parameters, "instruction_parts"):
        return parameters
    from pydantic_ai.messages import InstructionPart

    parts = [InstructionPart(text)] if text else None
    return replace(parameters, instruction_parts=parts)


def event_iterator(stream: Any) -> AsyncIterator[Any]:
    """The events that a model's stream gives, before the library adds its own."""
    source: AsyncIterator[Any] = aiter(stream._get_event_iterator())  # noqa: SLF001
    return source


def read_through(stream: Any, events: AsyncIterator[Any]) -> None:
    """Make a stream give these events, which come from its own."""
    stream._get_event_iterator = lambda: events  # noqa: SLF001


class Replayed(StreamedResponse):
    """A stream that no model sends."""

    _begin: Any = None
    _events: AsyncIterator[Any]

    @classmethod
    def of(cls, parameters: Any, begin: Any, events: AsyncIterator[Any]) -> Replayed:
        """A stream of events.

        Args:
            parameters: those of the request.
            begin: the response as it stood at the beginning.
            events: what its reader gets.
        """
        made = cls(model_request_parameters=parameters)
        made._begin, made._events = begin, events
        made.take(begin)
        return made

    def take(self, response: Any) -> None:
        """Know of a response all but its parts."""
        for field in fields(response):
            if field.name in _TAKEN and hasattr(self, field.name):
                setattr(self, field.name, getattr(response, field.name))
        if getattr(response, "state", None) == "suspended":
            self.state = "suspended"
        self._usage = response.usage
        self._begin = response

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for event in self._events:
            self._note(event)
            yield event

    def _note(self, event: Any) -> None:
        parts: list[Any] = self._parts_manager._parts  # noqa: SLF001
        if isinstance(event, PartStartEvent):
            if event.index < len(parts):
                parts[event.index] = event.part
            else:
                parts.append(event.part)
        elif isinstance(event, PartDeltaEvent) and event.index < len(parts):
            parts[event.index] = event.delta.apply(parts[event.index])

    async def close_stream(self) -> None:
        """There is no connection."""

    @property
    def model_name(self) -> str:
        """As it was recorded."""
        return str(self._begin.model_name)

    @property
    def provider_name(self) -> str | None:
        """As it was recorded."""
        name: str | None = getattr(self._begin, "provider_name", None)
        return name

    @property
    def provider_url(self) -> str | None:
        """As it was recorded, where it was."""
        url: str | None = getattr(self._begin, "provider_url", None)
        return url

    @property
    def timestamp(self) -> datetime:
        """When the recorded answer began."""
        at: datetime = self._begin.timestamp
        return at


_TAKEN = frozenset(
    {
        "provider_response_id",
        "provider_details",
        "canonical_system",
        "finish_reason",
        "metadata",
        "failed_attempts",
    }
)
