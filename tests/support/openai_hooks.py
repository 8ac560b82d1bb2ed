"""Takes chat completions straight to the adapter's hooks, past any session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from openai._base_client import AsyncAPIClient, SyncAPIClient

from workbench.adapters.openai import adapter
from workbench.adapters.openai.description import OPENAI
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.asking import call_of
from workbench.adapters.stainless.hooks import AsyncSdkHooks, SdkHooks
from workbench.seam.calls import Call, Served
from workbench.trace.entries import ErrorInfo

Door = Callable[[SdkHooks, Call], Any]


@contextlib.contextmanager
def hooked(door: Door) -> Iterator[list[SdkHooks]]:
    """While open, ``door`` says what each call gives. The hooks of each call, in order."""
    adapter.install()
    made: list[SdkHooks] = []
    owners: tuple[Any, ...] = (SyncAPIClient, AsyncAPIClient)
    was = [vars(owner)["request"] for owner in owners]

    def method(kind: type[SdkHooks], original: Any) -> Any:
        def request(client: Any, *args: Any, **kwargs: Any) -> Any:
            asked = sdk.Asked.of(OPENAI, client, args, kwargs)
            call = call_of(asked)
            made.append(kind(asked, call, original.__get__(client, type(client))))
            return door(made[-1], call)

        return request

    for owner, kind, original in zip(owners, (SdkHooks, AsyncSdkHooks), was, strict=True):
        owner.request = method(kind, original)
    try:
        yield made
    finally:
        for owner, original in zip(owners, was, strict=True):
            owner.request = original


def through(
    errors: Sequence[ErrorInfo | None], served: Served | None
) -> contextlib.AbstractContextManager[list[SdkHooks]]:
    """While open, a call's first tries fail; the next one gets ``served``, or goes live."""
    known = [error for error in errors if error is not None]
    assert len(known) == len(errors)
    return hooked(lambda hooks, call: hooks.through(call.request, known, served))
