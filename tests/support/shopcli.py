"""The command line at work in a folder with a shop's agent."""

import json
import os
import pty
import select
import subprocess
import sys
import time
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


def on_terminal(shop: Shop, answers: dict[str, str], *words: str) -> tuple[int, str]:
    """Run the command on a terminal, answering what it asks; gives its code and what was shown."""
    master, slave = pty.openpty()
    process = shop.start(*words, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown, waiting = "", dict(answers)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other end is closed: the command has ended
                break
            shown += data.decode("utf-8", "replace")
            for question, answer in list(waiting.items()):
                if question in shown:
                    os.write(master, answer.encode())
                    del waiting[question]
    os.close(master)
    return process.wait(30), shown


def here(*words: str) -> Ran:
    """The command in this very process, for what runs no agent."""
    from typer.testing import CliRunner

    from workbench.cli.app import app

    result = CliRunner().invoke(app, list(words), prog_name="workbench")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)
