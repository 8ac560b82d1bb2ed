"""Making the session of a recording, a replay or a fork."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import TraceError, UsageError
from workbench.seam.calls import Policy
from workbench.seam.current import SEAM
from workbench.seam.cut import Cut, check_reachable
from workbench.seam.faulting import Faults
from workbench.seam.heading import new_header
from workbench.seam.hooks import install_adapters
from workbench.seam.pins import Pins
from workbench.seam.resuming import noted
from workbench.seam.setting import Setting
from workbench.seam.tape import KINDS, Tape
from workbench.trace.canonical import DEFAULT_IGNORE, HASH_SCHEME, request_hash
from workbench.trace.edits import Edits, EventEdit, ValueEdit, as_edits
from workbench.trace.edits.places import moved_place
from workbench.trace.entries import AgentInfo, ParentInfo, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.places import Place
from workbench.trace.redaction import Redact, Redactor, Secrets
from workbench.trace.trace import Trace, load
from workbench.trace.values import decode, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.trace.edits import Edit
    from workbench.trace.faults import Fault
    from workbench.trace.trace import Entry

    LiveFrom = Place | Callable[[Entry], bool] | None

TraceLike = Trace | str | Path
Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments of an agent."""
Ignore = dict[str, list[str]]
Steps = Mapping[str, Sequence[str]]
"""For each step those that it depends on."""
Ambient = bool | str | Sequence[str] | None
"""Whether the clocks and the chance that the agent's own modules read are recorded, or of which
modules; None: as it was recorded."""


@dataclass(slots=True)
class Output:
    """Where the new trace goes and what it is called."""

    to: str | Path | None = None
    name: str | None = None
    tags: Sequence[str] = ()
    replace: bool | Literal["unchanged"] = False
    durability: Literal["os", "fsync"] = "os"
    requests: Literal["full", "hash"] = "full"
    redact: Redact = True
    steps: Steps | None = None
    ambient: Ambient = None

    def __post_init__(self) -> None:
        if isinstance(self.tags, str):
            raise UsageError(f"tags={self.tags!r}: give a list of words, such as [{self.tags!r}]")
        _check_steps(self.steps or {})
        self.ambient = checked_ambient(self.ambient)
        for name, known in (("durability", ("os", "fsync")), ("requests", ("full", "hash"))):
            if getattr(self, name) not in known:
                raise UsageError(
                    f"{name}={getattr(self, name)!r}: choose one of {known[0]!r}, {known[1]!r}"
                )

    @property
    def own_rules(self) -> Sequence[Any]:
        """The rules of redaction that are not built in."""
        return () if isinstance(self.redact, bool) else self.redact

    def journal(self, header: TraceLine, redactor: Redactor) -> Journal:
        """The journal that writes it: to a file, or in memory when no path was given."""
        if self.to is None:
            return Journal.in_memory(header, redactor=redactor)
        return Journal.create(
            self.to,
            header,
            durability=self.durability,
            replace=self.replace,
            redactor=redactor,
        )


@dataclass(slots=True)
class ForkOptions:
    """What a replay or fork changes."""

    edits: Edits | Iterable[Edit] | None = None
    faults: Iterable[Fault] = ()
    live_from: Place | Callable[[Entry], bool] | None = None
    force_live: Sequence[Place] = ()
    policy: Policy = field(default_factory=Policy)
    ignore: Ignore | None = None
    secrets: Secrets = ()
    resumes: TraceLike | None = None
    redact: Redact = ()
    keeps: bool = False
    """What is recorded and not asked for is kept: the new trace takes the place of the old one."""

    def __post_init__(self) -> None:
        self.edits = list(self.edits or ())
        self.faults = list(self.faults)


def check_not_replaying() -> None:
    """A run that records is about to begin.

    Raises:
        UsageError: it would be inside a replay, where nothing may go live.
    """
    around = SEAM.get()
    if around is not None and not around.over and around.offline:
        raise UsageError(
            "a recording was begun inside a replay, where all that it records would go live. Call "
            "the agent without it there: what it does is part of the run around it"
        )


def open_recording(
    agent: AgentInfo,
    output: Output,
    *,
    arguments: Arguments | None,
    ignore: Ignore | None,
) -> Setting:
    """The setting of a recording: everything is live."""
    install_adapters()
    rules = _rules(ignore)
    redactor = Redactor.for_recording(output.redact)
    header = new_header(agent, output, arguments, rules, redactor, seed=secrets.token_hex(8))
    return Setting(
        journal=output.journal(header, redactor),
        trace_id=header.id,
        recording=True,
        policy=Policy(on_miss="live", tools_after="allow"),
        ignore=rules,
        pins=Pins(None, str(header.seed)),
        redactor=redactor,
        ambient=header.ambient or False,
    )


