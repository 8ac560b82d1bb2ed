"""``fork``: the part of a run before a point from its recording, the rest live."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.seam.agentio.giving import given_to_replay
from workbench.seam.agents import check_arguments, resolve
from workbench.seam.cut import check_reachable
from workbench.seam.opening import (
    Ambient,
    ForkOptions,
    Ignore,
    Output,
    TraceLike,
    applied,
    as_trace,
    cut_of,
    open_fork,
)
from workbench.seam.policies import fork_policy
from workbench.seam.prepared import Prepared, awaitable, blocking
from workbench.seam.result import Plan
from workbench.seam.running import Run
from workbench.seam.setting import void_tools
from workbench.seam.tape import KINDS
from workbench.trace.edits import Edits, ReplyEdit, ToolArgumentsEdit, as_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from workbench.seam.calls import (
        Call,
        Completion,
        OnMiss,
        Policy,
        Released,
        ToolsAfter,
        ToolsBefore,
    )
    from workbench.seam.cut import Cut
    from workbench.seam.latency import Latency
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edit
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place
    from workbench.trace.redaction import Redact, Secrets
    from workbench.trace.trace import Entry, Trace


def _fork(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    live_from: Place | Callable[[Entry], bool] | None = None,
    force_live: Sequence[Place] = (),
    on_miss: OnMiss | None = None,
    completion: Completion = "recorded",
    setup: Callable[[], Any] | None = None,
    tools_before: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    release: Iterable[Released] = (),
    secrets: Secrets = (),
    breakpoints: Sequence[Place | Callable[[Call], bool]] = (),
    latency: Latency | str | None = None,
    realtime: bool = False,
    redact: Redact = (),
    ignore: Ignore | None = None,
    ambient: Ambient = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> Prepared:
    """Run an agent with a changed past: recorded answers up to a point, live ones from there on.

    The parent is never changed; what happens becomes a new trace that names it.

    Args:
        agent: as for :func:`workbench.record`.
        trace: what was recorded, or its file.
        *args: the agent's arguments, ``**kwargs`` its keyword arguments; without any, the
            recorded ones.
        edits: what a person changed (``trace.edit()…``).
        faults: short for fault edits.
        live_from: the first call that runs live: ``turn(5)``, ``step("x")``, ``entry("1-7")`` or a
            function of an entry. Without it and with edits or faults, only those calls run live
            that the edits really changed (ripple).
        force_live: single places that run live besides.
        on_miss: what becomes of a call that the recording does not have: ``"live"`` (the default
            with edits or faults and no ``live_from``), ``"fail"`` or ``"placeholder"``.
        completion: as for :func:`workbench.replay`.
        setup: makes a fresh world for the run (a database, a folder); a context manager that it
            gives is left at the end.
        tools_before: recorded tool calls before the cut: ``"replay"`` serves their results,
            ``"verify"`` runs them in the fresh world and compares, ``"live"`` runs them. Without
            ``setup`` those that write fall under ``tools_after`` too.
        tools_after: live tool calls that write: ``"deny"`` (the run ends ``blocked``),
            ``"ask"`` the controller, ``"allow"``, or ``"simulate"``: the function of that name in
            ``simulate`` runs instead.
        simulate: functions that stand in for tools that write, by the tool's name.
        release: what is read anew once the run is live, instead of going on as recorded:
            ``"clock"``, ``"id"``, ``"random"``.
        secrets: what stands behind the placeholders of redacted secrets: texts, or a mapping from
            a placeholder or a rule's name to the text. A live call that holds another is refused.
        breakpoints: where the run waits for the controller's ``on_pause``: places, or functions of
            a call. The controller that is there by default goes on at once.
        latency: how long served answers take: ``"recorded"`` or a :class:`Latency`; none else.
        realtime: really wait where the agent sleeps, also before the run is live.
        redact: the trace's own rules of redaction that are not built in. Whether anything is
            redacted is as it was recorded.
        ignore: further JSON pointers into requests that do not count, per api.
        ambient: as for :func:`workbench.record`; by default as it was recorded.
        to: the new trace's file; by default it stays in memory.
        name: a name for people; by default the file's, else the parent's with "(fork)".
        replace: replace a trace that is already there, once the new one is complete.
        controller: who watches, answers and may cancel.

    Returns:
        A result with the statuses of :func:`workbench.replay` and with the ``plan``.

    Raises:
        EditError: an edit does not fit the trace.
        PlaceError: the trace has no such place.
        UsageError: the options do not go together.
        SimulatedCrash: an injected crash ended the run; its ``trace`` is what there is of it.
    """
    options = dict(locals())
    parent = as_trace(trace)
    changes = ForkOptions(
        edits, faults, live_from, force_live, ignore=ignore, secrets=secrets, redact=redact
    )
    changes.policy = fork_policy(
        changes,
        on_miss,
        tools_before,
        tools_after,
        completion=completion,
        latency=latency,
        realtime=realtime,
        release=release,
        simulate=simulate,
        breakpoints=breakpoints,
        fresh_world=setup is not None,
    )
    function, info = resolve(agent)
    given = given_to_replay(function, info, parent, args, kwargs)
    check_arguments(function, *given.full, fork, options)
    output = fork_output(parent, to, name, replace=replace, ambient=ambient)
    setting, checked = open_fork(info, parent, output, changes, arguments=given.kept)
    planned = make_plan(checked, setting.cut, changes.policy)
    return Prepared(Run(setting, controller, planned), function, *given.full, setup)


fork = blocking(_fork)
afork = awaitable(_fork)


def fork_output(
    parent: Trace,
    to: str | Path | None,
    name: str | None,
    *,
    replace: bool,
    ambient: Ambient = None,
) -> Output:
    """Where a fork goes: one in memory is named by its parent."""
    if name is None and to is None:
        name = f"{parent.name or parent.id} (fork)"
    return Output(to, name, (), replace, ambient=ambient)


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
    """What :func:`fork` with the same options would do. Runs nothing.

    The options of :func:`fork` that are not here make no difference to it.

    Returns:
        How many calls come from the trace, how many are expected to run live, how many of those
        write, and what they cost in US dollars.

    Raises:
        EditError, PlaceError, UsageError: as :func:`fork`.
    """
    parent = as_trace(trace)
    changes = ForkOptions(edits, faults, live_from, force_live)
    policy = fork_policy(changes, on_miss, tools_before, tools_after)
    taped, checked = applied(as_edits(parent, changes.edits, changes.faults))
    cut = cut_of(parent, taped, live_from, force_live)
    check_reachable(taped, cut, checked.targets(), policy)
    return make_plan(checked, cut, policy)


def make_plan(edits: Edits, cut: Cut, policy: Policy) -> Plan:
    """Count what a fork is going to do: ``edits`` are on the trace that it goes by."""
    trace, targets = edits.trace, edits.targets()
    void = _voided(trace, targets)
    sent = _sent(edits, targets)
    calls = [e for e in trace.entries if e.kind in KINDS and e.kind != "event"]
    calls = [e for e in calls if e.id not in void]
    live = [e for e in calls if e.id in sent or (cut.why(e) is not None and e.id not in targets)]
    before = [e for e in calls if cut.why(e) is None and e.id not in targets and e.id not in sent]
    rerun = [e for e in before if e.kind == "tool" and policy.tools_before != "replay"]
    maybe: list[Entry] = []
    if not cut.is_set and policy.on_miss == "live" and (targets or edits.faults()):
        first = min((trace.entry(each).seq for each in targets), default=0)
        maybe = [e for e in before if e.seq > first]
    new = _new_calls(trace, targets)
    costs = _cost([*live, *maybe])
    writes = sum(1 for e in live if e.kind == "tool" and e.effect != "read")
    writes += sum(new.values())
    edited = tuple(each.label for each in edits)
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


def _sent(edits: Edits, targets: dict[str, Edit]) -> set[str]:
    """The recorded calls that run live since something else is sent."""
    out = {name for name, edit in targets.items() if isinstance(edit, ToolArgumentsEdit)}
    requests = edits.requests()
    if requests:
        for entry in edits.trace.models():
            inside = entry.enclosing is not None
            if requests.at(entry, step=entry.step, enclosed=inside) and not isinstance(
                targets.get(entry.id), ReplyEdit
            ):
                out.add(entry.id)
    return out


def _voided(parent: Trace, targets: dict[str, Edit]) -> set[str]:
    return {
        tool.id
        for entry_id, edit in targets.items()
        if isinstance(edit, ReplyEdit)
        for tool in void_tools(edit, parent.entry(entry_id))
    }


def _new_calls(parent: Trace, targets: dict[str, Edit]) -> dict[tuple[str, int], bool]:
    """The tool calls that edited replies make and nothing recorded answers, each with whether
    it may write: unless every recorded call of that tool only reads."""
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
        verdict = _VERDICTS[policy.tools_after]
        count = f"{writes} of them " if writes else ""
        lines.append(f"live writes: {count}{verdict}")
    return lines


_VERDICTS = {
    "deny": "denied",
    "ask": "ask first",
    "allow": "allowed",
    "simulate": "simulated",
}


def _calls(count: int) -> str:
    return "call" if count == 1 else "calls"
