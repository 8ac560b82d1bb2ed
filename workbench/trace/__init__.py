"""What a run left behind: the file, its entries, and pure functions over them."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one line of a trace file, made anew at each call.

    A file is valid when each of its lines is. :meth:`workbench.trace.trace.Trace.verify` checks
    more: ids, hashes, and that bodies can be put together.
    """
    import json
    from importlib.resources import files

    text = (files("workbench.trace") / "schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
