"""What an io reaches when nothing answers for it: a model, tools, a person, the clock."""

from __future__ import annotations

import asyncio
import difflib
import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from workbench.errors import UsageError
from workbench.seam.agentio.errors import UnknownToolError
from workbench.seam.agentio.human import Human, terminal
from workbench.seam.agentio.model import Model, NoModel
from workbench.seam.tool import Tool

ToolLike: TypeAlias = Tool[..., Any] | Callable[..., Any]
Tools: TypeAlias = Iterable[ToolLike] | Mapping[str, ToolLike]

_NO_MODEL = "this io has no model: give it one, such as live_io(model=workbench.OpenAIModel())"
_SERVED_ONLY = (
    "this would go live, and the agent's io can only be served from the recording: pass an io that "
    "reaches the world, io=workbench.live_io(model=…, tools=[…])"
)


class World:
    """The real one.

    Args:
        model: who answers model calls.
        tools: functions, by their own names, or a mapping from names.
        human: who answers questions; by default whoever is at the terminal or notebook.
        waits: whether a sleep takes time; otherwise the clock is moved on.
    """

    __slots__ = ("_slept", "entered", "human", "model", "tools", "waits")

    def __init__(
        self,
        model: Model | None = None,
        tools: Tools = (),
        human: Human | None = None,
        *,
        waits: bool = True,
    ) -> None:
        self.model = model or NoModel(_NO_MODEL)
        self.tools = named_tools(tools)
        self.human: Human = human or terminal
        self.waits = waits
        self.entered = False
        """Whether a ``with`` block will end it."""
        self._slept = 0.0

    def tool(self, name: str) -> Tool[..., Any]:
        """The tool of that name.

        Raises:
            UnknownToolError: there is none; the text names those there are.
        """
        try:
            return self.tools[name]
        except KeyError:
            raise UnknownToolError(self._unknown(name)) from None

    def _unknown(self, name: str) -> str:
        if not self.tools:
            return f"no tool is named {name!r}: this io has no tools; give it some with tools=[…]"
        near = difflib.get_close_matches(name, self.tools, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"no tool is named {name!r}.{hint} There are: {', '.join(sorted(self.tools))}"

    def ask(self, prompt: str, choices: Sequence[str] | None) -> Any:
        """Ask the person; the answer, or what is to be awaited for it."""
        return self.human(prompt, choices)

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC) + timedelta(seconds=self._slept)

    def new_id(self) -> str:
        """A new id, 32 hexadecimal digits."""
        return uuid.uuid4().hex

    def random(self) -> float:
        """A random number, 0 ≤ x < 1."""
        return random.random()  # noqa: S311 - an agent's dice, nobody's secret

    def sleep_sync(self, seconds: float) -> None:
        """Wait, or move the clock on."""
        if self.waits:
            time.sleep(seconds)
        else:
            self._slept += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait, or move the clock on."""
        if self.waits:
            await asyncio.sleep(seconds)
        else:
            self._slept += seconds
            await asyncio.sleep(0)

    def end(self, error: BaseException | None) -> BaseException | None:  # noqa: ARG002 - as Layer's
        """Let go of what is held; nothing can be wrong with that."""
        self.entered = False
        self.model.close()
        return None


class Nowhere(World):
    """No world at all: for an agent whose every call is answered from a recording."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(NoModel(_SERVED_ONLY))

    def tool(self, name: str) -> Tool[..., Any]:
        """Never one.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{name}: {_SERVED_ONLY}")

    def ask(self, prompt: str, choices: Sequence[str] | None) -> Any:  # noqa: ARG002 - as World's
        """Never answers.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{prompt!r}: {_SERVED_ONLY}")


def named_tools(tools: Tools) -> dict[str, Tool[..., Any]]:
    """The tools by name.

    Raises:
        UsageError: two have one name, or one is no function.
    """
    if isinstance(tools, Mapping):
        pairs = [(name, as_tool(each)) for name, each in tools.items()]
    else:
        pairs = [(each.name, each) for each in map(as_tool, tools)]
    found: dict[str, Tool[..., Any]] = {}
    for name, each in pairs:
        if name in found:
            raise UsageError(f"two tools are named {name!r}: give one another name")
        found[name] = each
    return found


def as_tool(function: ToolLike) -> Tool[..., Any]:
    """The tool that a function is: a plain one's effect is unknown, which counts as a write."""
    tool = function if isinstance(function, Tool) else Tool(function)
    if tool.yields is not None:
        raise UsageError(
            f"{tool.name} is a generator, and an io gives a tool's result whole: give it a "
            "function that returns a list"
        )
    return tool
