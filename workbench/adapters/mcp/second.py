"""Client sessions of the SDK's second generation (``mcp`` 2), which run on a dispatcher.

Of what is not public: ``ClientSession._dispatcher``, which sends every request, ``_stamp``, which
adds to it what the version that was agreed on wants, and ``_on_notify``, which the session's
callbacks hang on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.adapters.mcp.exchange import LISTEN, Asked, exchange
from workbench.adapters.mcp.hearing import within
from workbench.adapters.mcp.link import HANDSHAKE_S, ON_SESSION, Link
from workbench.adapters.mcp.opened import claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.patching import Patches


class SecondErrors:
    """``MCPError``."""

    def __init__(self) -> None:
        types: Any = import_module("mcp_types")
        self._error: type[Exception] = import_module("mcp.shared.exceptions").MCPError
        self.timed_out: int = types.REQUEST_TIMEOUT

    def make(self, code: int, message: str, data: Any) -> Exception:
        """The exception."""
        return self._error(code, message, data)

    def parts(self, error: BaseException) -> tuple[int, str, Any] | None:
        """Its code, message and data."""
        if not isinstance(error, self._error):
            return None
        found: Any = error
        return found.code, found.message, found.data


class SecondWire:
    """A session and its own dispatcher."""

    def __init__(self, session: Any, inner: Any) -> None:
        self._session = session
        self.inner = inner

    async def request(self, method: str, params: Any) -> dict[str, Any]:
        """Ask the live server."""
        data = {"method": method, **({"params": dict(params)} if params else {})}
        options: dict[str, Any] = {"timeout": HANDSHAKE_S, **self._stamped(data)}
        result: dict[str, Any] = await self.inner.send_raw_request(
            method, data.get("params"), options
        )
        return result

    async def notify(self, method: str, params: Any) -> None:
        """Tell the live server something."""
        data = {"method": method, **({"params": dict(params)} if params else {})}
        await self.inner.notify(method, data.get("params"), self._stamped(data))

    async def hear(self, method: str, params: Any) -> None:
        """Let the session's callbacks have it."""
        await self._session._on_notify(None, method, params)  # noqa: SLF001 - see above

    def server(self) -> str | None:
        """The name in the session's own record."""
        info = self._session.server_info
        return None if info is None else str(info.name)

    def _stamped(self, data: dict[str, Any]) -> dict[str, Any]:
        """What the session adds to each request by the version that was agreed on."""
        options: dict[str, Any] = {}
        if data["method"] != "initialize":
            self._session._stamp(data, options)  # noqa: SLF001 - see above
        return options


class SeamDispatcher:
    """Stands before a session's dispatcher: requests go over the seam."""

    def __init__(self, link: Link, inner: Any, errors: SecondErrors) -> None:
        self._link = link
        self._inner = inner
        self._errors = errors
        self._acknowledge: Callable[..., Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send_raw_request(self, method: str, params: Any, opts: Any = None) -> dict[str, Any]:
        """Ask, through the session that is open."""
        options = dict(opts or {})
        if method == LISTEN and self._link.away:
            return await self._silent(params, options)

        async def make(changed: Any, progress: Any) -> dict[str, Any]:
            if progress is not None:
                options["on_progress"] = progress
            result: dict[str, Any] = await self._inner.send_raw_request(method, changed, options)
            return result

        asked = Asked(method, params, make, options.get("on_progress"))
        return await exchange(self._link, asked, self._errors)

    async def notify(self, method: str, params: Any, opts: Any = None) -> None:
        """Tell the server, if it was reached."""
        if not self._link.away:
            await self._inner.notify(method, params, opts)

    async def run(
        self, on_request: Any, on_notify: Any, on_notify_intercept: Any = None, **more: Any
    ) -> None:
        """Run the dispatcher, with an ear on what the server says."""
        link = self._link
        self._acknowledge = on_notify_intercept

        async def asked(context: Any, method: str, params: Any) -> Any:
            with within(link.running[-1].context if link.running else None):
                return await on_request(context, method, params)

        async def said(context: Any, method: str, params: Any) -> None:
            link.note(method, params)
            await on_notify(context, method, params)

        await self._inner.run(asked, said, on_notify_intercept, **more)

    async def _silent(self, params: Any, options: dict[str, Any]) -> dict[str, Any]:
        """A subscription without a server: it opens, and nothing ever comes."""
        import anyio

        wanted = (params or {}).get("notifications") or {}
        meta = {"io.modelcontextprotocol/subscriptionId": options.get("request_id")}
        told = {"notifications": wanted, "_meta": meta}
        if self._acknowledge is not None:
            self._acknowledge("notifications/subscriptions/acknowledged", told)
        await anyio.sleep_forever()
        raise AssertionError("unreachable")


def hook_sessions(patches: Patches) -> None:
    """Hook the client sessions.

    Raises:
        AttributeError: the SDK has not the names that are hooked.
    """
    session_class: Any = import_module("mcp.client.session").ClientSession
    for name in ("_on_notify", "adopt"):
        getattr(session_class, name)
    errors = SecondErrors()

    def linked(session: Any) -> None:
        if getattr(session, ON_SESSION, None) is None:
            inner = session._dispatcher  # noqa: SLF001 - see above
            link = Link(SecondWire(session, inner), claim())
            setattr(session, ON_SESSION, link)
            session._dispatcher = SeamDispatcher(link, inner, errors)  # noqa: SLF001 - see above

    def first(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        linked(instance)
        return wrapped(*args, **kwargs)

    for name in ("__aenter__", "send_request", "send_discover", "send_notification"):
        patches.wrap(session_class, name, first)
