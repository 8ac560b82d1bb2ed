"""The ``workbench`` command. Nothing of it is imported before it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of this process. Ends the process with an exit code."""
    if sys.argv[1:2] == ["--version"]:
        # Answered without loading the command line's own library; it need not even be there.
        sys.stdout.write(f"workbench {sys.modules['workbench'].__version__}\n")
        sys.exit(0)
    try:
        import typer  # noqa: F401 - only to learn whether it is there
    except ImportError:
        from workbench.errors import MissingExtraError

        sys.stderr.write(f"workbench: {MissingExtraError('cli', 'typer')}\n")
        sys.exit(2)
    from workbench.cli.app import app

    app(prog_name="workbench")
