"""Putting the hooks into the SDK's classes, and taking them out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from workbench.adapters.http.keys import DUMMY_KEY, is_answered
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.asking import call_of
from workbench.adapters.stainless.description import Endpoint, Sdk, path_of
from workbench.adapters.stainless.hooks import CAUGHT, AsyncSdkHooks, SdkHooks
from workbench.adapters.stainless.passing import pass_by
from workbench.adapters.stainless.sockets import hook_sockets
from workbench.seam.current import COVERED, current_seam
from workbench.seam.drivers import Seam, call_async, call_sync
from workbench.seam.patching import Patches, Wrapper


def hook_sdk(about: Sdk, patches: Patches) -> None:
    """Hook an SDK's classes."""
    for name, wrapper in zip(sdk.REQUEST, _doors(about), strict=True):
        _wrap(patches, about.base, name, wrapper)
    for name in sdk.PROCESS:
        _wrap(patches, about.base, name, _process)
    for name in sdk.FINISH if sdk.knows_middleware(about) else ():
        _wrap(patches, about.base, name, _finish)
    for module, names in about.clients.items():
        for name in names:
            _wrap(patches, module, f"{name}.__init__", partial(_construct, about))
    hook_sockets(about, patches)


def _wrap(patches: Patches, module: str, name: str, wrapper: Wrapper) -> None:
    class_name, method = name.split(".")
    patches.wrap(getattr(import_module(module), class_name), method, wrapper)


def _doors(about: Sdk) -> tuple[Wrapper, Wrapper]:
    """What is called instead of the SDK's two requests."""

    def request(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        met = _met(about, client, args, kwargs)
        if met is None:
            return wrapped(*args, **kwargs)
        seam, asked = met
        call = call_of(asked)
        return call_sync(seam, call, SdkHooks(asked, call, wrapped))

    def arequest(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """It is no coroutine itself: the request is read before any waiting."""
        met = _met(about, client, args, kwargs)
        if met is None:
            return wrapped(*args, **kwargs)
        seam, asked = met
        call = call_of(asked)
        return call_async(seam, call, AsyncSdkHooks(asked, call, wrapped))

    return request, arequest


def _met(
    about: Sdk, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Seam, sdk.Asked] | None:
    """The session that a call goes through, and what is asked; None: it passes by."""
    seam = None if COVERED.get() else current_seam()
    if seam is None:
        sdk.settle_key(about, client)
        return None
    asked = sdk.Asked.of(about, client, args, kwargs)
    endpoint = asked.found
    if endpoint is None or _is_other(endpoint, asked.options):
        where = f"{str(asked.options.method).upper()} {path_of(asked.options)}"
        pass_by(seam, about, where if endpoint is None else f"{where} with {endpoint.unless}=True")
        sdk.settle_key(about, client)
        return None
    return seam, asked.settled()


def _process(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    caught = CAUGHT.get()
    if caught is not None:
        caught.response = kwargs.get("response")
    return wrapped(*args, **kwargs)


def _finish(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    caught = CAUGHT.get()
    if caught is not None:
        caught.finish(args[0] if args else kwargs["result"])
    return wrapped(*args, **kwargs)


def _construct(
    about: Sdk, wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Make a client. Where a recording answers, one without a key is as good as any."""
    refusal = getattr(sdk.library(about), about.client_error)
    try:
        wrapped(*args, **kwargs)
    except refusal as error:
        if not is_answered() or kwargs.get("api_key"):
            raise
        try:
            wrapped(*args, **{**kwargs, "api_key": DUMMY_KEY})
        except refusal:
            raise error from None  # it was not about the key
    else:
        if about.lacks_key(client) and is_answered():
            client.api_key = DUMMY_KEY


def _is_other(endpoint: Endpoint, options: Any) -> bool:
    """Whether a call's body makes it one of another kind."""
    if not endpoint.unless:
        return False
    bodies = [each for each in (options.json_data, options.extra_json) if isinstance(each, Mapping)]
    return any(each.get(endpoint.unless) is True for each in bodies)
