"""Asking before calls go live."""

from __future__ import annotations

from workbench.errors import UsageError


def may_run(tools_after: str, otherwise: str = "") -> bool:
    """Whether calls may go live: asked on a terminal. In a script they go live as planned.

    Args:
        tools_after: what becomes of live writes.
        otherwise: what else can be done than saying yes, for the error.

    Raises:
        UsageError: live writes are allowed, and nobody can be asked.
    """
    from workbench.cli.watch import ask, on_terminal

    if on_terminal():
        return ask("Calls may go live. Run it?")
    if tools_after == "allow":
        raise UsageError(
            "live calls may write (--tools-after allow), and nobody can be asked, since this "
            f"is no terminal: add --yes to run it{otherwise}"
        )
    return True
