"""Asking a person from an agent that has no io: beside ``now``, ``sleep`` and ``write_event``."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.seam.agentio.io import SyncSeamIO
from workbench.seam.agentio.world import World

_IO = SyncSeamIO(World())


def ask_human(prompt: str, choices: Sequence[str] | None = None) -> str:
    """Ask the person at the terminal or notebook; on replay the recorded answer.

    Args:
        prompt: the question.
        choices: the answers that are allowed; by default any text.

    Returns:
        The answer: one of the choices, if there are any.

    Raises:
        NobodyToAskError: nobody can be asked here.
        DriftError: a strict replay, and this was not asked when it was recorded.
    """
    return _IO.ask_human(prompt, choices)
