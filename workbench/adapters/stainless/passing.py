"""What goes past the recording: parts of an API that this version does not record."""

from __future__ import annotations

import threading
import warnings
from weakref import WeakKeyDictionary

from workbench.adapters.stainless.description import Sdk
from workbench.errors import UsageError
from workbench.seam.current import ENCLOSING, call_site
from workbench.seam.drivers import Seam


class _Told:
    """What each session was warned of."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.of: WeakKeyDictionary[Seam, set[str]] = WeakKeyDictionary()


_told = _Told()


def pass_by(seam: Seam, about: Sdk, what: str) -> None:
    """Decide on a call that is not recorded.

    Args:
        seam: the session that it is made in.
        about: the SDK.
        what: the call in words, such as ``GET /models``.

    Raises:
        UsageError: the run is a replay or a fork, where the call is not in the recording. Where
            the run is strict it ends as drifted, also if the agent swallows this.
    """
    if ENCLOSING.get() is not None:  # a tool's result is recorded, so what it calls need not be
        return
    if not seam.recording:
        raise _refused(seam, about, f"{what} at {call_site() or 'an unknown line'}")
    _warn_once(seam, about, what)


def _refused(seam: Seam, about: Sdk, call: str) -> UsageError:
    why = (
        "a replay makes no live calls"
        if seam.offline
        else "a fork cannot tell whether it belongs before or after the place where it goes live, "
        "nor whether it changes anything"
    )
    text = (
        f"{call} is not in the recording: of {about.title} this version records {about.recorded} "
        f"only. It was not sent, since {why}. Put the call into a function with @workbench.tool: "
        "then its result is recorded and replayed"
    )
    seam.missed(text)
    return UsageError(text)


def _warn_once(seam: Seam, about: Sdk, what: str) -> None:
    with _told.lock:
        told = _told.of.setdefault(seam, set())
        if what in told:
            return
        told.add(what)
    text = (
        f"{what} was made, and not recorded: of {about.title} this version records "
        f"{about.recorded} only. Put the call into a function with @workbench.tool to record its "
        "result"
    )
    seam.notice(text)
    warnings.warn(text, stacklevel=2)
