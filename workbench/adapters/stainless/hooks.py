"""One call of an SDK's, as the drivers want to see it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from workbench.adapters.http.wire import body_bytes, body_headers, read_body, stream_headers
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.below import PassedError, Tries, Wire
from workbench.adapters.stainless.errors import (
    EventFault,
    error_response,
    kept_head,
    made_response,
    to_exception,
    to_info,
)
from workbench.adapters.stainless.kept import note_served, refuse_lost
from workbench.adapters.stainless.streams import Playback, Tee, model_of, wait_like
from workbench.errors import UsageError
from workbench.seam.calls import Call, Outcome, Served
from workbench.seam.drivers import Tap
from workbench.seam.exceptions import timed
from workbench.trace.entries import ErrorInfo


@dataclass(slots=True)
class Caught:
    """The HTTP response of the call that is under way in this context."""

    response: Any = None
    made: Any = None
    """What the client's own middleware gave without any response."""
    is_last: bool = True
    """Whether the caller gets the response: middleware may ask several times, and change it."""

    def finish(self, result: Any) -> None:
        """The client's middleware is through; ``result`` is what the caller's is made of."""
        self.response = getattr(result, "http_response", None)
        self.made = result if self.response is None else None
        self.is_last = True

    def take(self) -> Any:
        """The response that the caller gets, if there was one; it is let go of."""
        response, self.response = self.response, None
        return response if self.is_last else None


CAUGHT: ContextVar[Caught | None] = ContextVar("workbench_sdk_response", default=None)


