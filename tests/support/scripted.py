"""A model at the seam's own door: a function that answers, with the neutral payload shape.

What an SDK adapter is for an SDK, this is for a plain Python function. ``world`` counts what
really ran.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import DriftError
from workbench.seam.calls import MISSING, Call, Outcome, Served
from workbench.seam.current import current_seam
from workbench.seam.drivers import Tap, call_async, call_sync
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo
from workbench.trace.payloads import view

Answer = Callable[[dict[str, Any]], Any]


class HttpStatus(Exception):  # noqa: N818
    """The scripted provider's own error for a status."""

    def __init__(self, status: int, retry_after: str | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.retry_after = retry_after


class Lost(Exception):  # noqa: N818
    """The scripted provider's own error for a dropped connection."""


@dataclass
class World:
    """What really happened."""

    answer: Answer = lambda body: {"content": f"re: {body['messages'][-1]['content']}"}
    ran: list[dict[str, Any]] = field(default_factory=list)

    def live(self, body: dict[str, Any]) -> Any:
        """Answer for real."""
        self.ran.append(copy.deepcopy(body))
        reply = self.answer(body)
        if isinstance(reply, BaseException):
            raise reply
        return reply


world = World()


class Hooks:
    """Takes one scripted call over the seam."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def perform(self, request: Any) -> Any:
        reply = world.live(request["body"])
        if request["body"].get("stream"):
            return iter(view("workbench").split(reply))
        return reply

    def outcome(self, result: Any) -> Outcome:
        return Outcome(response={"status": 200, "body": result}, provider="scripted")

    def failure(self, error: BaseException) -> Outcome:
        info = describe(error)
        if isinstance(error, HttpStatus):
            info.status = error.status
        return Outcome(error=info)

    def exception(self, info: ErrorInfo) -> BaseException:
        if info.status is not None:
            return HttpStatus(info.status, (info.headers or {}).get("retry-after"))
        if info.type == "connection_reset":
            return Lost(info.message)
        if info.type == "timeout":
            return TimeoutError(info.message)
        if info.module == "workbench":
            return DriftError(info.message)
        return rebuild(info)

    def deliver(self, served: Served) -> Any:
        if served.chunks is None:
            if served.error is not None:
                raise self.exception(served.error)
            assert served.response is not MISSING
            return served.response["body"]
        return self._chunks(served)

    def _chunks(self, served: Served) -> Any:
        yield from served.chunks or ()
        if served.error is not None:
            raise self.exception(served.error)

    def is_stream(self, result: Any) -> bool:
        return hasattr(result, "__next__")

    def tee(self, result: Any, tap: Tap) -> Any:
        try:
            while True:
                if tap.clean_cut():
                    break
                try:
                    chunk = next(result)
                except StopIteration:
                    break
                tap.chunk(chunk)
                yield chunk
        except GeneratorExit:
            tap.end("stopped")
            raise
        except BaseException as error:
            tap.end("cut", error)
            raise
        tap.wait()
        tap.end("complete")


class AsyncHooks(Hooks):
    """The same for async code."""

    async def perform(self, request: Any) -> Any:
        await asyncio.sleep(0)
        return world.live(request["body"])


def _call(messages: list[dict[str, Any]], model: str, extra: dict[str, Any]) -> tuple[Call, Any]:
    body = copy.deepcopy({"model": model, "messages": messages, **extra})
    call = Call(
        kind="model",
        api="workbench",
        model=model,
        stream=bool(extra.get("stream")),
        request={"path": "/chat", "body": body},
    )
    return call, body


def ask(messages: list[dict[str, Any]] | str, *, model: str = "m-1", **extra: Any) -> Any:
    """Ask the model, blocking. With ``stream=True`` an iterator of chunks."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    call, body = _call(said, model, extra)
    seam = current_seam()
    if seam is None:
        return world.live(body)
    return call_sync(seam, call, Hooks(body))


async def aask(messages: list[dict[str, Any]] | str, *, model: str = "m-1", **extra: Any) -> Any:
    """Ask the model, awaiting."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    call, body = _call(said, model, extra)
    seam = current_seam()
    if seam is None:
        return world.live(body)
    return await call_async(seam, call, AsyncHooks(body))
