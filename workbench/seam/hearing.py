"""Keeping what a script prints, which is printed all the same."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, TextIO


class Tee(io.TextIOBase):
    """Passes text on and keeps it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._kept: list[str] = []

    def write(self, text: str) -> int:
        """Print it."""
        self._kept.append(text)
        self._out.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what waits."""
        self._out.flush()

    def fileno(self) -> int:
        """The real output's."""
        return self._out.fileno()

    def isatty(self) -> bool:
        """No: colours would be kept, too."""
        return False

    def writable(self) -> bool:
        """Yes."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The real output's."""
        return self._out.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The real output's."""
        return self._out.errors

    @property
    def buffer(self) -> _TeeBytes:
        """Where a script writes bytes."""
        return _TeeBytes(self._out.buffer, self._kept, self.encoding)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)  # reconfigure(), name and what else a real stream has

    def text(self) -> str:
        """All that was printed."""
        return "".join(self._kept)


class _TeeBytes:
    """Passes bytes on and keeps them as text."""

    def __init__(self, out: BinaryIO, kept: list[str], encoding: str) -> None:
        self._out = out
        self._kept = kept
        self._encoding = encoding

    def write(self, data: bytes) -> int:
        self._kept.append(bytes(data).decode(self._encoding or "utf-8", "replace"))
        return int(self._out.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)
