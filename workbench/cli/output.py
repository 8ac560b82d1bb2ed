"""Where a command's words go: people's text to one stream, JSON to the other.

Without ``--json``, what a command finds out goes to standard output, beside what the agent prints.
With it, standard output holds one JSON document and nothing else; everything for people, and
everything that the agent prints, goes to standard error.

A trace is untrusted: control characters in it never reach the terminal as such.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn, TextIO

import typer

from workbench.errors import UnrecordedWarning, WorkbenchError
from workbench.version import VERSION

OK = 0
DIFFERENT = 1
"""A drift, a difference, a failed agent or a blocked write."""
UNUSABLE = 2
"""The command cannot work as it was given, or a file cannot be read."""
INTERRUPTED = 130
_UNREAD = 141
"""The reader of our output went away, as a shell reports it."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAIN = str.maketrans(
    {
        "→": "->", "…": "...", "·": "|", "–": "-", "—": "-", "×": "x", "“": '"', "”": '"',
        "‘": "'", "’": "'",
    }
)  # fmt: skip


def clean(text: str) -> str:
    """A text without anything that a terminal would obey: such characters are spelled out."""
    return _CONTROL.sub(lambda match: ascii(match.group())[1:-1], text.replace("\r\n", "\n"))


def fitting(text: str, encoding: str | None) -> str:
    """A text that a stream of that encoding can write, with ASCII for what it cannot."""
    name = encoding or "ascii"
    try:
        text.encode(name)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(name, "backslashreplace").decode(name)
    return text


def write(stream: TextIO, text: str) -> None:
    """Write lines for people to a stream."""
    stream.write(fitting(clean(text), stream.encoding) + "\n")
    stream.flush()


def print_version() -> None:
    """Write the version to standard output."""
    write(sys.stdout, f"workbench {VERSION}")


class Output:
    """What a command says, and where."""

    def __init__(self, *, as_json: bool, debug: bool) -> None:
        self.as_json = as_json
        self.debug = debug
        self._document = sys.stdout
        """Where JSON goes: standard output as it was."""

    def say(self, text: str = "") -> None:
        """What a command finds out, for people."""
        write(sys.stderr if self.as_json else sys.stdout, text)

    def warn(self, text: str) -> None:
        """What is no result: progress, questions, errors."""
        write(sys.stderr, text)

    def data(self, value: Any) -> None:
        """The JSON document, when one was asked for."""
        if self.as_json:
            self._document.write(json.dumps(value, indent=1, allow_nan=False) + "\n")
            self._document.flush()

    def fail(self, error: BaseException) -> NoReturn:
        """Say what is wrong, and end the command."""
        if self.debug:
            raise error
        self.warn(f"workbench: {error_text(error)}")
        self.data({"error": {"type": type(error).__name__, "message": error_text(error)}})
        raise typer.Exit(UNUSABLE)

    @contextlib.contextmanager
    def agent(self, *, aside: bool = False) -> Iterator[None]:
        """While the agent runs: with ``--json``, or ``aside``, what it prints goes to standard
        error."""
        if not (self.as_json or aside):
            yield
            return
        with _own_stdout(), contextlib.redirect_stdout(sys.stderr):
            yield


@contextlib.contextmanager
def _own_stdout() -> Iterator[None]:
    """Keep standard output for the document, also from what child processes write to it."""
    try:
        out, err = sys.stdout.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):  # not a real stream: only Python code can write to it
        yield
        return
    sys.stdout.flush()
    kept = os.dup(out)
    os.dup2(err, out)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, out)
        os.close(kept)


@contextlib.contextmanager
def command(*, as_json: bool, debug: bool) -> Iterator[Output]:
    """Around a command: its errors become one clear line and exit code 2."""
    output = Output(as_json=as_json, debug=debug)
    # A run's result has the same as a note, which is printed without a line of our own code.
    warnings.filterwarnings("ignore", ".* written in spite of redaction: ", RuntimeWarning)
    warnings.filterwarnings("ignore", category=UnrecordedWarning)
    try:
        yield output
    except BrokenPipeError:
        # The reader of our output has seen enough. Python would complain once more at exit.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(_UNREAD) from None
    except (WorkbenchError, OSError) as error:
        output.fail(error)
    except KeyboardInterrupt:
        output.warn("workbench: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def error_text(error: BaseException) -> str:
    """An error's message; an operating system's names the file."""
    if isinstance(error, OSError) and not isinstance(error, WorkbenchError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return cli_words(str(error) or type(error).__name__)


def cli_words(text: str) -> str:
    """A message with options as a command line has them, where it names those of Python."""
    for python, words in _OPTIONS:
        text = re.sub(python, words, text)
    return text


_OPTIONS = (
    (r"pass replace=True", "give --replace"),
    (r'(mode|tools_after)="(\w+)"', lambda found: f"--{found[1].replace('_', '-')} {found[2]}"),
    (r"pass its trace as resumes=", "give its trace with --resumes"),
    (r"pass the trace itself", "give it with --parent"),
    (r"pass them$", "give them after --"),
    (r"simulate=\{'([^']*)': a function\}", r"--simulate \1=MODULE:FUNCTION"),
    (
        r"Pass what it was recorded with: redact=\[.*\]$",
        "No option takes rules: in Python, workbench.replay(agent, trace, redact=[Rule.key(…), …])",
    ),
    (
        r"Pass the secret: secrets=\[…\] with its text, or secrets=\{.*\} with another one .*",
        "Give --secret NAME, the environment variable that holds it",
    ),
)
"""What is called otherwise on a command line than in Python."""
