"""The command line at work in a folder with a shop's agent."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AGENTS = Path(__file__).resolve().parent.parent / "cli" / "agents"


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on standard output, which holds nothing else."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Shop:
    """A folder with the agent, and the command in it."""

    folder: Path
    env: dict[str, str]

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """The command, running."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "workbench", *words],
            cwd=self.folder,
            env=self.env | options.pop("env", {}),
            text=True,
            encoding="utf-8",
            **(pipes | options),
        )

    def __call__(self, *words: str, **options: Any) -> Ran:
        """The command, run to its end."""
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=60)
        return Ran(process.returncode, out, err)

    def script(self, name: str, text: str) -> Path:
        """A script in the folder."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def changed(self, name: str, old: str, new: str) -> str:
        """A copy of the agent with one change in its text; gives the copy's name."""
        text = (AGENTS / "shop.py").read_text("utf-8")
        assert old in text
        return self.script(name, text.replace(old, new)).name

    def ledger(self) -> list[str]:
        """What the tools did for real since :meth:`keep_ledger`."""
        return (self.folder / "ledger.txt").read_text().splitlines()

    def keep_ledger(self) -> None:
        """From here on, note what the tools do for real."""
        (self.folder / "ledger.txt").write_text("")


def here(*words: str) -> Ran:
    """The command in this very process, for what runs no agent."""
    from typer.testing import CliRunner

    from workbench.cli.app import app

    result = CliRunner().invoke(app, list(words), prog_name="workbench")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)
