"""Which way to a server was opened last, for the session that is begun on it.

A transport knows what it reaches, and a session has two streams that know nothing. Whoever opens
a transport begins a session on it in the same context, so the one is noted for the other there.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True)
class Opened:
    """A way to a server."""

    label: str
    """What it reaches, by a name that is the same on another machine: no folder, no port."""
    nowhere: bool = False
    """It leads nowhere, since nothing can go live in this run."""
    failure: OSError | None = None
    """Why the server could not be started, once it was to be."""


_OPENED: ContextVar[tuple[Opened, ...]] = ContextVar("workbench_mcp_opened", default=())


def note_opened(opened: Opened) -> None:
    """A way to a server was opened."""
    _OPENED.set((*_OPENED.get(), opened))


def claim() -> Opened | None:
    """The way that the session which begins now is on; None where it cannot be told."""
    found = _OPENED.get()
    if not found:
        return None
    _OPENED.set(())
    return found[0] if len(found) == 1 else None


def label_of_command(command: str, args: Sequence[str]) -> str:
    """What is started: the script or package of an interpreter or runner, else the command."""
    first = next((each for each in args if each and not each.startswith("-")), command)
    if "://" in first:
        return label_of_url(first)
    return PurePath(first.replace("\\", "/")).name or first


def label_of_url(url: str) -> str:
    """The host and the path of an address: a port may be another one each time, and what else
    stands in it may be a secret."""
    parts = urlsplit(url)
    return f"{parts.hostname or ''}{parts.path}"
