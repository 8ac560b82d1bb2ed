"""Which traces this user recorded here: their agents may run again without being named.

A trace is a stranger's text, and the agent that it names is never run because of that. What was
recorded by a command of this user is another matter: a line about each is kept in the user's own
folder, with where it was. A trace whose agent or arguments somebody changed is none of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.trace.entries import TraceLine

VARIABLE = "WORKBENCH_RUNS_DIR"
"""Names another folder than the user's own."""
_FILE, _OLD = "recorded.jsonl", "recorded-before.jsonl"
_MOST_BYTES = 1_000_000
_PRIVATE = 0o700


def remember(header: TraceLine, folder: Path | None = None) -> None:
    """Note that this trace was made here: of an agent that ran in this folder, by default in the
    one where this process is."""
    if header.agent is None or header.agent.target is None:
        return
    line = {"id": header.id, "digest": _digest(header), "folder": str(folder or Path.cwd())}
    data = (json.dumps(line) + "\n").encode()
    with contextlib.suppress(OSError):  # without a folder of one's own an agent is named, as any
        own = _folder()
        own.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        path = own / _FILE
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(own / _OLD)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, data)  # one write: commands that run at once do not mix
        finally:
            os.close(handle)


def recorded_in(header: TraceLine) -> Path | None:
    """The folder in which this user recorded this very trace; None if nobody here did."""
    found: Path | None = None
    for name in (_OLD, _FILE):
        with contextlib.suppress(OSError):
            for text in (_folder() / name).read_text("utf-8").splitlines():
                found = _named(text, header) or found
    return found


def _named(text: str, header: TraceLine) -> Path | None:
    if header.id not in text:
        return None
    try:
        line: Any = json.loads(text)
    except ValueError:  # half a line, of a process that was killed
        return None
    if line.get("id") != header.id or line.get("digest") != _digest(header):
        return None
    return Path(str(line.get("folder")))


def _digest(header: TraceLine) -> str:
    """What is run, and with what."""
    agent = header.agent.model_dump(mode="json") if header.agent is not None else None
    text = json.dumps([header.id, agent, header.input], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _folder() -> Path:
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "workbench"
