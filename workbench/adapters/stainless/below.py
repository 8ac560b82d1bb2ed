"""Faults below the SDK's own retries: its tries fail, and it tries again by itself.

The SDK's own request runs on a copy of the agent's client, whose HTTP client answers the first
tries with the faults and the next one with what was recorded, or passes it on to the network.
Requests and answers go through the HTTP library as ever, so that its event hooks see each try.
The SDK's waits between tries take no time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.errors import (
    error_response,
    fails_below,
    to_exception,
    transport_error,
)
from workbench.seam.calls import Served
from workbench.trace.entries import ErrorInfo


class PassedError(BaseException):
    """Carries an exception past the SDK, which would take it for a lost connection."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(str(error))


class Tries:
    """What the SDK's own tries of one call meet.

    Args:
        asked: the call.
        errors: with what the first tries fail, one each.
        served: what the tries after that get; None sends them to the network.
        answer: makes a served answer's response, or raises.
    """

    def __init__(
        self,
        asked: sdk.Asked,
        errors: Sequence[ErrorInfo],
        served: Served | None,
        answer: Callable[[Served], Any],
    ) -> None:
        self._asked = asked
        self._errors = deque(errors)
        self._served = served
        self._answer = answer
        self._failed_on_purpose = False
        self.made = 0
        """How many tries there were."""
        self.waited_s = 0.0
        """Seconds that the SDK would have waited between them."""

    @property
    def offline(self) -> bool:
        """Whether no try reaches the network."""
        return self._served is not None

    def is_live(self) -> bool:
        """Count a try that begins; whether it goes to the network."""
        self.made += 1
        self._failed_on_purpose = bool(self._errors)
        return not self._errors and self._served is None

    def backoff(self, seconds: float) -> float:
        """How long to wait before the next try: no time where nothing real has failed."""
        if not self.offline and not self._failed_on_purpose:
            return seconds
        self.waited_s += seconds
        return 0.0

    def respond(self, request: Any) -> Any:
        """The response to a try that does not go to the network.

        Raises:
            Exception: the HTTP library's own error, where the connection fails.
            PassedError: what was recorded is no failure that an SDK would try again after.
        """
        if self._errors:
            return self._fail(self._errors.popleft(), request)
        served = self._served or Served()
        if served.chunks is None and served.error is not None:
            return self._fail(served.error, request)
        return self._answer(served)

    def _fail(self, info: ErrorInfo, request: Any) -> Any:
        if info.status is not None:
            return error_response(self._asked, info)
        if fails_below(info, request):
            raise transport_error(info, request)
        raise PassedError(to_exception(self._asked, info))


class Wire:
    """Stands in for an HTTP client; in all but sending it is that client."""

    def __init__(self, real: Any, tries: Tries) -> None:
        self._real = real
        self._tries = tries

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @property  # type: ignore[misc] # the SDK asks which HTTP library its client is of
    def __class__(self) -> type:
        return type(self._real)

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request: to the network, or to what stands in for it (or an awaitable)."""
        if self._tries.is_live():
            return self._real.send(request, stream=stream, **options)
        library = sdk.transport(request)
        is_async = isinstance(self._real, library.AsyncClient)
        kind = library.AsyncClient if is_async else library.Client
        client = kind(
            transport=_transport(library, self._tries, is_async=is_async),
            event_hooks=self._real.event_hooks,
            trust_env=False,
        )
        return client.send(request, stream=stream, auth=None)


def _transport(library: Any, tries: Tries, *, is_async: bool) -> Any:
    """A transport, as the HTTP library wants it, that asks ``tries``."""

    async def later(_self: Any, request: Any) -> Any:
        return tries.respond(request)

    if is_async:
        return type("Faulty", (library.AsyncBaseTransport,), {"handle_async_request": later})()
    respond = {"handle_request": lambda _self, request: tries.respond(request)}
    return type("Faulty", (library.BaseTransport,), respond)()
