"""Making the session of a recording, a replay or a fork."""

from __future__ import annotations

import platform
import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import TraceError, UnencodableError, UsageError
from workbench.seam.calls import MISSING, Policy
from workbench.seam.cut import Cut, check_reachable
from workbench.seam.faulting import Faults
from workbench.seam.hooks import install_adapters
from workbench.seam.pins import Pins
from workbench.seam.setting import Setting
from workbench.seam.tape import Tape
from workbench.trace.canonical import DEFAULT_IGNORE, HASH_SCHEME, request_hash
from workbench.trace.edits import Edits, as_edits
from workbench.trace.entries import AgentInfo, HashInfo, ParentInfo, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.times import utc_now
from workbench.trace.trace import Trace, load
from workbench.trace.values import decode, dumps, encode, loads
from workbench.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from workbench.trace.edits import Edit
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place
    from workbench.trace.trace import Entry

TraceLike = Trace | str | Path
Ignore = dict[str, list[str]]


@dataclass(slots=True)
class Output:
    """Where the new trace goes and what it is called."""

    to: str | Path | None = None
    name: str | None = None
    tags: Sequence[str] = ()
    replace: bool = False
    durability: Literal["os", "fsync"] = "os"

    def journal(self, header: TraceLine) -> Journal:
        """The journal that writes it: to a file, or in memory when no path was given."""
        if self.to is None:
            return Journal.in_memory(header)
        return Journal.create(self.to, header, durability=self.durability, replace=self.replace)


@dataclass(slots=True)
class ForkOptions:
    """What a replay or fork changes."""

    edits: Edits | Iterable[Edit] | None = None
    faults: Iterable[Fault] = ()
    live_from: Place | Callable[[Entry], bool] | None = None
    force_live: Sequence[Place] = ()
    policy: Policy = field(default_factory=Policy)
    ignore: Ignore | None = None


def open_recording(
    agent: AgentInfo,
    output: Output,
    *,
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ignore: Ignore | None,
) -> Setting:
    """The setting of a recording: everything is live."""
    install_adapters()
    rules = _rules(ignore)
    header = _header(agent, output, arguments, rules, seed=secrets.token_hex(8))
    return Setting(
        journal=output.journal(header),
        trace_id=header.id,
        recording=True,
        policy=Policy(on_miss="live", tools_after="allow"),
        ignore=rules,
        pins=Pins(None, str(header.seed)),
    )


def open_fork(
    agent: AgentInfo,
    parent: Trace,
    output: Output,
    options: ForkOptions,
    *,
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None,
) -> tuple[Setting, Edits]:
    """The setting of a replay or a fork of a trace."""
    install_adapters()
    edits = as_edits(parent, options.edits, options.faults)
    cut = Cut(parent, options.live_from, options.force_live)
    check_reachable(parent, cut, edits.targets(), options.policy)
    rules = _rules(options.ignore, parent)
    header = _header(agent, output, arguments, rules, seed=parent.header.seed or parent.id)
    header.parent = _parent_info(parent, options, edits, cut)
    return Setting(
        journal=output.journal(header),
        trace_id=header.id,
        policy=options.policy,
        parent=parent,
        tape=Tape(parent, _digests(parent, rules), cut),
        cut=cut,
        edits=edits.targets(),
        faults=Faults(edits.faults()),
        pins=Pins(parent, str(header.seed)),
        ignore=rules,
    ), edits


def as_trace(trace: TraceLike) -> Trace:
    """The trace itself, or the one in that file."""
    return trace if isinstance(trace, Trace) else load(trace)


