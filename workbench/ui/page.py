"""The widget itself: the synced traits of the protocol, and the channel for requests.

It holds no logic. It is made by :func:`make_page`, so that this module can be imported where
anywidget is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import RLock
from typing import Any

from workbench.errors import MissingExtraError

IDLE: dict[str, Any] = {
    "state": "idle",
    "done": 0,
    "expected": 0,
    "message": "",
    "question": None,
    "tail": [],
}
"""The ``run`` trait when nothing runs."""

MimeBundle = Callable[[], dict[str, str]]


def make_page(lock: RLock, static_view: MimeBundle) -> Any:
    """A new widget.

    Args:
        lock: held while the page's own changes are taken in, as a run may publish meanwhile.
        static_view: gives the MIME parts to show where no front end runs.

    Raises:
        MissingExtraError: anywidget is not installed.
    """
    page = _page_class()()
    page.guard = lock
    page.static_view = static_view
    return page


@cache
def _page_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingExtraError("lab", "anywidget") from error
    from workbench.ui.assets import css, esm

    class Page(anywidget.AnyWidget):
        """What `docs/ui-protocol.md` lists under traits."""

        _esm = esm()
        _css = css()

        selected = traitlets.Int(0).tag(sync=True)
        shown = traitlets.Int(0).tag(sync=True)
        traces: Any = traitlets.List().tag(sync=True)
        first: Any = traitlets.List().tag(sync=True)
        edits: Any = traitlets.List().tag(sync=True)
        can = traitlets.Dict().tag(sync=True)
        run = traitlets.Dict(dict(IDLE)).tag(sync=True)
        error = traitlets.Unicode("").tag(sync=True)
        python = traitlets.Unicode("").tag(sync=True)
        fault_forms = traitlets.Dict().tag(sync=True)
        guards = traitlets.Dict().tag(sync=True)

        guard: RLock
        static_view: MimeBundle

        def set_state(self, sync_data: dict[str, Any]) -> None:
            with self.guard:
                super().set_state(sync_data)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            bundle = super()._repr_mimebundle_(**kwargs)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            return {**(data or {}), **self.static_view()}, metadata

    return Page
