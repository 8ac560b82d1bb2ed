"""What the processes of one user share: a private folder, a lock and the server's address."""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import hmac
import json
import os
import stat
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import LocalModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOL = 1
"""Counted up when clients and servers of different versions no longer understand each other."""

DIR_VARIABLE = "WORKBENCH_LOCAL_DIR"

_LOCK_POLL_S = 0.05
_PRIVATE = 0o700
_LAST_PORT = 65535


@dataclass(frozen=True)
class ServerState:
    """Where the server is, and the secret by which it proves that it is that server."""

    port: int
    """TCP port on 127.0.0.1."""
    pid: int
    """Process id of the server."""
    token: str
    """Random for each server process; never sent, except to ask for a stop."""
    protocol: int = PROTOCOL
    """Version of the talk between client and server."""


def runtime_dir() -> Path:
    """The private folder, made when absent.

    Raises:
        LocalModelError: it belongs to somebody else, is a link, or cannot be made.
    """
    path = Path(os.environ.get(DIR_VARIABLE) or _default_dir())
    try:
        path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        info = path.lstat()
        if not stat.S_ISDIR(info.st_mode) or (hasattr(os, "getuid") and info.st_uid != os.getuid()):
            raise LocalModelError(
                f"The local model's folder {path} is a link, a file, or belongs to another user. "
                f"Remove it, or name another folder in {DIR_VARIABLE}."
            )
        if stat.S_IMODE(info.st_mode) != _PRIVATE:
            path.chmod(_PRIVATE)
    except OSError as error:
        raise LocalModelError(
            f"The local model's folder {path} cannot be used: {error}. "
            f"Name a folder that you can write in {DIR_VARIABLE}."
        ) from error
    return path.absolute()


def _default_dir() -> Path:
    """The system's folder for one user's running programs, which no other machine sees."""
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "trace-workbench"
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
    return Path(tempfile.gettempdir()) / f"trace-workbench-{user}"


def state_path(folder: Path) -> Path:
    """The file that names the running server."""
    return folder / "server.json"


def log_path(folder: Path) -> Path:
    """The log of the latest server."""
    return folder / "server.log"


def read_state(folder: Path) -> ServerState | None:
    """The server that the folder names, or None for none, a torn file or another protocol."""
    try:
        raw = json.loads(state_path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    match raw:
        case {"protocol": int(protocol), "port": int(port), "pid": int(pid), "token": str(token)}:
            known = protocol == PROTOCOL and 0 < port <= _LAST_PORT
            return ServerState(port=port, pid=pid, token=token) if known else None
        case _:
            return None


def write_state(folder: Path, state: ServerState) -> None:
    """Name the running server, in one step: a reader sees the old state or the new one."""
    fresh = folder / f"server.json.{os.getpid()}"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
    fresh.replace(state_path(folder))


def remove_state(folder: Path, token: str) -> None:
    """Forget the server that has this token; another server's state stays."""
    state = read_state(folder)
    if state is not None and state.token == token:
        state_path(folder).unlink(missing_ok=True)


def prove(token: str, nonce: str) -> str:
    """Show knowledge of the token without telling it, so that a reused port cannot pose."""
    return hmac.new(token.encode(), nonce.encode(), hashlib.sha256).hexdigest()


@contextlib.contextmanager
def start_lock(folder: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock under which a server is started; the system frees it if the holder dies.

    Raises:
        LocalModelError: somebody else has held it for ``timeout_s`` seconds.
    """
    deadline = time.monotonic() + timeout_s
    descriptor = os.open(folder / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise LocalModelError(
                    f"Another process has been starting the local model for {timeout_s:g} s. "
                    f"Its log is {log_path(folder)}; end that process and try again."
                )
            time.sleep(_LOCK_POLL_S)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
