"""`workbench lab`."""

import json
import os
import re
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

import workbench as wb
from workbench.cli.lab import notebook_for


def _read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - loopback
        return json.load(answer)


@pytest.fixture
def lab_env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own, whose settings would open the door to everybody."""
    home = str(tmp_path_factory.mktemp("home"))
    Path(home, "jupyter_server_config.json").write_text(
        '{"ServerApp": {"ip": "0.0.0.0"}, "IdentityProvider": {"token": ""}}'
    )
    return {"HOME": home, "JUPYTER_CONFIG_DIR": home, "JUPYTER_RUNTIME_DIR": home}


@pytest.fixture
def lab(shop: Shop, recorded: str, lab_env: dict[str, str]) -> Iterator[Any]:
    """The command, running on a trace; with what it said."""
    process = shop.start("lab", recorded, "--no-browser", "--json", env=lab_env)
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
def test_the_address_is_printed_with_its_token(
    shop: Shop, recorded: str, lab_env: dict[str, str]
) -> None:
    """Who has no browser at hand copies one line, and it opens the trace's notebook."""
    (shop.folder / "a b").mkdir()
    (shop.folder / recorded).rename(shop.folder / "a b" / "c.trace.jsonl")
    process = shop.start("lab", "a b/c.trace.jsonl", "--no-browser", env=lab_env)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        pattern = r"open (http://127\.0\.0\.1:\d+/lab/tree/a%20b/c\.ipynb\?token=[0-9a-f]{32,})\n"
        found = re.fullmatch(pattern, line)
        assert found, line
        with urllib.request.urlopen(found[1], timeout=20) as answer:  # noqa: S310 - loopback
            assert b"jupyter-config-data" in answer.read()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.mark.slow
def test_a_trace_opens_in_a_server_of_this_machine_alone(lab: Any) -> None:
    """JupyterLab runs on the loopback behind a token, with the trace's notebook in its folder."""
    process, said, folder = lab
    base, _, token = said["url"].partition("lab/tree/a.ipynb?token=")
    assert base.startswith(("http://127.0.0.1:", "http://localhost:"))
    assert len(token) >= 32
    assert said["path"] == str(folder / "a.ipynb")
    found = _read(f"{base}api/contents/a.ipynb?token={token}")
    assert 'bench = wb.Workbench(\\n    "a.trace.jsonl",' in json.dumps(found).replace('\\"', '"')
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
    code = book.cells[1].source.splitlines()
    assert code[:2] == ["import workbench as wb", "# from workbench.seam.scripts import Script"]
    assert code[3:5] == ["bench = wb.Workbench(", '    "a b.trace.jsonl",']
    assert code[-3:] == ["    # agent=Script(\"shop.py\", ('--order', '101')),", ")", "bench"]
    made.write_text("mine")
    assert notebook_for(trace).read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("shop:handle", '    # agent="shop:handle",'),
        ("x:y\nraise SystemExit('it ran')", None),
    ],
)
def test_the_agent_is_named_and_never_run(
    tmp_path: Path,
    recorded_once: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    line: str | None,
) -> None:
    """Whoever opens the notebook sees how to run the agent; a forged name stays a comment."""
    head, rest = recorded_once.read_text("utf-8").split("\n", 1)
    header = json.loads(head) | {"agent": {"kind": "function", "target": target}}
    trace = tmp_path / "n.trace.jsonl"
    trace.write_text(f"{json.dumps(header)}\n{rest}", "utf-8")
    book = nbformat.read(notebook_for(trace), as_version=4)  # type: ignore[no-untyped-call]
    code = book.cells[1].source
    assert line is None or line in code.splitlines()
    names: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    exec(code, names)  # noqa: S102 - the cell that the command wrote
    assert names["wb"] is wb, "the name of the package was taken for something else"
    assert isinstance(names["bench"], wb.Workbench)


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
