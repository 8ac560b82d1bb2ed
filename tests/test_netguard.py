"""The rule that tests make no live calls, itself tested."""

import os
import socket
import subprocess
import sys
import threading

import netguard
import pytest


def test_an_address_outside_is_refused_by_name(live_calls: list[str]) -> None:
    """A test can't reach the world, and the error says which address it tried."""
    with (
        socket.socket() as sock,
        pytest.raises(netguard.LiveCallBlockedError, match=r"reach 192\.0\.2\.1:443; live calls"),
    ):
        sock.connect(("192.0.2.1", 443))
    assert live_calls == ["192.0.2.1:443"]
    live_calls.clear()


def test_connect_ex_and_datagrams_are_refused(live_calls: list[str]) -> None:
    """The quiet ways out (an error code, a datagram) are closed as well."""
    with socket.socket() as sock, pytest.raises(netguard.LiveCallBlockedError):
        sock.connect_ex(("192.0.2.1", 80))
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        pytest.raises(netguard.LiveCallBlockedError),
    ):
        sock.sendto(b"x", ("192.0.2.1", 53))
    assert live_calls == ["192.0.2.1:80", "192.0.2.1:53"]
    live_calls.clear()


def test_a_name_is_not_looked_up(live_calls: list[str]) -> None:
    """A host name is refused before a resolver is asked, so no name leaks out either."""
    with pytest.raises(netguard.LiveCallBlockedError, match=r"api\.example\.com"):
        socket.create_connection(("api.example.com", 443), timeout=1)
    assert live_calls == ["api.example.com (a name look-up)"]
    live_calls.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
def test_loopback_passes(host: str) -> None:
    """Real servers on this machine stay reachable: data goes there and back."""
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(connection.recv(16).upper())

        thread = threading.Thread(target=answer)
        thread.start()
        with socket.create_connection((host, port), timeout=5) as client:
            client.sendall(b"ping")
            assert client.recv(16) == b"PING"
        thread.join(5)


def test_unix_sockets_pass() -> None:
    """A pair of local sockets is no live call."""
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"ok")
        assert right.recv(2) == b"ok"


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:192.0.2.1", False),
        ("10.0.0.1", False),
        ("0.0.0.1", False),
        ("localhost.example.com", False),
        (None, True),
    ],
)
def test_what_counts_as_this_machine(host: str | None, *, local: bool) -> None:
    """Names and addresses that only look local are not let through."""
    assert netguard.is_local(host) is local


def test_a_child_process_is_guarded_too() -> None:
    """An agent or a command that a test starts as a process is under the same rule."""
    code = "import socket; socket.create_connection(('192.0.2.1', 443), timeout=1)"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert child.returncode == 1
    assert "LiveCallBlockedError: a test tried to reach 192.0.2.1:443" in child.stderr


def test_no_key_of_the_developer_is_left() -> None:
    """A key or a proxy set on the developer's machine is invisible to the tests."""
    left = [name for name in os.environ if name.upper().endswith(("_API_KEY", "_PROXY"))]
    assert left == []
