"""Asking whoever is at the terminal or notebook, where no front end does it."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.seam.calls import Question

_NOBODY = (
    "nobody was there to ask: run it in a terminal or a notebook, "
    "or give a controller= that answers"
)


def ask_in_terminal(question: Question) -> None:
    """Ask on the terminal, or in the cell of a notebook; deny when there is neither."""
    if not can_ask():
        question.deny(_NOBODY)
        return
    try:
        said = input(f"{question.text}\n  key {question.key}\nLet it run? [y/N] ")
    except (EOFError, OSError):
        question.deny(_NOBODY)
        return
    if said.strip().lower() in ("y", "yes"):
        question.allow()
    else:
        question.deny()


def can_ask() -> bool:
    """Whether ``input`` reaches a person: a terminal, or the front end of a running cell."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))
