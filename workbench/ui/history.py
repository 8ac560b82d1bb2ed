"""The pending edits of a trace, with what undo and redo need."""

from __future__ import annotations

from typing import Any

from workbench.trace.edits import Edits
from workbench.trace.preview import preview_rows
from workbench.trace.trace import Trace
from workbench.ui.clips import label


class History:
    """The edits as they were after each change, and which of these holds now."""

    def __init__(self, trace: Trace) -> None:
        self._states = [trace.edit()]
        self._at = 0

    @property
    def edits(self) -> Edits:
        """The edits that hold now."""
        return self._states[self._at]

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a change was taken back."""
        return self._at + 1 < len(self._states)

    def put(self, edits: Edits) -> None:
        """A change; what was taken back before it is gone."""
        self._states[self._at + 1 :] = [edits]
        self._at += 1

    def undo(self) -> None:
        """Take the last change back; nothing happens where there is none."""
        self._at = max(0, self._at - 1)

    def redo(self) -> None:
        """Make the change that was taken back last; nothing happens where there is none."""
        self._at = min(len(self._states) - 1, self._at + 1)

    def lines(self) -> list[dict[str, Any]]:
        """The protocol's ``edits``: ``{index, kind, turn, text}`` for each."""
        return [edit_line(row) for row in preview_rows(self.edits)]


def edit_line(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the preview, short enough for a trait."""
    text = row["text"] or f"{row['title']} → {row['after']}"
    return {
        "index": row["index"],
        "kind": row["type"],
        "turn": row["turn"],
        "text": label(text),
    }
