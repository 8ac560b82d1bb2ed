"""A model that answers by a script, and tools that do."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from workbench.errors import UsageError
from workbench.seam.agentio.errors import ScriptEndedError
from workbench.seam.agentio.model import Body, Model
from workbench.seam.agentio.reply import Reply
from workbench.seam.tool import Tool
from workbench.trace.faults.words import ordinal
from workbench.trace.payloads import ToolCall

Said: TypeAlias = Any
"""One answer of a script: text, a tool call ``("get_order", {"order_id": 101})`` or a list of
them, a :class:`Reply`, a body in the neutral shape, an exception to raise, or a function of the
request that gives one of these."""


class Script:
    """Things to be given one after the other, to whichever thread asks."""

    def __init__(self, what: str, items: Iterable[Any]) -> None:
        self._what = what
        self._items = list(items)
        self._next = 0
        self._lock = threading.Lock()

    def take(self) -> tuple[int, Any]:
        """The next item, and its number from 1.

        Raises:
            ScriptEndedError: there is none left.
        """
        with self._lock:
            self._next += 1
            number = self._next
        if number > len(self._items):
            have = f"{len(self._items)} answer{'s' if len(self._items) != 1 else ''}"
            raise ScriptEndedError(
                f"{self._what} was asked for the {ordinal(number)} time, and the script has {have} "
                "for it: add one, or find out why it is asked once more"
            )
        return number, self._items[number - 1]

    @property
    def left(self) -> int:
        """How many items nobody asked for."""
        return max(0, len(self._items) - self._next)


class ScriptedModel(Model):
    """Answers by a script, in the order of the calls.

    Args:
        replies: what it says, one item a call (:data:`Said`).
        embeddings: the vectors, one list for each call of ``embed``; or a function of a text.
    """

    provider = "script"

    def __init__(
        self,
        replies: Iterable[Said] = (),
        embeddings: Iterable[Sequence[Sequence[float]]] | Callable[[str], Sequence[float]] = (),
    ) -> None:
        if isinstance(replies, str):
            raise UsageError(f"replies={replies!r}: give a list with one item a call")
        self.script = Script("the model", replies)
        self._vector_of = embeddings if callable(embeddings) else None
        self._embeddings = Script("embed", () if callable(embeddings) else embeddings)
        self.requests: list[Body] = []
        """What it was asked, a copy of each request."""

    async def complete(self, request: Body) -> Body:
        """The next answer."""
        return self.complete_sync(request)

    def complete_sync(self, request: Body) -> Body:
        """The next answer."""
        self.requests.append(copy.deepcopy(request))
        number, said = self.script.take()
        if callable(said) and not isinstance(said, type):
            said = said(request)
        if isinstance(said, BaseException):
            raise said
        return {"model": request.get("model"), **body_of(said, number)}

    async def embed(self, request: Body) -> Body:
        """The next vectors."""
        return self.embed_sync(request)

    def embed_sync(self, request: Body) -> Body:
        """The next vectors."""
        if self._vector_of is not None:
            return {"embeddings": [list(self._vector_of(text)) for text in request["input"]]}
        _, vectors = self._embeddings.take()
        return {"embeddings": [list(each) for each in vectors]}


def body_of(said: Said, number: int) -> Body:
    """A reply in the neutral shape.

    Args:
        said: what the script says.
        number: which answer it is, from 1: the ids of its tool calls are made of it.

    Raises:
        UsageError: it is nothing that a model could say.
    """
    if isinstance(said, str):
        return {"content": said, "finish_reason": "stop"}
    if isinstance(said, Reply):
        return dict(said.raw)
    if isinstance(said, Mapping):
        return dict(said)
    calls = said if isinstance(said, list) else [said]
    if calls and all(_is_call(each) for each in calls):
        made = [_call(each, f"call_{number}_{place}") for place, each in enumerate(calls, 1)]
        return {"content": None, "tool_calls": made, "finish_reason": "tool_calls"}
    raise UsageError(
        f"answer {number} of the script is {said!r}: give text, a tool call (name, arguments) or a "
        "list of them, a reply's body, an exception, or a function of the request"
    )


def _is_call(said: Any) -> bool:
    if isinstance(said, ToolCall):
        return True
    return isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], str)


def _call(said: Any, call_id: str) -> dict[str, Any]:
    if isinstance(said, ToolCall):
        arguments = said.raw if said.error else said.arguments
        return {"id": said.id or call_id, "name": said.name, "arguments": arguments}
    return {"id": call_id, "name": said[0], "arguments": said[1]}


def scripted_tools(tools: Any) -> dict[str, Tool[..., Any]] | list[Any]:
    """Tools of a script: functions, or by name a function or a list of results, one a call.

    An exception among the results is raised.
    """
    if not isinstance(tools, Mapping):
        return list(tools)
    return {
        name: each if isinstance(each, Tool) else Tool(_tool_function(name, each), name=name)
        for name, each in tools.items()
    }


def _tool_function(name: str, results: Any) -> Callable[..., Any]:
    if callable(results):
        return results  # type: ignore[no-any-return]
    if isinstance(results, str) or not isinstance(results, Sequence):
        raise UsageError(
            f"tools={{{name!r}: {results!r}}}: give a list of results, one for each call, or a "
            "function"
        )
    script = Script(f"the tool {name}", results)

    def call(**_arguments: Any) -> Any:
        _, result = script.take()
        if isinstance(result, BaseException):
            raise result
        return result

    call.__name__ = call.__qualname__ = name
    return call


def scripted_human(answers: Any) -> Callable[[str, Sequence[str] | None], Any]:
    """A person who answers by a list, one answer a question; or the function itself."""
    if callable(answers):
        return answers  # type: ignore[no-any-return]
    if isinstance(answers, str):
        raise UsageError(
            f"human={answers!r}: give a list of answers, one for each question, or a function"
        )
    script = Script("the human", answers)

    def answer(prompt: str, choices: Sequence[str] | None) -> Any:  # noqa: ARG001 - a human's form
        _, said = script.take()
        if isinstance(said, BaseException):
            raise said
        return said

    return answer
