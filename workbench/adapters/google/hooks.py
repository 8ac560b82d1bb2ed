"""One call of a model, as the drivers want to see it."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from workbench.adapters.google import sdk
from workbench.adapters.google.asking import rewritten
from workbench.adapters.google.errors import Raising, kept_headers, to_info
from workbench.adapters.google.streams import Opened, Playback, Tee, wait_like
from workbench.adapters.http.wire import body_headers
from workbench.adapters.stainless.description import is_loopback
from workbench.seam.calls import Call, Outcome, Served
from workbench.seam.drivers import Tap
from workbench.trace.entries import ErrorInfo


class GoogleHooks:
    """A call made by sync code.

    Args:
        asked: the call's arguments.
        call: the call as the session knows it.
        wrapped: the SDK's own door.
    """

    is_async = False

    def __init__(self, asked: sdk.Asked, call: Call, wrapped: Any) -> None:
        self._asked = asked
        self._call = call
        self._wrapped = wrapped
        self._raising = Raising(asked, is_async=self.is_async)
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
        return self._opened(self._wrapped(*self._arguments(request)))

    def _arguments(self, request: Any) -> tuple[Any, ...]:
        sdk.settle_key(self._asked.client)
        self._since = time.monotonic()
        if request is self._call.request or request == self._call.request:
            return self._asked.as_given()
        return rewritten(self._asked, request)

    def _opened(self, result: Any) -> Any:
        return Opened(result) if self._asked.stream else result

    def outcome(self, result: Any) -> Outcome:
        """Read what the door gave."""
        outcome = self._known(dict(result.headers or {}))
        body = outcome.response["body"] = _read(result.body)
        model = body.get("modelVersion") if isinstance(body, dict) else None
        outcome.model = model if isinstance(model, str) else None
        return outcome

    def failure(self, error: BaseException) -> Outcome:
        """Read an exception."""
        info = to_info(error)
        if info.type == "CancelledError":
            since = self._tee.at if self._tee is not None else self._since
            info = info.model_copy(update={"after_s": round(time.monotonic() - since, 3)})
        outcome = Outcome(error=info)
        if not self._served:
            outcome.provider = provider(self._asked.client)
        if info.status is not None:
            outcome.response = {"status": info.status, "headers": info.headers, "body": info.body}
        return outcome

    def _known(self, headers: dict[str, str]) -> Outcome:
        name = None if self._served else provider(self._asked.client)
        # Any other status is an exception.
        return Outcome(response={"status": 200, "headers": kept_headers(headers)}, provider=name)

    # -- with tries that fail -------------------------------------------------------------

    def through(self, request: Any, errors: Sequence[ErrorInfo], served: Served | None) -> Any:
        """Make the call with the SDK's own retries, where its first tries fail.

        Args:
            request: what is asked, as for :meth:`perform`.
            errors: with what the first tries fail, one each.
            served: what the next try gets; None sends it to the network.

        Returns:
            What the door gives; :attr:`tries` says how many tries it took.

        Raises:
            Exception: the SDK's own, when it gives up before its tries succeed.
        """
        double, arguments = self._double(request, errors, served)
        return self._opened(self._wrapped.__func__(double, *arguments))

    def _double(
        self, request: Any, errors: Sequence[ErrorInfo], served: Served | None
    ) -> tuple[Any, tuple[Any, ...]]:
        left = deque(errors)
        self._served = served is not None
        arguments = self._asked.as_given() if served is not None else self._arguments(request)

        def once(http_request: Any, stream: bool) -> Any:  # noqa: FBT001 - as the SDK's
            self.tries += 1
            if left:
                raise self.exception(left.popleft())
            if served is None:
                client = self._asked.client
                return sdk.try_once(client, http_request, stream, is_async=self.is_async)
            return self._tried(served)

        def sleep(seconds: float) -> None:
            self._sleep_less(seconds)

        return self._standing_in(once, sleep), arguments

    def _standing_in(self, once: Any, sleep: Any) -> Any:
        options = self._asked.options
        return sdk.stand_in(self._asked.client, once, sleep, options, is_async=self.is_async)

    def _sleep_less(self, seconds: float) -> None:
        """Nothing real has failed where a wait is for a fault, so it takes no time."""
        self.waited_s += seconds

    def _tried(self, served: Served) -> Any:
        """What a single try gives for a served answer; raises its error when there is none."""
        if served.chunks is not None:
            play = self._playback = Playback(served, self.exception)
            return sdk.as_tried(play.headers, play.texts, play.atexts)
        answer = self._answer(served)
        return sdk.whole(answer.headers, answer.body)

    # -- not from the world ---------------------------------------------------------------

    def exception(self, info: ErrorInfo) -> BaseException:
        """The SDK's own exception, or that of its HTTP library, which it lets through."""
        return self._raising.exception(info, inside=self._tee is not None)

    def deliver(self, served: Served) -> Any:
        """What the door would give, of which the SDK makes its own types."""
        self._served = True
        if served.chunks is None:
            return self._answer(served)
        self._playback = Playback(served, self.exception)
        return self._played(self._playback)

    def _played(self, playback: Playback) -> Any:
        return playback.pieces()

    def _answer(self, served: Served) -> Any:
        self._served = True
        error = served.error
        if error is not None and (error.body is None or (error.status or 400) >= 400):
            raise self.exception(error)
        # A good status with a body that could not be used: the SDK says so again.
        head = served.response if isinstance(served.response, dict) else {}
        found = error.headers if error is not None else head.get("headers")
        body = error.body if error is not None else head.get("body")
        text = body if isinstance(body, str) else json.dumps(body)
        headers = kept_headers(found or {})
        has_kind = any(name.lower() == "content-type" for name in headers)
        return sdk.answer(headers if has_kind else body_headers(headers, body), text)

    # -- streams --------------------------------------------------------------------------

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - the door tells
        """Whether it is read piece by piece."""
        return self._asked.stream

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same pieces; reading them tells the tap."""
        if self._playback is not None:
            self._playback.tap = tap
        self._tee = Tee(tap, self._known)
        return self._read(self._tee, result)

    def _read(self, tee: Tee, result: Any) -> Any:
        return tee.read(iter(result))


class AsyncGoogleHooks(GoogleHooks):
    """A call made by async code."""

    is_async = True

    async def perform(self, request: Any) -> Any:
        """Make the call for real: with the agent's own arguments, unless the body was edited."""
        return await self._wrapped(*self._arguments(request))

    async def through(
        self, request: Any, errors: Sequence[ErrorInfo], served: Served | None
    ) -> Any:
        """Make the call with the SDK's own retries, where its first tries fail."""
        double, arguments = self._double(request, errors, served)
        return await self._wrapped.__func__(double, *arguments)

    def _standing_in(self, once: Any, sleep: Any) -> Any:
        async def later(http_request: Any, stream: bool) -> Any:  # noqa: FBT001 - as the SDK's
            found = once(http_request, stream)
            return await found if hasattr(found, "__await__") else found

        async def pause(seconds: float) -> None:
            sleep(seconds)
            await asyncio.sleep(0)

        return super()._standing_in(later, pause)

    async def deliver(self, served: Served) -> Any:
        """What the door would give, of which the SDK makes its own types."""
        if served.chunks is None and served.error is not None:
            await wait_like(served.error)
        return super().deliver(served)

    def _played(self, playback: Playback) -> Any:
        return playback.apieces()

    def _read(self, tee: Tee, result: Any) -> Any:
        return tee.aread(aiter(result))


def _read(text: str | None) -> Any:
    """A body as the trace keeps it: JSON, or its text where it is none."""
    try:
        found = json.loads(text or "")
    except ValueError:
        return text or ""
    return text if found is None or isinstance(found, str) else found


def provider(client: Any) -> str:
    """Who answers, without saying where: ``google``, ``local``, or any other server that speaks
    Google's protocol."""
    name = sdk.host(client).lower()
    if is_loopback(name):
        return "local"
    own = name == "googleapis.com" or name.endswith(".googleapis.com")
    return "google" if own else "google-compatible"
