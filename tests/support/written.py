"""The lines of a trace as they are in its file, but for what differs from run to run."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import workbench as wb


def written(trace: wb.Trace) -> list[dict[str, Any]]:
    """The lines of a trace but for its header and the times of day."""
    with tempfile.TemporaryDirectory() as folder:
        data = trace.save(Path(folder) / "a.trace.jsonl").read_bytes()
    lines = [json.loads(line) for line in data.splitlines()[1:]]
    for line in lines:
        line.pop("at", None)
        if line["line"] == "end":
            line.pop("duration_s")
    return lines
