"""Where a fork that is in memory goes when it is saved."""

from __future__ import annotations

from itertools import count
from pathlib import Path

SUFFIX = ".trace.jsonl"


def free_path(parent: Path | None, number: int) -> Path:
    """``<parent>-fork1.trace.jsonl`` beside the parent, with a number that no file has."""
    folder = parent.parent if parent else Path()
    name = parent.name if parent else "trace"
    stem = name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".trace")
    paths = (folder / f"{stem}-fork{n}{SUFFIX}" for n in count(number))
    return next(path for path in paths if not path.exists())
