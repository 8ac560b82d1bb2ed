"""The header of a new trace: what it was made by, of what, and how."""

from __future__ import annotations

import platform
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UnencodableError
from workbench.seam.calls import MISSING
from workbench.trace.canonical import HASH_SCHEME
from workbench.trace.entries import AgentInfo, HashInfo, TraceLine
from workbench.trace.times import utc_now
from workbench.trace.values import encode
from workbench.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.seam.opening import Arguments, Output
    from workbench.trace.redaction import Redactor


def new_header(
    agent: AgentInfo,
    output: Output,
    arguments: Arguments | None,
    rules: Mapping[str, Sequence[str]],
    redactor: Redactor,
    *,
    seed: str,
) -> TraceLine:
    """The header of a recording, a replay or a fork; who its parent is, is put in later.

    Args:
        agent: who runs.
        output: where the trace goes, and what else the user said of it.
        arguments: the agent's; left out where a trace cannot hold them.
        rules: JSON pointers into a request that do not count, per api.
        redactor: its rules and salt.
        seed: what pinned ids and random numbers are made of.
    """
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
    if output.steps:
        fields["steps"] = {name: list(needs) for name, needs in output.steps.items()}
    if output.ambient:
        fields["ambient"] = output.ambient
    if output.requests != "full":
        fields["requests"] = output.requests
    if redactor.names:
        fields |= {"redact": list(redactor.names), "salt": redactor.salt}
    given = _encoded(arguments)
    if given is not MISSING and output.requests == "full":  # what an agent is asked is a prompt
        fields["input"] = given
    return TraceLine(**fields)


def _encoded(arguments: Arguments | None) -> Any:
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
