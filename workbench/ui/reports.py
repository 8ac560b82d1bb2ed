"""How a run ended, in words."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.ui.clips import clean, label, pretty

if TYPE_CHECKING:
    from workbench.seam.result import RunResult

LONGEST = 6_000
"""Characters of an explanation that the page is told."""

_OWN = Path(__file__).resolve().parent.parent


def result_text(result: RunResult) -> str:
    """What to say about a run that ended: its output, or in full why it did not end well."""
    if result.status == "ok":
        parts = [_output(result)]
    elif result.drift is not None:
        parts = [str(result.drift)]
    elif result.error is not None:
        parts = [failure_text(result.error)]
    else:
        parts = [f"the run ended with status {result.status}"]
    parts += [str(notice) for notice in result.notices if str(notice) not in parts[0]]
    return clean("\n".join(part for part in parts if part))[:LONGEST]


def failure_text(error: BaseException) -> str:
    """An exception's text, and the line of the agent's code that it came from."""
    name, text = type(error).__name__, str(error)
    words = f"{name}: {text}" if text else name
    place = frame_of(error)
    return clean(f"{words}\n{place}" if place else words)[:LONGEST]


def frame_of(error: BaseException) -> str:
    """``file:line in function: code`` of the innermost frame that is the user's own code.

    Frames of installed packages and of this one are passed over where there is another.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _foreign(frame.filename)]
    if not frames:
        return ""
    frame = (own or list(frames))[-1]
    code = f": {frame.line.strip()}" if frame.line else ""
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}{code}"


def _foreign(filename: str) -> bool:
    path = Path(filename)
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    standard = Path(traceback.__file__).parent in path.parents
    return bool(installed) or standard or _OWN in path.parents


def _output(result: RunResult) -> str:
    end = result.trace.end
    value = end.output if end is not None else None
    return "" if value is None else label(pretty(value), 400)
