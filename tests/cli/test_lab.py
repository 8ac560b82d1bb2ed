"""`workbench lab`."""

import json
import os
import shutil
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from shopcli import Shop, here

from workbench.cli.lab import notebook_for


def _read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - loopback
        return json.load(answer)


@pytest.fixture
def lab(shop: Shop, recorded: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The command, running on a trace; with what it said."""
    home = str(tmp_path_factory.mktemp("home"))
    env = {"HOME": home, "JUPYTER_CONFIG_DIR": home, "JUPYTER_RUNTIME_DIR": home}
    # A user's own settings must not open the door.
    Path(home, "jupyter_server_config.json").write_text(
        '{"ServerApp": {"ip": "0.0.0.0"}, "IdentityProvider": {"token": ""}}'
    )
    process = shop.start("lab", recorded, "--no-browser", "--json", env=env)
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while lines[-1] not in ("}\n", ""):
        lines.append(process.stdout.readline())
    try:
        yield process, json.loads("".join(lines)), shop.folder
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.mark.slow
def test_a_trace_opens_in_a_server_of_this_machine_alone(lab: Any) -> None:
    """JupyterLab runs on the loopback behind a token, with the trace's notebook in its folder."""
    process, said, folder = lab
    base, _, token = said["url"].partition("lab?token=")
    assert base.startswith(("http://127.0.0.1:", "http://localhost:"))
    assert len(token) >= 32
    assert said["path"] == str(folder / "a.ipynb")
    found = _read(f"{base}api/contents/a.ipynb?token={token}")
    assert 'workbench.Workbench("a.trace.jsonl")' in json.dumps(found).replace('\\"', '"')
    with pytest.raises(urllib.error.HTTPError, match="403"):
        _read(f"{base}api/contents/a.ipynb")
    words = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if words.exists():
        child = words.read_text().split()[0]
        assert token not in Path(f"/proc/{child}/cmdline").read_text()
    port = int(base.rstrip("/").rpartition(":")[2])
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0, "the server outlived the command"


def test_the_notebook_of_a_trace(tmp_path: Path, recorded_once: Path) -> None:
    """It is a valid notebook beside the trace, and what a person did to it is never lost."""
    trace = Path(shutil.copy(recorded_once, tmp_path / "a b.trace.jsonl"))
    made = notebook_for(trace)
    assert made == tmp_path / "a b.ipynb"
    book = nbformat.read(made, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(book)
    assert book.cells[1].source.splitlines()[2] == 'wb = workbench.Workbench("a b.trace.jsonl")'
    made.write_text("mine")
    assert notebook_for(trace).read_text() == "mine"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path, recorded_once: Path) -> None:
    """The notebook is made elsewhere then, and names the trace by its whole path."""
    trace = Path(shutil.copy(recorded_once, tmp_path / "a.trace.jsonl"))
    tmp_path.chmod(0o500)
    made = notebook_for(trace)
    tmp_path.chmod(0o700)
    assert made.parent != tmp_path
    assert json.dumps(str(trace)) in made.read_text().replace('\\"', '"')


def test_what_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is no trace, and a missing extra, are one line each."""
    ran = here("lab", str(tmp_path / "nope.trace.jsonl"))
    assert (ran.code, ran.out) == (2, "")
    assert "there is no such file" in ran.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = here("lab")
    assert ran.code == 2
    assert ran.err == (
        "workbench: jupyterlab is not installed, and this needs it. "
        'Install it with:  pip install "trace-workbench[lab]"\n'
    )