def open_fork(
    agent: AgentInfo,
    parent: Trace,
    output: Output,
    options: ForkOptions,
    *,
    arguments: Arguments | None,
) -> tuple[Setting, Edits]:
    """The setting of a replay or a fork of a trace."""
    install_adapters()
    given = as_edits(parent, options.edits, options.faults)
    taped, edits = applied(given)
    cut = cut_of(parent, taped, options.live_from, options.force_live)
    check_reachable(taped, cut, edits.targets(), options.policy)
    rules = _rules(options.ignore, parent)
    own_rules = () if isinstance(options.redact, bool) else options.redact
    redactor = Redactor.for_replay(parent.header, own_rules)
    if parent.header.requests == "hash":  # what may not be in one file may not be in its forks
        output = replace(output, requests="hash")
    header = new_header(
        agent, output, arguments, rules, redactor, seed=parent.header.seed or parent.id
    )
    header.parent = _parent_info(parent, options, given, cut)
    if output.ambient is None and parent.header.ambient:
        header.ambient = parent.header.ambient
    if parent.header.steps:
        header.steps = parent.header.steps
    targets = edits.targets()
    return Setting(
        journal=output.journal(header, redactor),
        trace_id=header.id,
        policy=options.policy,
        parent=parent,
        taped=taped,
        tape=Tape(taped, _digests(taped, rules, targets), cut, options.policy.match),
        cut=cut,
        edits=targets,
        requests=edits.requests(),
        faults=Faults(edits.faults()),
        pins=Pins(taped, str(header.seed), _values(targets)),
        ignore=rules,
        redactor=redactor,
        secrets=options.secrets,
        resumes=as_trace(options.resumes) if options.resumes is not None else None,
        keeps=options.keeps,
        ambient=header.ambient or False,
    ), edits


def applied(edits: Edits) -> tuple[Trace, Edits]:
    """The trace that a run goes by, and the edits on it: what edits put in or drop is done."""
    if not edits.structural:
        return edits.trace, edits
    taped = edits.apply()
    return taped, edits.onto(taped)


def cut_of(parent: Trace, taped: Trace, live_from: LiveFrom, force_live: Iterable[Place]) -> Cut:
    """Where a run goes live, on the trace that it goes by; places are named in the parent."""
    if taped is parent:
        return Cut(parent, live_from, force_live)
    if isinstance(live_from, Place):
        live_from = moved_place(live_from, parent, taped)
    return Cut(taped, live_from, [moved_place(each, parent, taped) for each in force_live])


def _values(targets: Mapping[str, Edit]) -> dict[str, Any]:
    return {name: edit.value for name, edit in targets.items() if isinstance(edit, ValueEdit)}


def checked_ambient(ambient: Any) -> Ambient:
    """What an option says of ambient readings, names as a list.

    Raises:
        UsageError: it is neither yes or no nor names of modules.
    """
    if ambient is None or isinstance(ambient, bool):
        return ambient
    names = [ambient] if isinstance(ambient, str) else ambient
    if not isinstance(names, Sequence) or not names or not all(map(_is_module_name, names)):
        raise UsageError(
            f"ambient={ambient!r}: say True (the agent's own modules), False, or names of modules, "
            'such as "shop" or ["shop.agent", "shop.prompts"]'
        )
    return list(names)


def _is_module_name(name: Any) -> bool:
    return isinstance(name, str) and all(part.isidentifier() for part in name.split("."))


def _check_steps(steps: Any) -> None:
    if not isinstance(steps, Mapping):
        raise UsageError(
            f"steps={steps!r}: give for each step a list of those that it depends on, such as "
            '{"plan": [], "write": ["plan"]}'
        )
    for name, needs in steps.items():
        if isinstance(needs, str):
            raise UsageError(f"steps={{{name!r}: {needs!r}}}: give a list of steps")
        for need in needs:
            if need not in steps:
                raise UsageError(
                    f"step '{name}' depends on '{need}', which is none of steps=: name it there, "
                    "with [] if it depends on nothing"
                )


