"""DSPy before 3.4: a language model is called by its method ``forward``, retries included."""

from __future__ import annotations

import sys
from typing import Any

from workbench.adapters.dspy.legacy import (
    LegacyAsked,
    LegacyCodec,
    call_back,
    call_of,
    legacy_asked_of,
)
from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.frameworks.models import amodel_call, model_call
from workbench.errors import UnencodableError, UsageError
from workbench.seam.agentio.errors import to_error
from workbench.seam.current import current_seam
from workbench.trace.entries import ErrorInfo
from workbench.trace.values import decode, encode

_LITELLM = "litellm.types.utils"


def forward(wrapped: Any, lm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``forward`` of a class of language models."""
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    asked = _asked(lm, args, kwargs)

    def make(given: LegacyAsked) -> Any:
        return wrapped(**_arguments(given))

    return model_call(ForwardCodec(lm), legacy_asked_of(asked.request), asked, make)


async def aforward(wrapped: Any, lm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``aforward`` of a class of language models."""
    if current_seam() is None:
        return await wrapped(*args, **kwargs)
    asked = _asked(lm, args, kwargs)

    async def make(given: LegacyAsked) -> Any:
        return await wrapped(**_arguments(given))

    return await amodel_call(ForwardCodec(lm), legacy_asked_of(asked.request), asked, make)


def _asked(lm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LegacyAsked:
    if getattr(type(lm), "forward_contract", "legacy") != "legacy":
        raise UsageError(
            f"{type(lm).__name__} is called with typed requests, an experiment of DSPy 3.3 that is "
            "not recorded: update DSPy to 3.4 or newer"
        )
    given = {"prompt": None, "messages": None, **dict(zip(("prompt", "messages"), args)), **kwargs}  # noqa: B905
    prompt, messages = given.pop("prompt"), given.pop("messages")
    said = messages or [{"role": "user", "content": prompt}]
    request = {**lm.kwargs, **given, "model": lm.model, "messages": said}
    context = {"prompt": prompt, "messages": messages, "call_kwargs": given}
    return LegacyAsked(request, context)


def _arguments(asked: LegacyAsked) -> dict[str, Any]:
    context = asked.context
    return {
        "prompt": context["prompt"],
        "messages": context["messages"],
        **context["call_kwargs"],
    }


class Shaped(dict[str, Any]):
    """A response in OpenAI's shape: its fields by key and by attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _shaped(value: Any) -> Any:
    if isinstance(value, dict):
        return Shaped({key: _shaped(each) for key, each in value.items()})
    return list(map(_shaped, value)) if isinstance(value, list) else value


class ForwardCodec(LegacyCodec):
    """Calls whose result is a response in OpenAI's shape, of whatever class."""

    def dump(self, result: Any) -> Any:
        """The response as JSON.

        Raises:
            UnencodableError: it is of a class whose data nobody knows.
        """
        cost = getattr(result, "_hidden_params", {}).get("response_cost")
        kind = type(result)
        named = kind.__name__ if kind.__module__ == _LITELLM else None
        try:
            return {"class": named, "cost": cost, "data": encode(_data(result), plain=True)}
        except UnencodableError as error:
            raise UnencodableError(
                f"the response of the model {self._lm.model} cannot be kept in a trace: {error}. "
                "Give one with model_dump(), or a dict",
                path=error.path,
            ) from error

    def load(self, native: Any) -> Any:
        """The response again: LiteLLM's own where it was that."""
        data = decode(native["data"])
        kind = getattr(sys.modules.get(_LITELLM), native["class"] or "", None)
        if native["class"] != "ModelResponse" or kind is None:
            return _shaped(data)
        made = kind(**data)
        made._hidden_params = {"response_cost": native["cost"]}  # noqa: SLF001 - as LiteLLM does
        return made

    def body(self, result: Any) -> Body:
        """What the first choice says."""
        data = encode(_data(result), plain=True)
        choices = data.get("choices") or [{}]
        message = choices[0].get("message") or {"content": choices[0].get("text")}
        said: Body = {"content": message.get("content")}
        if calls := message.get("tool_calls"):
            said["tool_calls"] = [call_of(each) for each in calls]
        if message.get("reasoning_content"):
            said["reasoning"] = message["reasoning_content"]
        for ours, theirs in (("finish_reason", choices[0]), ("model", data)):
            if theirs.get(ours):
                said[ours] = theirs[ours]
        counts = data.get("usage") or {}
        pairs = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
        usage = {ours: counts[each] for ours, each in pairs if isinstance(counts.get(each), int)}
        return said | ({"usage": usage} if usage else {})

    def make(self, body: Body) -> Any:
        """A response that says this."""
        if self._lm.model_type != "chat":
            raise UsageError(
                f"the model {self._lm.model} answers in the shape of {self._lm.model_type}, whose "
                "replies cannot be edited in this version of DSPy"
            )
        message: Body = {"role": "assistant", "content": body.get("content")}
        if body.get("tool_calls"):
            message["tool_calls"] = [call_back(each) for each in body["tool_calls"]]
        if body.get("reasoning"):
            message["reasoning_content"] = body["reasoning"]
        usage = body.get("usage") or {}
        counts = {
            "prompt_tokens": usage.get("input_tokens", 0),
            "completion_tokens": usage.get("output_tokens", 0),
        }
        ended = body.get("finish_reason") or "stop"
        return _shaped(
            {
                "model": body.get("model") or self._lm.model,
                "choices": [{"index": 0, "message": message, "finish_reason": ended}],
                "usage": {**counts, "total_tokens": sum(counts.values())},
            }
        )

    def exception(self, info: ErrorInfo) -> BaseException:
        """What it failed with."""
        return Codec.exception(self, info)

    def injected(self, info: ErrorInfo) -> BaseException:
        """A failure as this package names it: nothing tries again above this call."""
        return to_error(info)


def _data(result: Any) -> Any:
    """The data of a response: of a pydantic model, a map, or an object with attributes."""
    if hasattr(result, "model_dump"):
        return result.model_dump()
    if isinstance(result, dict | list | str | int | float | None):
        return result
    if isinstance(result, tuple):
        return list(result)
    return {key: _of(value) for key, value in vars(result).items()}


def _of(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_of, value))
    if isinstance(value, dict):
        return {key: _of(each) for key, each in value.items()}
    return _data(value)
