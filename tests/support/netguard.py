"""Keeps the tests off the network: whatever is not on this machine is refused, by address.

`conftest.py` installs the guard in the test process, `sitecustomize.py` (beside this file) in every
Python process that a test starts. Loopback and unix sockets pass, because the tests talk to real
servers there.
"""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any


class LiveCallBlockedError(RuntimeError):
    """A test tried to reach an address outside this machine."""


attempts: list[str] = []
"""Each refused address of this process, in order. A test that swallows the error still fails."""

_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})


def is_local(host: object) -> bool:
    """Whether `host`, a name or a numeric address, is this machine itself."""
    if host is None:
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    if text.lower() in _LOCAL_NAMES or text.lower().endswith(".localhost"):
        return True
    address = _numeric(text)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback)


def _numeric(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _refuse(target: str) -> LiveCallBlockedError:
    attempts.append(target)
    return LiveCallBlockedError(
        f"a test tried to reach {target}; live calls are off in tests. "
        "Serve what it needs on 127.0.0.1, or replay a trace."
    )


def _check(sock: socket.socket, address: Any) -> None:
    if sock.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    host, port = address[0], address[1]
    if not is_local(host):
        raise _refuse(f"{host}:{port}")


def _guard_address(original: Callable[..., Any], *, position: int) -> Callable[..., Any]:
    """Wraps a socket method whose address is the argument at `position` (-1: the last)."""

    def guarded(self: socket.socket, *args: Any) -> Any:
        _check(self, args[position])
        return original(self, *args)

    return guarded


def _guard_lookup(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a name look-up. A numeric address needs no look-up, so `connect` judges that one."""

    def guarded(host: Any, *args: Any, **kwargs: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else str(host)
        if not is_local(host) and _numeric(text) is None:
            raise _refuse(f"{text} (a name look-up)")
        return original(host, *args, **kwargs)

    return guarded


def install() -> None:
    """Puts the guard in place for the rest of this process; a second call does nothing."""
    if getattr(socket, "_workbench_guarded", False):
        return
    socket.socket.connect = _guard_address(socket.socket.connect, position=0)  # type: ignore[method-assign]
    socket.socket.connect_ex = _guard_address(socket.socket.connect_ex, position=0)  # type: ignore[method-assign]
    socket.socket.sendto = _guard_address(socket.socket.sendto, position=-1)  # type: ignore[method-assign]
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _guard_lookup(getattr(socket, name)))
    socket._workbench_guarded = True  # type: ignore[attr-defined]
