"""Client sessions of the SDK's first generation (``mcp`` 1).

Of what is not public: ``_received_request``, ``_received_notification`` and ``_handle_incoming``
of a session, which its callbacks hang on.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.adapters.mcp.exchange import Asked, exchange
from workbench.adapters.mcp.hearing import logger, within
from workbench.adapters.mcp.link import HANDSHAKE_S, ON_SESSION, Link
from workbench.adapters.mcp.opened import claim

if TYPE_CHECKING:
    from workbench.seam.patching import Patches

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

_AGAIN: ContextVar[bool] = ContextVar("mcp_heard_again", default=False)
"""What the session is told was recorded, and is told again."""


class _Raw:
    """Stands for a type of result: what came on the wire, as it is."""

    @staticmethod
    def model_validate(result: Any) -> Any:
        """The same."""
        return result


class FirstErrors:
    """``McpError``."""

    timed_out = 408

    def __init__(self) -> None:
        self._error: type[Exception] = import_module("mcp.shared.exceptions").McpError
        self._data: Any = import_module("mcp.types").ErrorData

    def make(self, code: int, message: str, data: Any) -> Exception:
        """The exception."""
        return self._error(self._data(code=code, message=message, data=data))

    def parts(self, error: BaseException) -> tuple[int, str, Any] | None:
        """Its code, message and data."""
        if not isinstance(error, self._error):
            return None
        found: Any = error
        return found.error.code, found.error.message, found.error.data


class FirstWire:
    """A session, and what its class inherits."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._base: Any = import_module("mcp.shared.session").BaseSession
        self._types: Any = import_module("mcp.types")

    async def request(self, method: str, params: Any) -> dict[str, Any]:
        """Ask the live server."""
        data = {"method": method, **({"params": params} if params else {})}
        request = self._types.ClientRequest.model_validate(data)
        result: dict[str, Any] = await self._base.send_request(
            self._session,
            request,
            _Raw,
            request_read_timeout_seconds=timedelta(seconds=HANDSHAKE_S),
        )
        return result

    async def notify(self, method: str, params: Any) -> None:
        """Tell the live server something."""
        data = {"method": method, **({"params": params} if params else {})}
        told = self._types.ClientNotification.model_validate(data)
        await self._base.send_notification(self._session, told)

    async def hear(self, method: str, params: Any) -> None:
        """Let the session's callbacks have it."""
        data = {"method": method, **({"params": params} if params is not None else {})}
        said = self._types.ServerNotification.model_validate(data)
        _AGAIN.set(True)  # in a task of its own
        try:
            await self._session._received_notification(said)  # noqa: SLF001 - see above
            await self._session._handle_incoming(said)  # noqa: SLF001 - see above
        except Exception:  # noqa: BLE001 - the SDK keeps it from the session in the same way
            logger.exception("a callback for what an MCP server says failed")

    def server(self) -> str | None:
        """These sessions do not keep it."""
        return None


def hook_sessions(patches: Patches) -> None:
    """Hook the client sessions.

    Raises:
        AttributeError: the SDK has not the names that are hooked.
    """
    session_class: Any = import_module("mcp.client.session").ClientSession
    errors = FirstErrors()

    async def asking(wrapped: Any, instance: Any, args: Args, kwargs: Kwargs) -> Any:
        return await _asked(_linked(instance), errors, wrapped, args, kwargs)

    patches.wrap(session_class, "__aenter__", _entered)
    patches.wrap(session_class, "send_request", asking)
    patches.wrap(session_class, "send_notification", _telling)
    patches.wrap(session_class, "_received_request", _was_asked)
    patches.wrap(session_class, "_received_notification", _was_told)
    getattr(session_class, "_handle_incoming")  # noqa: B009 - must be there


def _entered(wrapped: Any, instance: Any, args: Args, kwargs: Kwargs) -> Any:
    _linked(instance)
    return wrapped(*args, **kwargs)


async def _telling(wrapped: Any, instance: Any, args: Args, kwargs: Kwargs) -> None:
    if not _linked(instance).away:
        await wrapped(*args, **kwargs)


async def _was_asked(wrapped: Any, instance: Any, args: Args, kwargs: Kwargs) -> Any:
    running = _linked(instance).running
    with within(running[-1].context if running else None):
        return await wrapped(*args, **kwargs)


async def _was_told(wrapped: Any, instance: Any, args: Args, kwargs: Kwargs) -> Any:
    if not _AGAIN.get():
        notification = args[0] if args else kwargs["notification"]
        said = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
        _linked(instance).note(said["method"], said.get("params"))
    return await wrapped(*args, **kwargs)


def _linked(session: Any) -> Link:
    link: Link | None = getattr(session, ON_SESSION, None)
    if link is None:
        link = Link(FirstWire(session), claim())
        setattr(session, ON_SESSION, link)
    return link


async def _asked(
    link: Link,
    errors: FirstErrors,
    wrapped: Any,
    args: Args,
    kwargs: Kwargs,
) -> Any:
    names = ("request", "result_type", "request_read_timeout_seconds", "metadata",
             "progress_callback")  # fmt: skip
    given = dict(zip(names, args, strict=False)) | kwargs
    request, result_type = given.pop("request"), given.pop("result_type")
    data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    params = data.get("params")

    async def make(changed: Any, progress: Any) -> dict[str, Any]:
        sent = request
        if changed is not params:
            sent = type(request).model_validate({**data, "params": changed})
        options = given | ({"progress_callback": progress} if progress is not None else {})
        result: dict[str, Any] = await wrapped(sent, _Raw, **options)
        return result

    asked = Asked(data["method"], params, make, given.get("progress_callback"))
    return result_type.model_validate(await exchange(link, asked, errors))
