"""What an adapter tells of its framework's model calls, so that they can cross the seam.

In a trace such a call has the neutral shape (``api="workbench"``). Its request is ``{"body": …}``,
its response ``{"body": the neutral reply, "native": the framework's own JSON}``, and a stream's
chunk is a neutral chunk with ``"native"`` beside it. The neutral part is what people read and edit;
the native part gives back exactly what the framework had, for as long as nobody has edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workbench.seam.agentio.errors import to_error
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo

Body = dict[str, Any]
"""A request, a reply or a chunk in the neutral shape; plain JSON."""

NATIVE = "native"
"""The key of the framework's own JSON, beside the neutral body."""


class Codec:
    """One framework's model calls. An adapter overrides what its framework has.

    Whatever is called *given* is the adapter's own: all that it needs to make the call, such as the
    framework's messages and settings.
    """

    provider: str | None = None
    """Who answers, as the trace says it; None where nobody can tell."""

    def dump(self, result: Any) -> Any:
        """The framework's response as JSON (as ``values.encode`` gives it).

        Raises:
            UnencodableError: a trace cannot hold it.
        """
        raise NotImplementedError

    def load(self, native: Any) -> Any:
        """The response again, from that JSON."""
        raise NotImplementedError

    def body(self, result: Any) -> Body:
        """What the response says, as a neutral reply. The same response gives the same reply."""
        raise NotImplementedError

    def make(self, body: Body) -> Any:
        """A response that says this: for an edited reply, and one that was recorded elsewhere."""
        raise NotImplementedError

    def apply(self, given: Any, body: Body, was: Body) -> Any:
        """The call with another request: *given* as it is for ``body``, which an edit made of
        ``was``."""
        raise NotImplementedError

    def failure(self, error: BaseException) -> ErrorInfo:
        """An exception as the trace keeps it."""
        return describe(error)

    def exception(self, info: ErrorInfo) -> BaseException:
        """What the agent gets: a recorded exception is rebuilt, an injected one is
        :meth:`injected`."""
        return self.injected(info) if info.module in (None, "workbench") else rebuild(info)

    def injected(self, info: ErrorInfo) -> BaseException:
        """The framework's own exception for a fault, such as one with the status 429."""
        return to_error(info)

    def dump_chunk(self, chunk: Any) -> Any:
        """A piece of the framework's stream as JSON."""
        raise NotImplementedError

    def load_chunk(self, native: Any) -> Any:
        """The piece again, from that JSON."""
        raise NotImplementedError

    def chunk_body(self, chunk: Any) -> Body:
        """What the piece says, as a neutral chunk; empty where it says nothing in that shape."""
        raise NotImplementedError

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """What makes pieces of the framework's stream: called with each neutral chunk of one
        stream in turn, it gives the pieces (none, one, several) for it."""
        raise NotImplementedError
