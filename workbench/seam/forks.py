"""``fork``: the part of a run before a point from its recording, the rest live."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.agents import check_arguments, resolve
from workbench.seam.calls import OnMiss, Policy, ToolsAfter, ToolsBefore
from workbench.seam.cut import Cut, check_reachable
from workbench.seam.opening import ForkOptions, Ignore, Output, TraceLike, as_trace, input_of
from workbench.seam.opening import open_fork as _open
from workbench.seam.result import Plan
from workbench.seam.run import check_policy
from workbench.seam.running import Run, acall_agent, call_agent
from workbench.trace.edits import Edits, ReplyEdit, ToolResultEdit, as_edits
from workbench.trace.places import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from workbench.seam.result import RunResult
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edit
    from workbench.trace.faults import Fault
    from workbench.trace.trace import Entry, Trace


def fork(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    live_from: Place | Callable[[Entry], bool] | None = None,
    force_live: Sequence[Place] = (),
    on_miss: OnMiss | None = None,
    setup: Callable[[], Any] | None = None,
    tools_before: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    ignore: Ignore | None = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """Run an agent with a changed past: recorded answers up to a point, live ones from there on.

    The parent is never changed; what happens becomes a new trace that names it.

    Args:
        agent: as for :func:`workbench.record`.
        trace: what was recorded, or its file.
        *args: the agent's arguments; without any, the recorded ones.
        edits: what a person changed (``trace.edit()…``).
        faults: short for fault edits.
        live_from: the first call that runs live: ``turn(5)``, ``step("x")``, ``entry("1-7")`` or a
            function of an entry. Without it and with edits or faults, only those calls run live
            that the edits really changed (ripple).
        force_live: single places that run live besides.
        on_miss: what becomes of a call that the recording does not have: ``"live"`` (the default
            with edits or faults and no ``live_from``), ``"fail"`` or ``"placeholder"``.
        setup: makes a fresh world for the run (a database, a folder); a context manager that it
            gives is left at the end.
        tools_before: recorded tool calls before the cut: ``"replay"`` serves their results,
            ``"verify"`` runs them in the fresh world and compares, ``"live"`` runs them. Without
            ``setup`` those that write fall under ``tools_after`` too.
        tools_after: live tool calls that write: ``"deny"`` (the run ends ``blocked``),
            ``"ask"`` the controller, or ``"allow"``.
        ignore: further JSON pointers into requests that do not count, per api.
        to: the new trace's file; by default it stays in memory.
        controller: who watches, answers and may cancel.

    Raises:
        EditError: an edit does not fit the trace.
        PlaceError: the trace has no such place.
        UsageError: the options do not go together.
    """
    options = dict(locals())
    run, function, given = _forking(
        agent,
        as_trace(trace),
        (args, kwargs),
        Output(to, name, (), replace),
        _options(
            edits,
            faults,
            live_from,
            force_live,
            on_miss,
            tools_before,
            tools_after,
            ignore,
            fresh_world=setup is not None,
        ),
        controller,
        options,
    )
    return call_agent(run, function, *given, setup)


async def afork(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    live_from: Place | Callable[[Entry], bool] | None = None,
    force_live: Sequence[Place] = (),
    on_miss: OnMiss | None = None,
    setup: Callable[[], Any] | None = None,
    tools_before: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    ignore: Ignore | None = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """:func:`fork`, to be awaited where a loop is running."""
    options = dict(locals())
    run, function, given = _forking(
        agent,
        as_trace(trace),
        (args, kwargs),
        Output(to, name, (), replace),
        _options(
            edits,
            faults,
            live_from,
            force_live,
            on_miss,
            tools_before,
            tools_after,
            ignore,
            fresh_world=setup is not None,
        ),
        controller,
        options,
    )
    return await acall_agent(run, function, *given, setup)


def plan(
    trace: TraceLike,
    *,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    live_from: Place | Callable[[Entry], bool] | None = None,
    force_live: Sequence[Place] = (),
    on_miss: OnMiss | None = None,
    tools_before: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
) -> Plan:
    """What :func:`fork` with the same options would do: how many calls from the trace, how many
    live, at what cost. Runs nothing.

    Raises:
        EditError, PlaceError, UsageError: as :func:`fork`.
    """
    parent = as_trace(trace)
    options = _options(
        edits, faults, live_from, force_live, on_miss, tools_before, tools_after, None
    )
    checked = as_edits(parent, options.edits, options.faults)
    cut = Cut(parent, live_from, force_live)
    check_reachable(parent, cut, checked.targets(), options.policy)
    return make_plan(parent, checked, cut, options.policy)


def _forking(
    agent: Callable[..., Any] | str,
    parent: Trace,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    output: Output,
    changes: ForkOptions,
    controller: Controller | None,
    options: dict[str, Any],
) -> tuple[Run, Callable[..., Any], tuple[tuple[Any, ...], dict[str, Any]]]:
    function, info = resolve(agent)
    given = input_of(parent, *arguments)
    check_arguments(function, *given, fork, options)
    output.name = output.name or (f"{parent.name} (fork)" if output.to is None else None)
    setting, edits = _open(info, parent, output, changes, arguments=given)
    plan = make_plan(parent, edits, setting.cut, changes.policy)
    return Run(setting, controller, plan), function, given


def _options(
    edits: Edits | Iterable[Edit] | None,
    faults: Iterable[Fault],
    live_from: Place | Callable[[Entry], bool] | None,
    force_live: Sequence[Place] | Place,
    on_miss: OnMiss | None,
    tools_before: ToolsBefore,
    tools_after: ToolsAfter,
    ignore: Ignore | None,
    *,
    fresh_world: bool = False,
) -> ForkOptions:
    changes = list(edits or ())
    injected = list(faults)
    if isinstance(force_live, Place):
        raise UsageError("force_live= takes a list of places, such as [turn(3)]")
    if on_miss is None:
        changed = bool(changes or injected or force_live)
        on_miss = "live" if changed and live_from is None else "fail"
    policy = Policy(
        on_miss=on_miss,
        tools_before=tools_before,
        tools_after=tools_after,
        fresh_world=fresh_world,
    )
    return ForkOptions(changes, injected, live_from, force_live, check_policy(policy), ignore)


def make_plan(parent: Trace, edits: Edits, cut: Cut, policy: Policy) -> Plan:
    """Count what a fork is going to do."""
    targets = edits.targets()
    void = _voided(parent, targets)
    calls = [e for e in parent.entries if e.kind in ("model", "tool") and e.id not in void]
    live = [e for e in calls if cut.why(e) is not None and e.id not in targets]
    before = [e for e in calls if cut.why(e) is None and e.id not in targets]
    rerun = [e for e in before if e.kind == "tool" and policy.tools_before != "replay"]
    if not cut.is_set and policy.on_miss == "live" and (targets or edits.faults()):
        first = min((parent.entry(each).seq for each in targets), default=0)
        maybe = [e for e in before if e.seq > first]
    else:
        maybe = []
    new = _new_calls(parent, targets)
    costs = _cost([*live, *maybe])
    writes = sum(1 for e in live if e.kind == "tool" and e.effect != "read")
    writes += sum(new.values())
    edited = tuple(_edit_name(each) for each in edits)
    count = len(live) + len(new)
    lines = _lines(len(before) - len(rerun), rerun, edited, count, maybe, writes, costs, policy)
    return Plan(
        served=len(before) - len(rerun),
        rerun=len(rerun),
        edited=edited,
        live=count,
        live_writes=writes,
        cost=costs,
        cut=cut.place,
        lines=tuple(lines),
    )


def _voided(parent: Trace, targets: dict[str, Edit]) -> set[str]:
    from workbench.seam.setting import void_tools

    return {
        tool.id
        for entry_id, edit in targets.items()
        if isinstance(edit, ReplyEdit)
        for tool in void_tools(edit, parent.entry(entry_id))
    }


def _new_calls(parent: Trace, targets: dict[str, Edit]) -> dict[tuple[str, int], bool]:
    """The tool calls that edited replies make and nothing recorded answers, each with whether
    it may write: unless every recorded call of that tool only reads."""
    from workbench.seam.setting import void_tools

    reads = {e.name for e in parent.tools() if e.effect == "read"}
    out: dict[tuple[str, int], bool] = {}
    for entry_id, edit in targets.items():
        if not isinstance(edit, ReplyEdit) or edit.tool_calls is None:
            continue
        turn = parent.entry(entry_id).turn
        tools = turn.tools if turn is not None else []
        kept = len(tools) - len(list(void_tools(edit, parent.entry(entry_id))))
        for number, call in enumerate(edit.tool_calls[kept:]):
            out[entry_id, number] = call.name not in reads
    return out


def _cost(live: list[Entry]) -> Decimal | None:
    from workbench.trace.prices import cost_of

    total = Decimal(0)
    for entry in live:
        if entry.kind == "model":
            cost = cost_of(entry)
            if cost is None:
                return None
            total += cost
    return total


def _edit_name(edit: Edit) -> str:
    if isinstance(edit, ReplyEdit):
        return _at(edit.at)
    if isinstance(edit, ToolResultEdit):
        return f"the result of {edit.tool or 'the tool'} at {_at(edit.at)}"
    return f"{edit.fault.label} at {edit.fault.aim}"


def _at(place: Place) -> str:
    return f"{place.kind} {place.value}"


def _lines(
    served: int,
    rerun: list[Entry],
    edited: tuple[str, ...],
    live: int,
    maybe: list[Entry],
    writes: int,
    cost: Decimal | None,
    policy: Policy,
) -> list[str]:
    lines = [f"{served} {_calls(served)} from the trace"]
    if rerun:
        checked = " and compared" if policy.tools_before == "verify" else ""
        lines.append(f"{len(rerun)} recorded tool {_calls(len(rerun))} run again{checked}")
    lines += [f"{each} edited" if each[:4] in ("turn", "entr") else each for each in edited]
    if maybe:
        lines.append(f"live only what the edit changes, at most about {len(maybe) + live}")
    else:
        lines.append(f"about {live} live" if live else "nothing expected live")
    if live or maybe:
        from workbench.trace.prices import money

        lines.append("cost not known" if cost is None else f"about {money(cost)}")
        verdict = {"deny": "denied", "ask": "ask first", "allow": "allowed"}[policy.tools_after]
        count = f"{writes} of them " if writes else ""
        lines.append(f"live writes: {count}{verdict}")
    return lines


def _calls(count: int) -> str:
    return "call" if count == 1 else "calls"
