"""``workbench lab``: JupyterLab on a notebook that opens a trace."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from workbench.cli.options import Debug, Json
from workbench.cli.output import Output, command
from workbench.errors import MissingExtraError

if TYPE_CHECKING:
    from workbench.trace.entries import AgentInfo

_PATIENCE_S = 60
_STEP_S = 0.1


def lab_command(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH",
            help="A trace, a notebook or a folder; by default this folder.",
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address, with its token.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Open JupyterLab, on this machine only and behind a token, with a trace on the workbench.

    A trace gets a notebook beside it, NAME.ipynb, which is kept and opened again the next time.
    """
    with command(as_json=as_json, debug=debug) as out:
        for package in ("jupyterlab", "anywidget"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError("lab", package)
        target = _target(Path(path or "."))
        if target.is_file():
            out.warn(f"opening {target}")
        with tempfile.TemporaryDirectory(prefix="workbench-lab-") as folder:
            raise typer.Exit(_serve(out, target, Path(folder), browser=not no_browser))


def _target(path: Path) -> Path:
    """The folder or notebook to open; a trace's notebook is made."""
    if path.is_dir() or (path.suffix == ".ipynb" and path.is_file()):
        return path.resolve()
    return notebook_for(path.resolve() if path.exists() else path)


def notebook_for(trace: Path) -> Path:
    """The notebook that opens a trace: the one beside it, or a new one.

    Where the trace's folder cannot be written, it is made in a temporary one.

    Raises:
        TraceError: the file is no trace.
    """
    from workbench.trace.trace import read_header

    info = read_header(trace).agent
    stem = trace.name.partition(".trace.jsonl")[0].removesuffix(".jsonl")
    beside = trace.with_name(f"{stem}.ipynb")
    if beside.exists():
        return beside
    try:
        with beside.open("x", encoding="utf-8") as file:
            json.dump(_notebook(trace.name, stem, info), file, indent=1)
    except PermissionError:
        scratch = Path(tempfile.mkdtemp(prefix="workbench-")) / beside.name
        scratch.write_text(json.dumps(_notebook(str(trace), stem, info), indent=1), "utf-8")
        return scratch
    return beside


def _notebook(trace: str, title: str, info: AgentInfo | None) -> dict[str, Any]:
    about = (
        f"# {title}\n\nRun the cell below. To run the agent again, or on from a turn, give it to "
        "the workbench: `wb.Workbench(…, agent=my_agent)`."
    )
    return {
        "cells": [
            {"cell_type": "markdown", "id": "about", "metadata": {}, "source": about},
            {
                "cell_type": "code", "id": "open", "metadata": {}, "source": _code(trace, info),
                "execution_count": None, "outputs": [],
            },
        ],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip


def _code(trace: str, info: AgentInfo | None) -> str:
    """The cell that opens a trace. Its agent is only named, in a comment: a trace is untrusted."""
    name = json.dumps(trace)
    if info is None or not info.target:
        return f"import workbench as wb\n\nbench = wb.Workbench({name})\nbench"
    agent = json.dumps(info.target)
    lines = ["import workbench as wb"]
    if info.kind == "module" or info.argv:
        words = f", {tuple(info.argv)!r}" if info.argv else ""
        agent = f"Script({agent}{words}{', module=True' if info.kind == 'module' else ''})"
        lines.append("# from workbench.seam.scripts import Script")
    lines += [
        "",
        "bench = wb.Workbench(",
        f"    {name},",
        "    # The trace names this as its agent. Without the # it can be run from here, as seen",
        "    # from this notebook's folder; a function that is imported above can be given, too.",
        f"    # agent={agent},",
        ")",
        "bench",
    ]
    return "\n".join(lines)


def _serve(out: Output, target: Path, folder: Path, *, browser: bool) -> int:
    """Run JupyterLab until it ends, and give its exit code."""
    root = target if target.is_dir() else _root(target)
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    words += [] if browser else ["--no-browser"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # as in a container; JupyterLab refuses without it
    if target.is_file():
        words.append(str(target))
    server = subprocess.Popen(  # noqa: S603 - this interpreter, with a path that was looked at
        words,
        env=os.environ | {"JUPYTER_CONFIG_PATH": _config(folder)},
        stdout=sys.stderr.fileno() if out.as_json else None,
    )
    with _passed_on(server):
        # Said here, since JupyterLab's own log hides a token that comes from its settings.
        address = _address(server, target.relative_to(root) if target.is_file() else None)
        if address is not None:
            out.say(f"open {address}")
        out.data({"command": "lab", "path": str(target), "url": address})
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # JupyterLab got it too, and asks
                return server.wait()


def _root(notebook: Path) -> Path:
    here = Path.cwd()
    return here if notebook.is_relative_to(here) else notebook.parent


def _config(folder: Path) -> str:
    """Settings that win over the user's own: this machine only, and a token.

    In a file that only its owner can read: a command line could be read by everybody here.
    """
    settings = {
        "ServerApp": {"ip": "127.0.0.1", "allow_remote_access": False},
        "IdentityProvider": {"token": secrets.token_hex(24)},
    }
    file = folder / "jupyter_server_config.json"
    file.write_text(json.dumps(settings), "utf-8")
    before = os.environ.get("JUPYTER_CONFIG_PATH")
    return os.pathsep.join([str(folder), *([before] if before else [])])


def _address(server: subprocess.Popen[bytes], file: Path | None) -> str | None:
    """The address of a file in JupyterLab, or of JupyterLab, with its token, once it is up.

    None when it ended before, or is not up in good time.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    note = Path(jupyter_runtime_dir()) / f"jpserver-{server.pid}.json"
    for _ in range(int(_PATIENCE_S / _STEP_S)):
        if server.poll() is not None:
            return None
        if note.exists():
            with contextlib.suppress(ValueError):  # half written
                found = json.loads(note.read_text("utf-8"))
                if _answers(found["port"]):  # the note is there a moment before the server
                    tree = "" if file is None else f"/tree/{quote(file.as_posix())}"
                    return f"{found['url']}lab{tree}?token={found['token']}"
        time.sleep(_STEP_S)
    return None


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _passed_on(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whoever ends this process ends the server too."""
    before = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if server.poll() is None:
            server.terminate()
            server.wait()
