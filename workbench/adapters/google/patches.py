"""Putting the hooks into the SDK's classes, and taking them out."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import warnings
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from wrapt import register_post_import_hook

from workbench.adapters.google import sdk
from workbench.adapters.google.asking import RECORDED, Endpoint, call_of, endpoint
from workbench.adapters.google.hooks import AsyncGoogleHooks, GoogleHooks
from workbench.errors import DriftError, UsageError
from workbench.seam.current import COVERED, ENCLOSING, call_site, current_seam
from workbench.seam.drivers import Seam, call_async, call_sync
from workbench.seam.patching import Patches
from workbench.seam.plain_calls import atool_call, tool_call
from workbench.seam.tool import Tool

_told_lock = threading.Lock()
_told: WeakKeyDictionary[Seam, set[str]] = WeakKeyDictionary()
"""The endpoints that each session was warned of."""
_waiting: set[str] = set()
"""The parts of the SDK that are still to be imported."""


def hook(patches: Patches) -> None:
    """Hook the SDK's classes."""
    base = import_module(sdk.BASE).BaseApiClient
    for name, stream in zip(sdk.SYNC, (False, True), strict=True):
        patches.wrap(base, name, partial(_request, stream))
    for name, stream in zip(sdk.ASYNC, (False, True), strict=True):
        patches.wrap(base, name, partial(_arequest, stream))
    for name, words in sdk.BESIDE.items():
        patches.wrap(base, name, partial(_beside, words))
    patches.wrap(base, "__init__", _construct)
    patches.wrap(import_module(sdk.DECLARING), "t_tool", _declare)
    calling = import_module(sdk.CALLING)
    for name, wrapper in zip(sdk.INVOKE, (_invoke, _ainvoke), strict=True):
        patches.wrap(calling, name, wrapper)
    for module in sdk.APART:
        if module in sys.modules:
            _hook_apart(patches, module)
        elif module not in _waiting:
            _waiting.add(module)
            register_post_import_hook(partial(_imported, patches), module)


def _imported(patches: Patches, module: ModuleType) -> None:
    """The SDK imports a part of itself only when it is used."""
    _waiting.discard(module.__name__)
    if patches.active:
        _hook_apart(patches, module.__name__)


def _hook_apart(patches: Patches, module: str) -> None:
    for name, words in sdk.APART[module].items():
        owner, method = name.split(".")
        patches.wrap(getattr(sys.modules[module], owner), method, partial(_beside, words))


def _met(
    client: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, stream: bool
) -> tuple[Seam, sdk.Asked, Endpoint] | None:
    """The session that a call goes through, and what is asked; None: it passes by."""
    seam = None if COVERED.get() else current_seam()
    if seam is None:
        sdk.settle_key(client)
        return None
    asked = sdk.Asked.of(client, args, kwargs, stream=stream)
    where = endpoint(asked)
    if where.api is None:
        _elsewhere(seam, f"{asked.method.upper()} {where.path}")
        sdk.settle_key(client)
        return None
    return seam, asked, where


def _request(
    stream: bool,  # noqa: FBT001 - bound by the hook
    wrapped: Any,
    client: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    met = _met(client, args, kwargs, stream=stream)
    if met is None:
        return wrapped(*args, **kwargs)
    seam, asked, where = met
    call = call_of(asked, where)
    return call_sync(seam, call, GoogleHooks(asked, call, wrapped))


def _arequest(
    stream: bool,  # noqa: FBT001 - bound by the hook
    wrapped: Any,
    client: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """As :func:`_request`. It is no coroutine itself: the request is read before any waiting."""
    met = _met(client, args, kwargs, stream=stream)
    if met is None:
        return wrapped(*args, **kwargs)
    seam, asked, where = met
    call = call_of(asked, where)
    return call_async(seam, call, AsyncGoogleHooks(asked, call, wrapped))


def _beside(
    words: str, wrapped: Any, _owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A call that goes past the doors: files, live sessions, interactions."""
    seam = None if COVERED.get() else current_seam()
    if seam is not None:
        _elsewhere(seam, words)
    return wrapped(*args, **kwargs)


def _construct(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Make a client. Where a recording answers, one without a key is as good as any."""
    from google.auth.exceptions import GoogleAuthError

    seam = current_seam()
    setting = None if seam is None or args else seam.session.setting
    may_do_without = setting is not None and not setting.recording
    if setting is not None and setting.offline and sdk.looks_for_project(kwargs):
        wrapped(**sdk.offline_client(kwargs))
        return
    try:
        wrapped(*args, **kwargs)
    except (ValueError, GoogleAuthError) as error:
        if not may_do_without or kwargs.get("api_key"):
            raise
        try:
            wrapped(**sdk.offline_client(kwargs))
        except (ValueError, GoogleAuthError):
            raise error from None  # it was not about the key


def _declare(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Declare a tool to the model. The SDK takes functions only, and calls what it was given."""
    given = dict(zip(("client", "origin"), args, strict=False)) | kwargs
    tool = given.get("origin")
    if isinstance(tool, Tool):
        given["origin"] = _like(tool)
    return wrapped(**given)


def _like(tool: Tool[..., Any]) -> Any:
    """A function that is inspected as the tool is."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return tool(*args, **kwargs)

    functools.update_wrapper(function, tool.function)
    function.__name__ = tool.name
    function.__signature__ = inspect.signature(tool)  # type: ignore[attr-defined]
    return function


def _invoke(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function that the SDK calls by itself, as the model asked: a tool, and recorded as one."""
    given, function = _invoked(args, kwargs)
    return tool_call(function.__name__, given, lambda changed: wrapped(changed, function))


def _ainvoke(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same of an async function."""
    given, function = _invoked(args, kwargs)
    return atool_call(function.__name__, given, lambda changed: wrapped(changed, function))


def _invoked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    found = dict(zip(("args", "function_to_invoke"), args, strict=False)) | kwargs
    return dict(found["args"]), found["function_to_invoke"]


def _elsewhere(seam: Seam, what: str) -> None:
    """Decide on a call of another kind, which this version neither records nor replays.

    Raises:
        UsageError: the run is a replay or a fork, where the call is not in the recording. Where
            the run is strict it ends as drifted, also if the agent swallows this.
    """
    if ENCLOSING.get() is not None:  # a tool's result is recorded, so what it calls need not be
        return
    if not seam.session.setting.recording:
        raise _refused(seam, f"{what} at {call_site() or 'an unknown line'}")
    _warn_once(seam, what)


def _refused(seam: Seam, call: str) -> UsageError:
    why = (
        "a replay makes no live calls"
        if seam.session.setting.offline
        else "a fork cannot tell whether it belongs before or after the place where it goes live, "
        "nor whether it changes anything"
    )
    text = (
        f"{call} is not in the recording: of Google's API this version records {RECORDED} only. It "
        f"was not sent, since {why}. Put the call into a function with @workbench.tool: then its "
        "result is recorded and replayed"
    )
    with seam.lock:
        if seam.session.policy.strict:
            seam.session.drift = seam.session.drift or DriftError(text)
        else:
            seam.session.ledger.note(text)
    return UsageError(text)


def _warn_once(seam: Seam, what: str) -> None:
    with _told_lock:
        told = _told.setdefault(seam, set())
        if what in told:
            return
        told.add(what)
    text = (
        f"{what} was made, and not recorded: of Google's API this version records {RECORDED} only. "
        "Put the call into a function with @workbench.tool to record its result"
    )
    seam.session.ledger.note(text)
    warnings.warn(text, stacklevel=2)