class SdkHooks:
    """A call made by sync code."""

    is_async = False

    def __init__(self, asked: sdk.Asked, call: Call, wrapped: Any) -> None:
        self._asked = asked
        self._call = call
        self._wrapped = wrapped
        self._caught = Caught(is_last=not sdk.has_middleware(asked.client))
        self._served = False
        self._since = time.monotonic()
        self._tee: Tee | None = None
        self._playback: Playback | None = None
        self.tries = 0
        """How many tries the SDK made by itself, in :meth:`through`."""
        self.waited_s = 0.0
        """How long it would have waited between them, in seconds."""

    # -- live -----------------------------------------------------------------------------

    def perform(self, request: Any) -> Any:
        """Make the call for real: with the agent's own arguments, unless the body was edited."""
        args, kwargs = self._arguments(request)
        token = CAUGHT.set(self._caught)
        try:
            result = self._wrapped(*args, **kwargs)
        finally:
            CAUGHT.reset(token)
        if self._reads_late():
            self._caught.response.read()
        return result

    def _reads_late(self) -> bool:
        return self._caught.response is not None and sdk.reads_body_late(self._asked)

    def _arguments(self, request: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        sdk.settle_key(self._asked.about, self._asked.client)
        refuse_lost(self._asked, request)
        self._since = time.monotonic()
        if request is self._call.request or request == self._call.request:
            return self._asked.args, self._asked.kwargs
        return self._asked.with_body(request.get("body"), request.get("query"))

    def outcome(self, result: Any) -> Outcome:
        """Read the response that the SDK made the result of."""
        response, made = self._caught.take(), self._caught.made
        if response is None and made is not None:
            response = made_response(self._asked, made)
        if response is None:
            raise UsageError(
                f"a {type(result).__name__} came back without any HTTP response: something else "
                "replaces the SDK's methods below the workbench. Take that out while recording"
            )
        outcome = self._known(response)
        body = outcome.response["body"] = read_body(response)
        outcome.model = model_of(body)
        return outcome

    def failure(self, error: BaseException) -> Outcome:
        """Read an exception. A response that came, but could not be used, is kept too."""
        response = self._caught.take()
        info = to_info(self._asked.about, error, response)
        since = self._tee.at if self._tee is not None else self._since
        outcome = Outcome(error=timed(info, since))
        if not self._served:
            outcome.provider = self._asked.about.provider(self._asked.client)
        if response is not None and info.status is not None:
            outcome.response = {"status": info.status, "headers": info.headers, "body": info.body}
            outcome.model = model_of(info.body)
        return outcome

    def _known(self, response: Any) -> Outcome:
        name = None if self._served else self._asked.about.provider(self._asked.client)
        return Outcome(response=kept_head(self._asked.about, response), provider=name)

    # -- with tries that fail -------------------------------------------------------------

    def through(self, request: Any, errors: Sequence[ErrorInfo], served: Served | None) -> Any:
        """Make the call with the SDK's own retries, where its first tries fail.

        Args:
            request: what is asked, as for :meth:`perform`.
            errors: with what the first tries fail, one each.
            served: what the next try gets; None sends it to the network.

        Returns:
            The SDK's own result; :attr:`tries` says how many tries it took.

        Raises:
            Exception: the SDK's own, when it gives up before its tries succeed.
        """
        asked, tries = self._below(request, errors, served)
        token = CAUGHT.set(self._caught)
        try:
            double = self._double(tries)
            result = sdk.request_over(self._wrapped, double, asked, offline=tries.offline)
        except PassedError as passed:
            raise passed.error from None
        finally:
            CAUGHT.reset(token)
            self.tries, self.waited_s = tries.made, tries.waited_s
        if self._reads_late():
            self._caught.response.read()
        return result

    def _below(
        self, request: Any, errors: Sequence[ErrorInfo], served: Served | None
    ) -> tuple[sdk.Asked, Tries]:
        asked = self._asked
        self._served = served is not None
        if served is None:
            args, kwargs = self._arguments(request)
            asked = sdk.Asked.of(asked.about, asked.client, args, kwargs)
        return asked, Tries(asked, errors, served, self._answer)

    def _double(self, tries: Tries) -> Any:
        client = self._asked.client
        wire = Wire(sdk.http_client(client), tries)
        return sdk.stand_in(client, wire, tries.backoff, offline=tries.offline)

    # -- not from the world ---------------------------------------------------------------

    def exception(self, info: ErrorInfo) -> BaseException:
        """The SDK's own exception, complete with request and response."""
        if self._tee is not None and info.status is not None and info.status >= 400:
            body = self._asked.about.usual_body(info.status) if info.body is None else info.body
            return EventFault(body)
        return to_exception(self._asked, info)

    def deliver(self, served: Served) -> Any:
        """The SDK's own result, made by its own parser from a response like the recorded one."""
        self._caught.is_last = True  # what was recorded had passed the client's middleware
        return sdk.process(self._asked, self._answer(served))

    def _answer(self, served: Served) -> Any:
        """The response of a served answer; raises its error when there is none."""
        self._served = True
        if served.chunks is None and served.error is not None:
            if served.error.body is None or (served.error.status or 400) >= 400:
                raise self.exception(served.error)
            # A good status with a body that could not be used: the parser says so again.
            return error_response(self._asked, served.error)
        note_served(self._asked, served)
        request = sdk.build_request(self._asked)
        head = served.response if isinstance(served.response, dict) else {}
        status = head.get("status", 200)
        if served.chunks is None:
            body = head.get("body")
            headers = body_headers(head.get("headers"), body)
            content = body_bytes(body, headers)
            return sdk.make_response(request, status, headers, content=content)
        self._playback = Playback(self._asked, request, served)
        kind = self._asked.about.framing(self._asked.client).content_type
        self._caught.response = sdk.make_response(
            request,
            status,
            stream_headers(head, has_events=bool(served.chunks), kind=kind),
            stream=self._playback.stream(is_async=self.is_async),
        )
        return self._caught.response

    # -- streams --------------------------------------------------------------------------

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - it shows by the response
        """Whether the response's body is yet to be read, event by event."""
        return self._asked.stream and self._caught.response is not None

    def tee(self, result: Any, tap: Tap) -> Any:
        """The very same result; reading it tells the tap."""
        # Let go of the response, so that it ends when its reader forgets it.
        response = self._caught.take()
        tap.known = self._known(response)
        if self._playback is not None:
            self._playback.tap = tap
        self._tee = Tee(self._asked, response, tap, is_async=self.is_async)
        self._tee.attach()
        return result

    def drain(self, result: Any) -> Any:  # noqa: ARG002 - it may be of a type that cannot be read
        """Read a stream that was given to :meth:`tee` to its end, in whatever form it was asked
        for; what breaks it is told to the tap, and not raised."""
        if self._tee is not None:
            self._tee.drain()


class AsyncSdkHooks(SdkHooks):
    """A call made by async code."""

    is_async = True

    async def perform(self, request: Any) -> Any:
        """Make the call for real: with the agent's own arguments, unless the body was edited."""
        args, kwargs = self._arguments(request)
        token = CAUGHT.set(self._caught)
        try:
            result = await self._wrapped(*args, **kwargs)
        finally:
            CAUGHT.reset(token)
        if self._reads_late():
            await self._caught.response.aread()
        return result

    async def through(
        self, request: Any, errors: Sequence[ErrorInfo], served: Served | None
    ) -> Any:
        """Make the call with the SDK's own retries, where its first tries fail."""
        asked, tries = self._below(request, errors, served)
        token = CAUGHT.set(self._caught)
        try:
            double = self._double(tries)
            result = await sdk.request_over(self._wrapped, double, asked, offline=tries.offline)
        except PassedError as passed:
            raise passed.error from None
        finally:
            CAUGHT.reset(token)
            self.tries, self.waited_s = tries.made, tries.waited_s
        if self._reads_late():
            await self._caught.response.aread()
        return result

    async def drain(self, result: Any) -> None:  # noqa: ARG002 - as above
        """Read a stream that was given to :meth:`tee` to its end."""
        if self._tee is not None:
            await self._tee.adrain()

    async def deliver(self, served: Served) -> Any:
        """The SDK's own result, made by its own parser from a response like the recorded one."""
        if served.chunks is None and served.error is not None:
            await wait_like(served.error)
        self._caught.is_last = True
        return await sdk.process(self._asked, self._answer(served))