def input_of(
    parent: Trace, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The agent's arguments: those given, else the recorded ones.

    Raises:
        UsageError: none were given and the recorded ones cannot be used.
    """
    recorded = parent.header.input
    if args or kwargs or not isinstance(recorded, dict):
        return args, kwargs
    try:
        fresh = loads(dumps(recorded))  # the agent may change its own
        return tuple(decode(fresh.get("args", []))), dict(decode(fresh.get("kwargs", {})))
    except (TypeError, ValueError, TraceError) as error:
        raise UsageError(
            f"the recorded input of {parent.path or parent.id} cannot be used again ({error}); "
            "pass the agent's arguments after the trace"
        ) from error


def _header(
    agent: AgentInfo,
    output: Output,
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None,
    rules: Mapping[str, Sequence[str]],
    *,
    seed: str,
) -> TraceLine:
    fields: dict[str, Any] = {
        "format": "workbench-trace",
        "version": 1,
        "id": f"tr-{secrets.token_hex(8)}",
        "name": output.name or _name(output.to, agent),
        "created_at": utc_now(),
        "agent": agent,
        "runtime": _runtime(),
        "hash": HashInfo(scheme=HASH_SCHEME, ignore={k: list(v) for k, v in rules.items() if v}),
        "seed": seed,
    }
    if output.tags:
        fields["tags"] = list(output.tags)
    given = _encoded(arguments)
    if given is not MISSING:
        fields["input"] = given
    return TraceLine(**fields)


def _encoded(arguments: tuple[tuple[Any, ...], dict[str, Any]] | None) -> Any:
    """The arguments as the header keeps them; nothing when a trace cannot hold them."""
    if arguments is None:
        return MISSING
    try:
        return encode({"args": list(arguments[0]), "kwargs": arguments[1]})
    except UnencodableError:
        return MISSING


def _name(to: str | Path | None, agent: AgentInfo) -> str | None:
    if to is not None:
        return Path(to).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".trace")
    return agent.target


def _runtime() -> dict[str, str]:
    versions = {
        "python": platform.python_version(),
        "workbench": VERSION,
        "platform": sys.platform,
    }
    for sdk in ("openai", "anthropic"):
        version = getattr(sys.modules.get(sdk), "__version__", None)
        if isinstance(version, str):
            versions[sdk] = version
    return versions


def _rules(ignore: Ignore | None, parent: Trace | None = None) -> dict[str, Sequence[str]]:
    rules: dict[str, Sequence[str]] = dict(DEFAULT_IGNORE)
    recorded = parent.header.hash if parent is not None else None
    if recorded is not None:
        rules |= recorded.ignore
    for api, pointers in (ignore or {}).items():
        rules[api] = [*rules.get(api, ()), *pointers]
    return rules


def _digests(parent: Trace, rules: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Fresh hashes of the entries whose ignore rules are not those that they were hashed with."""
    recorded = parent.header.hash
    if recorded is not None and recorded.scheme != HASH_SCHEME:
        raise UsageError(
            f"{parent.path or parent.id} was hashed by scheme {recorded.scheme}, and this version "
            f"knows {HASH_SCHEME}; use the version that recorded it"
        )
    known = recorded.ignore if recorded is not None else {}
    changed = {api for api in rules if list(rules[api]) != list(known.get(api, ()))}
    if not changed:
        return {}
    return {
        entry.id: request_hash(entry.kind, entry.api, entry.request, rules[entry.api or "tool"])
        for entry in parent.entries
        if entry.kind in ("model", "tool")
        and (entry.api or "tool") in changed
        and entry.hash is not None
    }


def _parent_info(parent: Trace, options: ForkOptions, edits: Edits, cut: Cut) -> ParentInfo:
    policy = options.policy
    fields: dict[str, Any] = {
        "id": parent.id,
        "name": parent.name,
        "path": str(parent.path) if parent.path is not None else None,
        "digest": parent.digest,
        "cut": str(cut.place) if cut.place is not None else None,
        "edits": edits.to_json() or None,
        "options": {
            "on_miss": policy.on_miss,
            "tools_before": policy.tools_before,
            "tools_after": policy.tools_after,
            **({"force_live": [str(p) for p in options.force_live]} if options.force_live else {}),
        },
    }
    return ParentInfo(**{name: value for name, value in fields.items() if value is not None})
