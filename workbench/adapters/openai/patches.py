"""Putting the hooks into the SDK's classes, and taking them out."""

from __future__ import annotations

import threading
import warnings
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from workbench.adapters.openai import sdk
from workbench.adapters.openai.asking import call_of, endpoint, is_chat
from workbench.adapters.openai.hooks import CAUGHT, AsyncChatHooks, ChatHooks
from workbench.errors import DriftError, UsageError
from workbench.seam.current import COVERED, ENCLOSING, call_site, current_seam
from workbench.seam.drivers import Seam, call_async, call_sync
from workbench.seam.patching import Patches, Wrapper


class _Told:
    """The endpoints that each session was warned of."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.of: WeakKeyDictionary[Seam, set[str]] = WeakKeyDictionary()


_told = _Told()


def hook(patches: Patches) -> None:
    """Hook the SDK's classes."""
    for name, wrapper in zip(sdk.REQUEST, (_request, _arequest), strict=True):
        _wrap(patches, sdk.BASE, name, wrapper)
    for name in sdk.PROCESS:
        _wrap(patches, sdk.BASE, name, _process)
    for module, names in sdk.CLIENTS.items():
        for name in names:
            _wrap(patches, module, name, _construct)


def _wrap(patches: Patches, module: str, name: str, wrapper: Wrapper) -> None:
    class_name, method = name.split(".")
    patches.wrap(getattr(import_module(module), class_name), method, wrapper)


def _request(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    seam = None if COVERED.get() else current_seam()
    if seam is None:
        sdk.settle_key(client)
        return wrapped(*args, **kwargs)
    asked = sdk.Asked.of(client, args, kwargs)
    if not is_chat(asked.options):
        _elsewhere(seam, asked)
        return wrapped(*args, **kwargs)
    call = call_of(asked)
    return call_sync(seam, call, ChatHooks(asked, call, wrapped))


def _arequest(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As :func:`_request`. It is no coroutine itself: the request is read before any waiting."""
    seam = None if COVERED.get() else current_seam()
    if seam is None:
        sdk.settle_key(client)
        return wrapped(*args, **kwargs)
    asked = sdk.Asked.of(client, args, kwargs)
    if not is_chat(asked.options):
        _elsewhere(seam, asked)
        return wrapped(*args, **kwargs)
    call = call_of(asked)
    return call_async(seam, call, AsyncChatHooks(asked, call, wrapped))


def _process(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    caught = CAUGHT.get()
    if caught is not None:
        caught.response = kwargs.get("response")
    return wrapped(*args, **kwargs)


def _construct(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Make a client. Where a recording answers, one without a key is as good as any."""
    import openai

    try:
        wrapped(*args, **kwargs)
    except openai.OpenAIError as error:
        seam = current_seam()
        if seam is None or seam.session.setting.recording or kwargs.get("api_key"):
            raise
        try:
            wrapped(*args, **{**kwargs, "api_key": sdk.DUMMY_KEY})
        except openai.OpenAIError:
            raise error from None  # it was not about the key


def _elsewhere(seam: Seam, asked: sdk.Asked) -> None:
    """Decide on a call of another endpoint, which this version neither records nor replays.

    Raises:
        UsageError: the run is a replay or a fork, where the call is not in the recording. Where
            the run is strict it ends as drifted, also if the agent swallows this.
    """
    where = f"{str(asked.options.method).upper()} {endpoint(asked.options)}"
    if ENCLOSING.get() is None:  # a tool's result is recorded, so what it calls need not be
        if not seam.session.setting.recording:
            raise _refused(seam, f"{where} at {call_site() or 'an unknown line'}")
        _warn_once(seam, where)
    sdk.settle_key(asked.client)


def _refused(seam: Seam, call: str) -> UsageError:
    why = (
        "a replay makes no live calls"
        if seam.session.setting.offline
        else "a fork cannot tell whether it belongs before or after the place where it goes live, "
        "nor whether it changes anything"
    )
    text = (
        f"{call} is not in the recording: of OpenAI's API this version records chat completions "
        f"only. It was not sent, since {why}. Put the call into a function with @workbench.tool: "
        "then its result is recorded and replayed"
    )
    with seam.lock:
        if seam.session.policy.strict:
            seam.session.drift = seam.session.drift or DriftError(text)
        else:
            seam.session.ledger.note(text)
    return UsageError(text)


def _warn_once(seam: Seam, where: str) -> None:
    with _told.lock:
        told = _told.of.setdefault(seam, set())
        if where in told:
            return
        told.add(where)
    text = (
        f"{where} was made, and not recorded: of OpenAI's API this version records chat "
        "completions only. Put the call into a function with @workbench.tool to record its result"
    )
    seam.session.ledger.note(text)
    warnings.warn(text, stacklevel=2)
