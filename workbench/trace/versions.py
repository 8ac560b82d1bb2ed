"""The versions of the trace format, and how a line of an older one becomes one of today's.

An older file is read as it is and brought up to date line by line, when a line is looked at: the
file itself is never touched, and no more of it is in memory than of a new one. There is one step
for each version, and a trace goes through all from its own on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import TraceFormatError, TraceVersionError
from workbench.trace.header import VERSION
from workbench.trace.values import loads

CURRENT: int = VERSION
"""The version that is written, and the newest that is read."""

Step = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes a line of the next version from a parsed line. It may change what it is given.

What an old line does not say is *not recorded*: a step leaves such a field out, and never puts a 0
or an empty text in its place. It gets every line, also damaged ones, so no field is sure to be
there or to be of the right type.
"""

MIGRATIONS: dict[int, Step] = {}
"""For each older version the step to the next one. Version 1 is the first."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the lines of one file."""

    version: int
    """The version of the file."""
    steps: tuple[Step, ...] = ()

    @property
    def old(self) -> bool:
        """The lines in the file are not those of today's format."""
        return bool(self.steps)

    def loads(self, data: bytes) -> Any:
        """A line of the file as one of today's format.

        Raises:
            TraceFormatError: it is no JSON, or a step cannot make anything of it.
        """
        found = loads(data)
        if not self.steps or not isinstance(found, dict):
            return found
        line: dict[str, Any] = found
        for version, step in enumerate(self.steps, self.version):
            try:
                line = step(line)
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                raise TraceFormatError(
                    f"it cannot be brought from format version {version} to {version + 1}: {error}"
                ) from error
        if line.get("line") == "trace":
            line["version"] = self.version + len(self.steps)
        return line


def reader_of(version: Any, file: Path | None = None) -> Reader:
    """What reads the lines of a file, by the version that its header names.

    Raises:
        TraceVersionError: that is none, or one that this package does not read.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        has = "names no format version" if version is None else f"has the version {version!r}"
        raise TraceVersionError(
            f"the header {has}, and versions are whole numbers from 1; "
            "the file was not written by a workbench, or was changed since",
            file=file,
            line=1,
        )
    if version > CURRENT:
        raise TraceVersionError(
            f"the trace has format version {version}, and this workbench reads up to {CURRENT}. "
            "Update it:  pip install -U trace-workbench",
            file=file,
            line=1,
        )
    return Reader(version, tuple(MIGRATIONS[each] for each in range(version, CURRENT)))
