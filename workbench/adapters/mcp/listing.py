"""Whether a live server's tools are those of the recording; where not, the run says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError
from workbench.trace.toollists import LIST, list_changed, tool_changes, tools_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.seam.seams import Seam


def recorded_tools(seam: Seam | None, server: str | None) -> list[dict[str, Any]] | None:
    """The tools that a server had when it was listed last in the recording; None if it never was,
    or nothing was recorded."""
    taped = seam.session.setting.taped if seam is not None else None
    if taped is None:
        return None
    found: list[dict[str, Any]] | None = None
    for entry in taped.tools(LIST):
        try:
            request, tools = entry.request, tools_in(entry.response)
        except TraceError:
            continue  # a damaged line: the run goes on, and what it holds is not known
        if request.get("server") != server or tools is None:
            continue
        more = bool((request.get("arguments") or {}).get("cursor"))
        found = [*(found or ()), *tools] if more else tools
    return found


def note_changes(
    seam: Seam,
    server: str | None,
    recorded: Sequence[dict[str, Any]],
    live: Sequence[dict[str, Any]],
) -> None:
    """Say in the run's notices what changed, if anything."""
    changes = tool_changes(recorded, live)
    if changes:
        seam.notice(list_changed(server, changes))
