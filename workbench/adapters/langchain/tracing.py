"""LangSmith: a replay reports nothing to it, since a replay makes no connections."""

from __future__ import annotations

from typing import Any

from workbench.adapters.langchain import names
from workbench.seam.current import current_seam
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook what hands a run to the client's background thread."""
    for name in ("create_run", "update_run"):
        patches.wrap(names.langsmith_client(), name, _report)


def _report(wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    seam = current_seam()
    if seam is not None and seam.session.setting.offline:
        return None
    return wrapped(*args, **kwargs)
