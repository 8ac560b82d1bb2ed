"""``rebuild``: a fork or replay made again from its parent, its edits, its cut and its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.agentio.giving import given_to_replay
from workbench.seam.agents import check_arguments, resolve
from workbench.seam.calls import Policy
from workbench.seam.forks import make_plan
from workbench.seam.opening import (
    ForkOptions,
    Output,
    TraceLike,
    arguments_of,
    as_trace,
    open_fork,
)
from workbench.seam.policies import checked_policy
from workbench.seam.prepared import Prepared, awaitable, blocking
from workbench.seam.running import Run
from workbench.trace.places import parse_place
from workbench.trace.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.seam.calls import ToolsAfter
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edits
    from workbench.trace.redaction import Redact, Secrets

_POLICY = ("on_miss", "tools_before", "tools_after", "match", "completion")


def _rebuild(
    agent: Callable[..., Any] | str,
    fork: TraceLike | Recipe,
    *args: Any,
    parent: TraceLike | None = None,
    tools_after: ToolsAfter | None = None,
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    setup: Callable[[], Any] | None = None,
    secrets: Secrets = (),
    resumes: TraceLike | None = None,
    redact: Redact = (),
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> Prepared:
    """Make a fork or replay again: the same parent, edits, cut, options and arguments.

    Given the same live answers it comes out the same, but for ids, times and salt.

    Args:
        agent: as for :func:`workbench.record`.
        fork: the fork, its file, or its recipe (``fork.trace.recipe()``).
        *args: the agent's arguments, ``**kwargs`` its keyword arguments; without any, those that
            the fork was made with.
        parent: what it was made from; by default the file that its header names.
        tools_after: another choice for live writes than the fork's.
        simulate: as for :func:`workbench.fork`. No header can hold it, nor the next ones.
        setup: makes a fresh world for the run.
        secrets: what stands behind the placeholders of redacted secrets.
        redact: the trace's own rules of redaction that are not built in.
        resumes: the trace of the crashed run, for one that went on from it.
        to: the new trace's file; by default it stays in memory.
        name: a name for people; by default the file's, else the agent's.
        replace: replace a trace that is already there, once the new one is complete.
        controller: who watches, answers and may cancel.

    Raises:
        UsageError: the parent is not the one, or something it was made with is not there again.
        TraceNotFoundError: the parent is not where it was.
    """
    options = dict(locals())
    recipe = fork if isinstance(fork, Recipe) else as_trace(fork).recipe()
    base = recipe.open_parent() if parent is None else as_trace(parent)
    edits = recipe.edits_on(base)
    _check_faults(edits)
    function, info = resolve(agent)
    if recipe.input is not None and not args and not kwargs:
        args, kwargs = arguments_of(recipe.input, "the input that the fork was made with")
    given = given_to_replay(function, info, base, args, kwargs)
    check_arguments(function, *given.full, rebuild, options)
    changes = ForkOptions(
        edits,
        live_from=recipe.cut,
        force_live=[parse_place(each) for each in recipe.options.get("force_live", ())],
        policy=_policy(recipe, tools_after, simulate, fresh_world=setup is not None),
        ignore={api: list(rules) for api, rules in recipe.ignore.items()},
        secrets=secrets,
        resumes=_resumed(recipe, resumes),
        redact=redact,
    )
    made_so = None if isinstance(fork, Recipe) else as_trace(fork).header.ambient
    output = Output(to, name, (), replace, ambient=made_so)
    setting, checked = open_fork(info, base, output, changes, arguments=given.kept)
    planned = make_plan(checked, setting.cut, changes.policy)
    return Prepared(Run(setting, controller, planned), function, *given.full, setup)


def _policy(
    recipe: Recipe,
    tools_after: ToolsAfter | None,
    simulate: Mapping[str, Callable[..., Any]] | None,
    *,
    fresh_world: bool,
) -> Policy:
    chosen = {name: recipe.options[name] for name in _POLICY if name in recipe.options}
    if tools_after is not None:
        chosen["tools_after"] = tools_after
    release = frozenset(recipe.options.get("release", ()))
    policy = Policy(**chosen, release=release, simulate=simulate or {}, fresh_world=fresh_world)
    return checked_policy(policy)


def _resumed(recipe: Recipe, resumes: TraceLike | None) -> TraceLike | None:
    wanted = recipe.options.get("resumes")
    if wanted is None or resumes is not None:
        return resumes
    raise UsageError(f"it went on from the crashed run {wanted}: pass its trace as resumes=")


def _check_faults(edits: Edits) -> None:
    for fault in edits.faults():
        if fault.aim.when is not None and fault.aim.predicate is None:
            raise UsageError(
                f"the fault {fault.label} was aimed by the function {fault.aim.predicate_name}, "
                "which a trace cannot hold: make the fork with workbench.fork(…) again"
            )


rebuild = blocking(_rebuild)
arebuild = awaitable(_rebuild)
