"""One request of a client session on its way over the seam.

A tool's call is a tool call of that name. What else is asked of a server is one too, whose name
says what it is (``mcp:initialize``, ``mcp:tools/list``, ``mcp:resources/read``): the agent works
with the answers, so they are recorded and served as those of tools are. They only read, and no
model asked for them. A ping says nothing, and is answered without an entry.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.adapters.mcp.errors import (
    InsteadError,
    as_result,
    as_tool_result,
    kept,
    raised_again,
)
from workbench.adapters.mcp.hearing import heard_again
from workbench.adapters.mcp.link import CALL_TOOL, DISCOVER, INITIALIZE, LIST_TOOLS
from workbench.adapters.mcp.listing import note_changes, recorded_tools
from workbench.seam.calls import Call, Outcome
from workbench.seam.current import COVERED_TOOL, LAST_MODEL, current_seam
from workbench.seam.declared import declared
from workbench.seam.drivers import call_async
from workbench.seam.exceptions import timed
from workbench.seam.plain_calls import AsyncValueHooks
from workbench.trace.toollists import HEARD, PREFIX
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.adapters.mcp.errors import Errors
    from workbench.adapters.mcp.link import Link, Progress
    from workbench.seam.seams import Seam
    from workbench.trace.entries import ErrorInfo

PING = "ping"
LISTEN = "subscriptions/listen"
_OURS = "io.modelcontextprotocol/"
_TRACING = ("progressToken", "traceparent", "tracestate", "baggage")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session asks its server."""

    method: str
    params: Any
    """As on the wire; None where there are none."""
    make: Callable[[Any, Progress | None], Awaitable[dict[str, Any]]]
    """Asks the live server, with these parameters, and gives the result as on the wire."""
    progress: Progress | None = None
    """The caller's callback for the progress of this request."""


async def exchange(link: Link, asked: Asked, errors: Errors) -> dict[str, Any]:
    """The answer to a request: the live server's, or what the session gives instead.

    Raises:
        Exception: the SDK's own, now or when it was recorded, or an injected one.
    """
    seam = current_seam()
    if seam is None or _covered(asked):
        with _uncovered():
            return await perform(link, asked, asked.params, seam)
    if asked.method == PING and link.away:
        return {}
    if asked.method in (PING, LISTEN):
        return await perform(link, asked, asked.params, seam)
    call = described(link, asked)
    hooks = McpHooks(link, asked, call, seam, errors)
    of_tool = asked.method == CALL_TOOL
    token = None if of_tool else LAST_MODEL.set(None)
    try:
        result: dict[str, Any] = await call_async(seam, call, hooks)
    except InsteadError as instead:
        return instead.result
    finally:
        if token is not None:
            LAST_MODEL.reset(token)
    return result


async def perform(
    link: Link, asked: Asked, params: Any, seam: Seam | None, notes: list[Any] | None = None
) -> dict[str, Any]:
    """Ask the live server, which is begun with first if it was not so far."""
    heard = link.begin()
    try:
        if asked.method not in (INITIALIZE, DISCOVER):
            await link.ready(seam)
        result = await asked.make(params, heard.progress(asked.progress))
    except Exception as error:
        if link.failure is not None and error is not link.failure:
            raise link.failure from error
        raise
    finally:
        link.end(heard)
        if notes is not None:
            notes += heard.notes
    link.saw(asked.method, params, result, live=True)
    return result


