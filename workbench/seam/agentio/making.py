"""The kinds of io: live, recording, replaying, failing on purpose, scripted. They nest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.agentio.human import Human
from workbench.seam.agentio.io import BaseIO, SeamIO
from workbench.seam.agentio.layers import Layer
from workbench.seam.agentio.model import Body, Model, as_model
from workbench.seam.agentio.script import (
    Said,
    ScriptedModel,
    scripted_human,
    scripted_tools,
)
from workbench.seam.agentio.world import Nowhere, Tools, World
from workbench.seam.calls import Policy
from workbench.seam.faulting import Faults
from workbench.seam.opening import (
    ForkOptions,
    Ignore,
    Output,
    TraceLike,
    as_trace,
    open_fork,
    open_recording,
)
from workbench.seam.policies import fork_policy, replay_policy
from workbench.trace.entries import AgentInfo
from workbench.trace.faults import Fault, check_fault

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.seam.calls import ToolsBefore
    from workbench.seam.watching import Controller

_OUTPUT = frozenset({"name", "tags", "replace", "durability", "requests", "redact", "steps"})
_REPLAY_POLICY = frozenset(
    {"on_miss", "tools_after", "match", "completion", "latency", "realtime", "simulate"}
)
_FORK_POLICY = _REPLAY_POLICY - {"match"} | {"release", "breakpoints"}
_LIVE = frozenset({"live_from", "force_live", "release", "breakpoints"})
_CHANGES = frozenset(
    {"edits", "faults", "live_from", "force_live", "ignore", "secrets", "resumes", "redact"}
)
_PLACE = frozenset({"to", "name", "replace"})


def live_io(
    model: Model | Callable[[Body], Any] | None = None,
    tools: Tools = (),
    human: Human | None = None,
) -> SeamIO:
    """An io that reaches the world. In a session its calls are recorded, replayed or made to fail
    by that session; outside of any they just happen.

    Its ``sync`` is the blocking twin.

    Args:
        model: who answers model calls, such as :class:`workbench.OpenAIModel`; or a function,
            sync or async, that takes a request's body and gives a reply's, or its text.
        tools: functions, with ``@workbench.tool`` or plain; or a mapping from names to them.
        human: who answers :meth:`~workbench.AgentIO.ask_human`: a function of the question and
            the choices, sync or async. By default whoever is at the terminal or notebook.

    Raises:
        UsageError: a part is of no use, such as two tools of one name.
    """
    return SeamIO(World(None if model is None else as_model(model), tools, human))


def recording_io(
    inner: BaseIO,
    to: str | Path | None = None,
    *,
    ignore: Ignore | None = None,
    controller: Controller | None = None,
    **options: Any,
) -> SeamIO:
    """An io that records what passes it into a trace of its own.

    Use it as a context, so that the trace is ended::

        with workbench.recording_io(io, to="runs/q.trace.jsonl") as io:
            …
        print(io.trace)

    Args:
        inner: the io that the calls go on to.
        to: the trace's file; by default it stays in memory.
        ignore: JSON pointers into a request that do not count when it is looked up, per api.
        controller: who watches.
        **options: ``name``, ``tags``, ``replace``, ``durability`` and the others of
            :func:`workbench.recording`.

    Raises:
        UsageError: there is no such option.
        TraceExistsError: the file exists, and ``replace`` was not given.
    """
    inner = _checked(inner, "recording_io")
    output = Output(to, **_known(options, _OUTPUT, "recording_io"))
    setting = open_recording(AgentInfo(kind="code"), output, arguments=None, ignore=ignore)
    return _around(inner, Layer(setting, "recording", controller=controller))


def replaying_io(
    trace: TraceLike,
    inner: BaseIO | None = None,
    *,
    tools: ToolsBefore = "replay",
    controller: Controller | None = None,
    **options: Any,
) -> SeamIO:
    """An io whose calls are answered from a recording.

    As a context it raises at the end, when the calls were not those that were recorded.

    Args:
        trace: what was recorded, or its file.
        inner: the io that calls go on to where the options let any go live: past a cut
            (``live_from=``, ``force_live=``, ``on_miss="live"``), or tools with ``tools="live"``
            or ``"verify"``.
        tools: as for :func:`workbench.replay`.
        controller: who watches, and answers.
        **options: the others of :func:`workbench.replay` and :func:`workbench.fork`, such as
            ``on_miss``, ``edits``, ``faults``, ``live_from``, ``to``.

    Raises:
        UsageError: there is no such option, or calls would go live without an ``inner``.
    """
    known = _known(options, _CHANGES | _PLACE | _FORK_POLICY | _REPLAY_POLICY, "replaying_io")
    changes = ForkOptions(**_among(known, _CHANGES))
    goes_live = known.get("on_miss") == "live" or bool(_LIVE & set(known))
    if inner is None and (goes_live or tools != "replay"):
        raise UsageError(
            "with these options calls go live: give the io that they go on to, such as "
            "replaying_io(trace, workbench.live_io(model=…, tools=[…]), …)"
        )
    changes.policy = _policy(changes, tools, known, goes_live=goes_live)
    output = Output(**_among(known, _PLACE))
    parent = as_trace(trace)
    setting, _ = open_fork(AgentInfo(kind="code"), parent, output, changes, arguments=None)
    inner = SeamIO(Nowhere()) if inner is None else _checked(inner, "replaying_io")
    strict = changes.policy.on_miss != "placeholder"
    return _around(inner, Layer(setting, "replaying", strict=strict, controller=controller))


def faulty_io(
    inner: BaseIO,
    faults: Iterable[Fault],
    *,
    strict: bool = True,
    controller: Controller | None = None,
) -> SeamIO:
    """An io some of whose calls fail on purpose.

    Args:
        inner: the io that the other calls go on to.
        faults: what fails, and where; ``workbench.faults`` has them.
        strict: at the end of its ``with`` block, raise if a fault hit nothing.
        controller: who watches.

    Raises:
        UsageError: one of the faults is none.
        pydantic.ValidationError: a fault can never hit anything.
    """
    inner = _checked(inner, "faulty_io")
    setting = open_recording(AgentInfo(kind="code"), Output(), arguments=None, ignore=None)
    setting.faults = Faults([check_fault(each) for each in faults])
    return _around(inner, Layer(setting, "faulty", strict=strict, controller=controller))


def scripted_io(
    replies: Iterable[Said] = (),
    *,
    tools: Any = (),
    human: Any = (),
    embeddings: Any = (),
) -> SeamIO:
    """An io that answers by a script: no model, no network, and no sleep takes time.

    For example::

        io = workbench.scripted_io(
            [("get_order", {"order_id": 101}), "Order 101 is on its way."],
            tools={"get_order": [{"status": "shipped"}]},
        )

    Args:
        replies: what the model says, one item a call: text; a tool call ``(name, arguments)`` or
            a list of them; a reply's body; an exception to raise; or a function of the request
            that gives one of these.
        tools: by name a list of results, one a call (an exception is raised), or functions.
        human: the answers, one a question; or a function.
        embeddings: the vectors, one list for each call; or a function of a text.

    Raises:
        UsageError: a part is of no use. A call beyond the script raises
            :class:`workbench.ScriptEndedError`, which names it.
    """
    model = ScriptedModel(replies, embeddings)
    return SeamIO(World(model, scripted_tools(tools), scripted_human(human), waits=False))


def served_io() -> SeamIO:
    """An io for an agent whose every call is answered by the session around it."""
    return SeamIO(Nowhere())


def _around(inner: BaseIO, layer: Layer) -> SeamIO:
    return SeamIO(inner.world, (layer, *inner.layers))


def _checked(inner: BaseIO, maker: str) -> BaseIO:
    if not isinstance(inner, BaseIO):
        raise UsageError(
            f"{maker}({inner!r}): what it goes around is an io, such as workbench.live_io(…)"
        )
    return inner


def _known(options: dict[str, Any], allowed: frozenset[str], maker: str) -> dict[str, Any]:
    """The options that are passed on, once it is sure that there are such."""
    unknown = sorted(set(options) - allowed)
    if unknown:
        raise UsageError(
            f"{maker}() has no option {unknown[0]}=; beside those of its signature it has "
            + ", ".join(sorted(allowed))
        )
    return options


def _policy(
    changes: ForkOptions, tools: ToolsBefore, options: dict[str, Any], *, goes_live: bool
) -> Policy:
    if goes_live:
        chosen = {"on_miss": None, "tools_after": "deny", **_among(options, _FORK_POLICY)}
        return fork_policy(changes, tools_before=tools, **chosen)
    chosen = {"on_miss": "fail", "tools_after": "deny", **_among(options, _REPLAY_POLICY)}
    return replay_policy(tools=tools, **chosen)


def _among(options: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in names}
