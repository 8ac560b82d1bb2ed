"""The user's side: join the running server, or start one."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import LocalModelError, UsageError
from workbench.providers.local.engine import MODEL_NAME, find_model, thread_count
from workbench.providers.local.state import (
    ServerState,
    log_path,
    prove,
    read_state,
    runtime_dir,
    start_lock,
)
from workbench.seam.current import current_seam

DEFAULT_IDLE_S = 10.0

_NOBODY = "http://127.0.0.1:9/v1"
_POLL_S = 0.05
_ANSWER_S = 10.0
_LOG_LINES = 20


@dataclass(frozen=True)
class LocalStatus:
    """The running server, as :func:`status` finds it."""

    base_url: str
    """What an OpenAI client takes as ``base_url``."""
    pid: int
    """The server's process id."""
    model: str
    """The model's name in replies."""
    log: Path
    """The server's log."""


@contextlib.contextmanager
def local_model(*, idle_s: float = DEFAULT_IDLE_S, start_timeout_s: float = 60.0) -> Iterator[str]:
    """Use the offline model: gives the ``base_url`` of an OpenAI-compatible server.

    The server is started when none runs and shared with every other process of this user.
    Any API key and any model name will do. In a replay that can never go live no server is
    started or needed: the address that it gives then is one where nobody listens.

    Args:
        idle_s: seconds that the server stays after its last user, if this call starts it.
        start_timeout_s: seconds that it may take to start.

    Raises:
        MissingExtraError: the model or its server is not installed; the text has the command.
        LocalModelError: the server did not start; the text ends with its log.
    """
    if not idle_s >= 0 or not start_timeout_s > 0:
        raise UsageError(
            f"idle_s must be 0 or more and start_timeout_s above 0, in seconds; "
            f"they are {idle_s!r} and {start_timeout_s!r}."
        )
    if _offline():
        yield _NOBODY
        return
    state, lease = _acquire(runtime_dir(), idle_s, start_timeout_s)
    try:
        yield _base_url(state)
    finally:
        lease.close()


def status() -> LocalStatus | None:
    """The running server, or None; asking does not start one."""
    folder = runtime_dir()
    state = read_state(folder)
    lease = None if state is None else _join(state)
    if state is None or lease is None:
        return None
    lease.close()
    return LocalStatus(_base_url(state), state.pid, MODEL_NAME, log_path(folder))


def stop(*, timeout_s: float = 10.0) -> bool:
    """Stop the running server, even under its users; False when none runs.

    Raises:
        LocalModelError: it still answers after ``timeout_s`` seconds.
    """
    folder = runtime_dir()
    state = read_state(folder)
    lease = None if state is None else _join(state)
    if state is None or lease is None:
        return False
    lease.close()
    connection = http.client.HTTPConnection("127.0.0.1", state.port, timeout=_ANSWER_S)
    with contextlib.closing(connection):
        headers = {"Authorization": f"Bearer {state.token}"}
        connection.request("POST", "/workbench/stop", headers=headers)
        connection.getresponse().read()
    deadline = time.monotonic() + timeout_s
    while read_state(folder) == state:
        if time.monotonic() > deadline:
            raise LocalModelError(
                f"The local model's server (process {state.pid}) was told to stop and has not, "
                f"for {timeout_s:g} s. End that process; its log is {log_path(folder)}."
            )
        time.sleep(_POLL_S)
    return True


def _offline() -> bool:
    seam = current_seam()
    return seam is not None and seam.session.setting.offline


def _base_url(state: ServerState) -> str:
    return f"http://127.0.0.1:{state.port}/v1"


def _acquire(
    folder: Path, idle_s: float, timeout_s: float
) -> tuple[ServerState, http.client.HTTPConnection]:
    """Join the running server; failing that, start one, which only one process does at a time."""
    if joined := _running(folder):
        return joined
    with start_lock(folder, timeout_s):
        return _running(folder) or _start(folder, idle_s, timeout_s)


def _running(folder: Path) -> tuple[ServerState, http.client.HTTPConnection] | None:
    state = read_state(folder)
    lease = None if state is None else _join(state)
    return None if state is None or lease is None else (state, lease)


def _join(state: ServerState) -> http.client.HTTPConnection | None:
    """Open the connection that makes this process a user, or None if that server is gone.

    The server must prove that it knows the state's token: after a crash, the port may belong to
    another program.
    """
    nonce = secrets.token_hex(16)
    connection = http.client.HTTPConnection("127.0.0.1", state.port, timeout=_ANSWER_S)
    try:
        connection.request("GET", f"/workbench/hold?nonce={nonce}")
        answer = json.loads(connection.getresponse().read())
        if answer["proof"] == prove(state.token, nonce):
            return connection
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        # Whatever is wrong there, it is not the server that the state names.
        connection.close()
        return None
    connection.close()
    return None


def _start(
    folder: Path, idle_s: float, timeout_s: float
) -> tuple[ServerState, http.client.HTTPConnection]:
    find_model()
    thread_count()
    process = _spawn(folder, idle_s)
    deadline = time.monotonic() + timeout_s
    while True:
        joined = _running(folder)
        if joined is not None:
            # Nobody else will wait for it, and a process not waited for stays in the table.
            threading.Thread(target=process.wait, name="local-model", daemon=True).start()
            return joined
        code = process.poll()
        if code is not None:
            raise LocalModelError(
                f"The local model's server ended with code {code} before it was ready. "
                + _log_tail(folder)
            )
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise LocalModelError(
                f"The local model's server was not ready after {timeout_s:g} s and was ended; "
                "start_timeout_s gives it longer. " + _log_tail(folder)
            )
        time.sleep(_POLL_S)


def _spawn(folder: Path, idle_s: float) -> subprocess.Popen[bytes]:
    """Start the server on its own: it outlives this process and its terminal."""
    package = str(Path(__file__).resolve().parents[3])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-P", "-m", "workbench.providers.local.server"]
    command += ["--folder", str(folder), "--idle", str(idle_s)]
    with log_path(folder).open("wb") as log:
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
        else:
            flags = 0
        return subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=flags,
        )


def _log_tail(folder: Path) -> str:
    path = log_path(folder)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    return "\n".join([f"The end of its log {path}:", *(lines or ["(empty)"])])
