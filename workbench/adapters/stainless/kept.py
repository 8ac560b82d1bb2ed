"""Answers that the provider keeps, so that a later request may go on from them by their id.

One that comes from a recording is not kept by the provider, or not as this run has it. A live call
that goes on from it fails as it does where the provider has lost it; the SDK, or the agent, then
sends the whole conversation.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.errors import error_response
from workbench.seam.calls import Served
from workbench.seam.current import current_seam
from workbench.seam.drivers import Seam
from workbench.trace.entries import ErrorInfo

_ids: WeakKeyDictionary[Seam, set[str]] = WeakKeyDictionary()
"""Of each session, the ids of the answers that came from its recording."""
_lock = threading.Lock()


def note_served(asked: sdk.Asked, served: Served) -> None:
    """Remember the ids of an answer that comes from a recording."""
    seam = current_seam() if asked.about.lost is not None else None
    if seam is None:
        return
    body = served.response.get("body") if isinstance(served.response, dict) else None
    for each in (body, *(served.chunks or ())[:1]):
        made = each.get("message", each) if isinstance(each, dict) else None
        if isinstance(made, dict) and isinstance(made.get("id"), str):
            with _lock:
                _ids.setdefault(seam, set()).add(made["id"])


def refuse_lost(asked: sdk.Asked, request: Any) -> None:
    """Fail a live call that goes on from an answer which came from the recording.

    Raises:
        Exception: the SDK's own, as when the provider has lost the answer.
    """
    seam = current_seam()
    if asked.about.lost is None or seam is None or not isinstance(request, dict):
        return
    found = asked.about.lost(request.get("body"))
    if found is None or found[0] not in _ids.get(seam, ()):
        return
    named, body = found
    seam.notice(
        f"a live call went on from {named}, which the provider did not make in this run: it was "
        "told that it is lost, so that it sends the whole conversation"
    )
    info = ErrorInfo(type="http_error", message="lost", status=404, headers={}, body=body)
    raise sdk.status_error(asked.client, error_response(asked, info))
