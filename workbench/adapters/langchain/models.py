"""LangChain's models on the seam, where no hooked SDK sends their calls.

Callbacks, rate limits and the joining of streams stay the framework's own, in a replay too: it
calls the model, whose innermost methods are answered. What a model's cache would give is never
used in a session: it would hide calls from a recording that a replay then makes, or the other way.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any

import wrapt

from workbench.adapters.http.keys import DUMMY_KEY, is_offline, made_without_key
from workbench.adapters.langchain import names
from workbench.adapters.langchain.askers import heard
from workbench.adapters.langchain.calls import Calls
from workbench.adapters.langchain.llms import TextCalls
from workbench.seam.current import current_seam
from workbench.seam.patching import Patches

if TYPE_CHECKING:
    _Proxy = wrapt.ObjectProxy[Any]  # generic in its newer releases only
else:
    _Proxy = wrapt.ObjectProxy


def hook(patches: Patches) -> None:
    """Hook what calls a model's own methods."""
    base = names.model_class()
    patches.wrap(base, "__init__", _construct)
    patches.wrap(base, "_generate_with_cache", _whole)
    patches.wrap(base, "_agenerate_with_cache", _awhole)
    for name in ("stream", *names.EVENTS[:1]):
        if hasattr(base, name):
            patches.wrap(base, name, _streamed)
    for name in ("astream", *names.EVENTS[1:]):
        if hasattr(base, name):
            patches.wrap(base, name, _astreamed)
    text = names.text_model_class()
    patches.wrap(text, "_generate_helper", _whole)
    patches.wrap(text, "_agenerate_helper", _awhole)
    patches.wrap(text, "stream", _text_streamed)
    patches.wrap(text, "astream", _text_astreamed)
    for module in names.modules_with_caches():
        patches.replace(module, "get_llm_cache", _no_cache(module.get_llm_cache))


def _construct(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Make a model. Some refuse to be made without a key; others make no client, and say so when
    they are asked."""
    field = names.key_field(type(model))
    if field is None:
        wrapped(*args, **kwargs)
        return
    made_without_key(wrapped, args, kwargs, "api_key")
    if is_offline() and not getattr(model, field):
        wrapped(*args, **{**kwargs, "api_key": DUMMY_KEY})


def _whole(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    return _noted(wrapped.__func__(_Seen(model), *args, **kwargs))


async def _awhole(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if current_seam() is None:
        return await wrapped(*args, **kwargs)
    return _noted(await wrapped.__func__(_Seen(model), *args, **kwargs))


def _noted(result: Any) -> Any:
    for each in result.generations:
        heard(getattr(each, "message", None))
    return result


def _streamed(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    return _told(wrapped.__func__(_Seen(model), *args, **kwargs))


def _told(stream: Iterator[Any]) -> Iterator[Any]:
    with closing(stream):  # type: ignore[type-var] # it is a generator
        for each in stream:
            heard(each)
            yield each


def _astreamed(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    return _atold(wrapped.__func__(_Seen(model), *args, **kwargs))


async def _atold(stream: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async with aclosing(stream):  # type: ignore[type-var] # as above
        async for each in stream:
            heard(each)
            yield each


def _text_streamed(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not names.streams(model, "_stream"):  # then it asks for the whole text
        return wrapped(*args, **kwargs)
    return _streamed(wrapped, model, args, kwargs)


def _text_astreamed(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not names.streams(model, "_stream", "_astream"):
        return wrapped(*args, **kwargs)
    return _astreamed(wrapped, model, args, kwargs)


def _no_cache(wrapped: Callable[[], Any]) -> Callable[[], Any]:
    """The cache that everybody shares; in a session one that knows nothing and keeps nothing."""

    @functools.wraps(wrapped)
    def get_llm_cache() -> Any:
        cache = wrapped()
        return cache if cache is None or current_seam() is None else names.empty_cache()

    return get_llm_cache


class _Seen(_Proxy):
    """A model as the framework sees it while it calls it: its innermost methods are on the seam,
    unless an SDK's hook is further in."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        text = isinstance(model, names.text_model_class())
        calls = TextCalls if text else Calls
        self._self_calls = None if names.on_the_wire(model) else calls(model)

    @property
    def cache(self) -> Any:
        """A cache of the model's own is not used."""
        own = self.__wrapped__.cache
        return own if own is None or isinstance(own, bool) else False

    @property
    def _stream_chat_model_events(self) -> Any:
        return self._events("_stream_chat_model_events")

    @property
    def _astream_chat_model_events(self) -> Any:
        return self._events("_astream_chat_model_events")

    def _events(self, name: str) -> Any:
        """A model's own events; they are made of its chunks instead where a trace keeps those."""
        return getattr(self.__wrapped__, name, None) if self._self_calls is None else None

    @property
    def _generate(self) -> Any:
        return self._method("generate")

    @property
    def _agenerate(self) -> Any:
        return self._method("agenerate")

    @property
    def _stream(self) -> Any:
        return self._method("stream")

    @property
    def _astream(self) -> Any:
        return self._method("astream")

    def _method(self, name: str) -> Any:
        calls = self._self_calls
        return getattr(self.__wrapped__, f"_{name}") if calls is None else getattr(calls, name)