def described(link: Link, asked: Asked) -> Call:
    """A request as a call on the seam."""
    params = asked.params or {}
    meta = {
        key: value
        for key, value in (params.get("_meta") or {}).items()
        if not key.startswith(_OURS) and key not in _TRACING
    }
    rest = {key: value for key, value in params.items() if key != "_meta"}
    if asked.method == CALL_TOOL:
        name = str(rest.pop("name", ""))
        arguments = rest.pop("arguments", None) or {}
        more = rest
    else:
        name = PREFIX + asked.method
        arguments, more = _told(asked.method, rest), {}
    server = link.label if asked.method in (INITIALIZE, DISCOVER) else link.server
    request: dict[str, Any] = {"name": name, "arguments": encode(arguments, plain=True)}
    request |= {"server": server} if server else {}
    request |= {key: encode(value, plain=True) for key, value in more.items()}
    request |= {"meta": encode(meta, plain=True)} if meta else {}
    if asked.method != CALL_TOOL:
        return Call(kind="tool", name=name, effect="read", request=request)
    said = declared(name, arguments)
    key = said.key_of(**arguments) if said.key_of is not None else None
    request |= {"key": key} if key is not None else {}
    effect = link.effect(name) or said.effect
    return Call(kind="tool", name=name, effect=effect, request=request, key=key)


def _told(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What tells two requests apart. What a client offers changes with its SDK, and not with what
    is asked of the server."""
    if method not in (INITIALIZE, DISCOVER):
        return params
    info = params.get("clientInfo")
    client = info.get("name") if isinstance(info, dict) else None
    return {"client": client} if client else {}


def _covered(asked: Asked) -> bool:
    """Whether a framework's tool call that is on the seam already is this one: by the same name,
    or by one that the framework put the server's name before."""
    outer = COVERED_TOOL.get()
    if outer is None or asked.method != CALL_TOOL:
        return False
    name = str((asked.params or {}).get("name"))
    before = outer.removesuffix(name)
    return before != outer and (not before or not before[-1].isalnum())


@contextmanager
def _uncovered() -> Iterator[None]:
    token = COVERED_TOOL.set(None)  # what the server asks for meanwhile is another call
    try:
        yield
    finally:
        COVERED_TOOL.reset(token)


class McpHooks(AsyncValueHooks):
    """Takes one request over the seam."""

    def __init__(self, link: Link, asked: Asked, call: Call, seam: Seam, errors: Errors) -> None:
        super().__init__(self._asked)
        self._link = link
        self._what = asked
        self._call = call
        self._sent = call.request
        self._seam = seam
        self._errors = errors
        self._heard: list[dict[str, Any]] = []

    async def _asked(self, request: Any) -> dict[str, Any]:
        params = self._what.params
        if request is not self._sent and request != self._sent:
            params = {**(params or {}), "arguments": decode(request["arguments"])}
        self._heard = []
        result = await perform(self._link, self._what, params, self._seam, self._heard)
        self._listed(result)
        return copy.deepcopy(result)

    def outcome(self, result: Any) -> Outcome:
        """The result as on the wire, with what the server said meanwhile."""
        response = copy.deepcopy(result)
        if self._heard:
            response[HEARD] = self._heard
        return Outcome(response=encode(response))

    def failure(self, error: BaseException) -> Outcome:
        """An error that the server answered with, or what kept it from answering."""
        return Outcome(error=timed(kept(self._errors, error), self._since))

    def exception(self, info: ErrorInfo) -> BaseException:
        """The SDK's own exception for a recorded or injected error."""
        return raised_again(self._errors, info, of_tool=self._what.method == CALL_TOOL)

    async def deliver(self, served: Any) -> Any:
        """A result that does not come from the server, after what it said meanwhile."""
        value = copy.deepcopy(await super().deliver(served))
        method = self._what.method
        result = as_tool_result(value) if method == CALL_TOOL else as_result(method, value)
        heard = result.pop(HEARD, None)
        self._link.saw(method, self._what.params, result, live=False)
        if isinstance(heard, list):
            await heard_again(self._link, heard, self._what.progress)
        return result

    def _listed(self, result: Any) -> None:
        """The live server's tools: where others were recorded, the run says so."""
        if self._what.method != LIST_TOOLS or self._seam.recording:
            return
        recorded = recorded_tools(self._seam, self._link.server)
        if recorded is not None and not result.get("nextCursor"):
            note_changes(self._seam, self._link.server, recorded, list(self._link.tools.values()))