def as_trace(trace: Any) -> Trace:
    """The trace itself, or the one in that file.

    Raises:
        UsageError: it is neither.
        TraceNotFoundError: there is no such file.
    """
    if isinstance(trace, Trace):
        return trace
    if not isinstance(trace, str | Path):
        hint = ": its .trace is one" if isinstance(getattr(trace, "trace", None), Trace) else ""
        raise UsageError(f"{trace!r} is no trace and no file's path{hint}")
    return load(trace)


def input_of(parent: Trace, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """The agent's arguments: those given, else the recorded ones.

    Raises:
        UsageError: none were given and the recorded ones cannot be used.
    """
    recorded = parent.header.input
    if args or kwargs or not isinstance(recorded, dict):
        return args, kwargs
    return arguments_of(recorded, f"the recorded input of {parent.path or parent.id}")


def arguments_of(recorded: dict[str, Any], what: str) -> Arguments:
    """The arguments that a header keeps, as objects that the agent may change.

    Args:
        recorded: ``{"args": […], "kwargs": {…}}``, encoded.
        what: what it is, for the error.

    Raises:
        UsageError: they cannot be used again.
    """
    try:
        fresh = loads(dumps(recorded))
        return tuple(decode(fresh.get("args", []))), dict(decode(fresh.get("kwargs", {})))
    except (TypeError, ValueError, TraceError) as error:
        raise UsageError(
            f"{what} cannot be used again ({error}); pass the agent's arguments after the trace"
        ) from error


def _rules(ignore: Ignore | None, parent: Trace | None = None) -> dict[str, Sequence[str]]:
    rules: dict[str, Sequence[str]] = dict(DEFAULT_IGNORE)
    recorded = parent.header.hash if parent is not None else None
    if recorded is not None:
        rules |= recorded.ignore
    for api, pointers in _listed(ignore).items():
        rules[api] = list(dict.fromkeys([*rules.get(api, ()), *pointers]))
    return rules


def _listed(ignore: Any) -> Ignore:
    if ignore is None:
        return {}
    if not isinstance(ignore, Mapping) or any(isinstance(each, str) for each in ignore.values()):
        raise UsageError(
            f"ignore={ignore!r}: give a list of JSON pointers for each api, such as "
            '{"openai.chat": ["/body/user"]}'
        )
    return dict(ignore)


def _digests(
    parent: Trace, rules: Mapping[str, Sequence[str]], edits: Mapping[str, Edit]
) -> dict[str, str]:
    """Fresh hashes of the events that are edited, and of the entries whose ignore rules are not
    those that they were hashed with."""
    edited = {
        name: {"type": parent.entry(name).type, "data": edit.data}
        for name, edit in edits.items()
        if isinstance(edit, EventEdit)
    }
    found = {
        name: request_hash("event", None, request, rules.get("event", ()))
        for name, request in edited.items()
    }
    recorded = parent.header.hash
    if recorded is not None and recorded.scheme != HASH_SCHEME:
        raise UsageError(
            f"{parent.path or parent.id} was hashed by scheme {recorded.scheme}, and this version "
            f"knows {HASH_SCHEME}; use the version that recorded it"
        )
    known = recorded.ignore if recorded is not None else {}
    changed = {api for api in rules if list(rules[api]) != list(known.get(api, ()))}
    if not changed:
        return found
    return {
        entry.id: request_hash(entry.kind, entry.api, entry.request, rules[entry.api or entry.kind])
        for entry in parent.entries
        if entry.kind in KINDS and (entry.api or entry.kind) in changed and entry.hash is not None
    } | found


def _parent_info(parent: Trace, options: ForkOptions, edits: Edits, cut: Cut) -> ParentInfo:
    policy = options.policy
    place = options.live_from if isinstance(options.live_from, Place) else cut.place
    chosen = {
        "on_miss": policy.on_miss,
        "tools_before": policy.tools_before,
        "tools_after": policy.tools_after,
        "match": policy.match if policy.match != "hash" else None,
        "completion": policy.completion if policy.completion != "recorded" else None,
        "release": sorted(policy.release) or None,
        "force_live": [str(place) for place in options.force_live] or None,
        **(noted(as_trace(options.resumes)) if options.resumes is not None else {}),
    }
    fields: dict[str, Any] = {
        "id": parent.id,
        "name": parent.name,
        "path": str(parent.path) if parent.path is not None else None,
        "digest": parent.digest,
        "cut": str(place) if place is not None else None,
        "edits": edits.to_json() or None,
        "options": {name: value for name, value in chosen.items() if value is not None},
    }
    return ParentInfo(**{name: value for name, value in fields.items() if value is not None})
