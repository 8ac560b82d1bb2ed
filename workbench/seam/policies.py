"""From the options that users give to the policy of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from workbench.errors import UsageError
from workbench.seam.calls import (
    Completion,
    Match,
    OnMiss,
    Policy,
    Released,
    ReplayMiss,
    ToolsAfter,
    ToolsBefore,
)
from workbench.seam.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.seam.opening import ForkOptions

_CHOICES = {
    "on_miss": OnMiss,
    "tools_before": ToolsBefore,
    "tools_after": ToolsAfter,
    "match": Match,
    "completion": Completion,
}


def replay_policy(
    on_miss: ReplayMiss,
    tools: ToolsBefore,
    tools_after: ToolsAfter,
    *,
    match: Match = "hash",
    completion: Completion = "recorded",
    latency: Latency | str | None = None,
    realtime: bool = False,
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    fresh_world: bool = False,
) -> Policy:
    """The policy of a replay: nothing is asked of a model, and no tool writes unasked.

    Raises:
        UsageError: a choice is none.
    """
    if str(on_miss) == "live":  # what a checker refuses, a script may still say
        raise UsageError("a replay makes no live calls; for that there is workbench.fork(…)")
    return checked_policy(
        Policy(
            on_miss=on_miss,
            tools_before=tools,
            tools_after=tools_after,
            match=match,
            completion=completion,
            latency=Latency.of(latency),
            realtime=realtime,
            simulate=simulate or {},
            fresh_world=fresh_world,
        )
    )


def fork_policy(
    options: ForkOptions,
    on_miss: OnMiss | None,
    tools_before: ToolsBefore,
    tools_after: ToolsAfter,
    *,
    completion: Completion = "recorded",
    latency: Latency | str | None = None,
    realtime: bool = False,
    release: Iterable[Released] = (),
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    breakpoints: Sequence[Any] = (),
    fresh_world: bool = False,
) -> Policy:
    """The policy of a fork: where nothing names a cut, what the edits change goes live.

    Raises:
        UsageError: a choice is none.
    """
    if not isinstance(options.force_live, list | tuple):
        raise UsageError("force_live= takes a list of places, such as [turn(3)]")
    if not isinstance(breakpoints, list | tuple):
        raise UsageError("breakpoints= takes a list of places or conditions, such as [turn(3)]")
    if on_miss is None:
        changed = bool(options.edits or options.faults or options.force_live)
        on_miss = "live" if changed and options.live_from is None else "fail"
    return checked_policy(
        Policy(
            on_miss=on_miss,
            tools_before=tools_before,
            tools_after=tools_after,
            completion=completion,
            latency=Latency.of(latency),
            realtime=realtime,
            release=_released(release),
            simulate=simulate or {},
            breakpoints=list(breakpoints),
            fresh_world=fresh_world,
        )
    )


def _released(names: Iterable[Released]) -> frozenset[str]:
    found = frozenset((names,) if isinstance(names, str) else names)
    known = get_args(Released)
    for name in sorted(found):
        if name not in known:
            raise UsageError(
                f"release={{{name!r}}}: choose of " + ", ".join(repr(each) for each in known)
            )
    return found


def checked_policy(policy: Policy) -> Policy:
    """The policy, once it is sure that each choice is one."""
    for name, valid in _CHOICES.items():
        choices = get_args(valid)
        if getattr(policy, name) not in choices:
            raise UsageError(
                f"{name}={getattr(policy, name)!r}: choose one of "
                + ", ".join(repr(each) for each in choices)
            )
    if policy.simulate and policy.tools_after != "simulate":
        raise UsageError('simulate= gives stand-ins for tools: say tools_after="simulate" as well')
    for name, stand_in in policy.simulate.items():
        if not callable(stand_in):
            raise UsageError(f"simulate={{{name!r}: …}}: give a function that runs instead")
    return policy
