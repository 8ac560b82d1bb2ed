"""What a run is given: its tools' guards, where it goes live, the agent's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from workbench.errors import UsageError, WorkbenchError
from workbench.seam.calls import ToolsAfter, ToolsBefore
from workbench.trace.edits import Edits
from workbench.trace.places import turn
from workbench.trace.trace import Trace
from workbench.trace.values import decode
from workbench.ui.clips import clean
from workbench.ui.python_log import Code, place
from workbench.ui.sheet import cost_text

if TYPE_CHECKING:
    from workbench.seam.result import Plan


@dataclass(frozen=True, slots=True)
class Guards:
    """What tools do before the cut, and whether they may write after it."""

    tools_before: ToolsBefore = "replay"
    tools_after: ToolsAfter = "ask"

    def __post_init__(self) -> None:
        known = {"tools_before": get_args(ToolsBefore), "tools_after": get_args(ToolsAfter)}
        for name, choices in known.items():
            value = getattr(self, name)
            if value not in choices:
                raise UsageError(f"{name}={value!r}: there are {', '.join(choices)}")

    def but(self, tools_before: ToolsBefore | None, tools_after: ToolsAfter | None) -> Guards:
        """The same, with what is given instead.

        Raises:
            UsageError: a value that does not exist.
        """
        return replace(
            self,
            tools_before=tools_before or self.tools_before,
            tools_after=tools_after or self.tools_after,
        )

    def words(self) -> dict[str, Any]:
        """As keyword arguments."""
        return {"tools_before": self.tools_before, "tools_after": self.tools_after}


def where(number: int, *, ripple: bool) -> dict[str, Any]:
    """Where a run goes live, as keyword arguments: from a turn on, or only what edits change."""
    return {"on_miss": "live"} if ripple else {"live_from": turn(number)}


def agent_input(
    trace: Trace, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The agent's arguments: those given, else those that the trace was recorded with."""
    saved = decode(trace.header.input) if args is None or kwargs is None else None
    found = saved if isinstance(saved, dict) else {}
    chosen = found.get("args") or () if args is None else args
    named = found.get("kwargs") or {} if kwargs is None else kwargs
    return tuple(chosen), dict(named)


def script_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """A run's keyword arguments as a script writes them; what has its default is left out."""
    words = {}
    for name, value in given.items():
        if name == "live_from":
            words[name] = place(value)
        elif name == "setup" and value is not None:
            words[name] = Code(getattr(value, "__name__", "setup"))
        elif value is not None and value != _DEFAULTS.get(name):
            words[name] = value
    return words


_DEFAULTS = {"tools_before": "replay", "tools_after": "deny"}


def plan_view(make: Callable[[], Plan], edits: Edits) -> dict[str, Any]:
    """A plan as the page shows it; what makes it impossible is in ``problems``."""
    try:
        plan = make()
    except WorkbenchError as error:
        return _NO_PLAN | {"problems": [clean(str(error))]}
    return {
        "text": clean(str(plan)),
        "lines": [clean(line) for line in plan.lines],
        "served": plan.served,
        "edited": edited_turns(edits),
        "live": plan.live,
        "cost": cost_text(plan.cost),
        "cut": plan.cut.value if plan.cut is not None and plan.cut.kind == "turn" else None,
        "problems": [],
    }


_NO_PLAN: dict[str, Any] = {
    "text": "", "lines": [], "served": 0, "edited": [], "live": 0, "cost": "", "cut": None,
}  # fmt: skip


def edited_turns(edits: Edits) -> list[int]:
    """The numbers of the turns in which a reply or a tool's result is edited."""
    turns = (edits.trace.entry(entry_id).turn for entry_id in edits.targets())
    return sorted({each.number for each in turns if each is not None})
