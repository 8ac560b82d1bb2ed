"""The ``workbench`` command. Nothing of it is imported before it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of this process. Ends the process with an exit code."""
    if sys.argv[1:2] == ["--version"]:
        # Answered without loading the command line's own library.
        from workbench.cli.output import print_version

        print_version()
        sys.exit(0)
    try:
        import typer  # noqa: F401 - only to learn whether it is there
    except ImportError:
        from workbench.errors import MissingExtraError

        sys.stderr.write(f"workbench: {MissingExtraError('cli', 'typer')}\n")
        sys.exit(2)
    from workbench.cli.app import app

    app(prog_name="workbench")
