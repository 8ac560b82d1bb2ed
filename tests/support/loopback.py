"""A real HTTP server on loopback that speaks for every provider, well or badly, as it is told.

What happens to a request is said by its *script*: the header ``x-script``, or else the model's
name. A script is one word, or several with commas between: the first request gets the first, the
next one the second, and so on; all further ones get the last (``429,429,ok``). The words:

- ``ok``; ``late`` (the same, after a while); ``slow`` (the same, with pauses and comments between
  the events of a stream);
- a status from 400 on, such as ``429``; ``html502``; ``badjson``; ``text`` (a 200 that is no JSON);
- ``reset`` (a true one), ``cut`` (half of a body), ``stall`` (no answer at all);
- inside a stream, after three events: ``mid-reset``, ``mid-cut``, ``mid-stall``, ``mid-error`` (an
  error as an event), ``mid-bad`` (an event that is no JSON), ``mid-clean`` (it just ends).

Any other word is taken for ``ok``, as the name of a model should be. What an answer looks like is
the business of a :class:`Speaker`: there is one for each API in :data:`SPEAKERS`. To add one, write
``tests/support/speaking_NAME.py`` with a list ``SPEAKERS``, and name it below.
"""

import http.server
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from speaking import Speaker
from speaking_anthropic import SPEAKERS as ANTHROPIC
from speaking_google import SPEAKERS as GOOGLE
from speaking_openai import SPEAKERS as OPENAI

STALL_S = 1.0
"""How long the server says nothing: longer than the clients of the tests wait."""
LATE_S = 0.25
"""How long a late answer takes, which is less than the clients wait."""
BREAKS_AFTER = 3
"""After how many events a stream breaks."""

_ELSE = Speaker(
    knows=lambda _path: True,
    reply=lambda _path, _body: {"object": "list", "data": [], "has_more": False},
    events=lambda _path, _body: iter(()),
    error=lambda status: {"error": {"message": f"No: {status}"}},
    event_error=lambda: b"",
    model=lambda _path, _body: "ok",
    streams=lambda _path, _body: False,
)
SPEAKERS: list[Speaker] = [*OPENAI, *ANTHROPIC, *GOOGLE, _ELSE]
"""The first one that knows a path answers it; the last one gives an empty list to any other."""


@dataclass(frozen=True)
class Seen:
    """One request, as it came."""

    method: str
    path: str
    headers: dict[str, str]
    """Their names in lower case."""
    body: Any


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: "Server"
    _speaker: Speaker

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """An endpoint that only reads."""
        self._answer(None)

    def do_POST(self) -> None:
        """Every call of a model."""
        length = int(self.headers.get("content-length") or 0)
        self._answer(json.loads(self.rfile.read(length) or b"null"))

    def _answer(self, body: Any) -> None:
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(Seen(self.command, self.path, headers, body))
        speaker = self._speaker = next(each for each in SPEAKERS if each.knows(path))
        script = headers.get("x-script") or speaker.model(path, body)
        word = self.server.next_word(script)
        streams = speaker.streams(path, body)
        if word == "late":
            self.server.over.wait(LATE_S)
        if word.isdecimal():
            self._fail(int(word))
        elif not word.startswith("mid-") and hasattr(self, f"_do_{word}"):
            getattr(self, f"_do_{word}")()
        elif streams:
            self._stream(word, path, body)
        else:
            self._json(200, speaker.reply(path, body))

    # -- failures of the whole call -----------------------------------------------------------

    def _fail(self, status: int) -> None:
        # The first is for the SDKs, which take it; the second for whoever reads the headers.
        waits = {"retry-after-ms": "5", "retry-after": "1"} if status >= 429 else {}
        self._json(status, self._speaker.error(status), waits)

    def _do_html502(self) -> None:
        self._send(502, "text/html; charset=utf-8", "<html>Bad gatéway</html>".encode())

    def _do_badjson(self) -> None:
        self._send(200, "application/json", b'{"id": ')

    def _do_text(self) -> None:
        self._send(200, "text/plain; charset=latin-1", "all is wéll".encode("latin-1"))

    def _do_reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._hang_up()

    def _do_cut(self) -> None:
        self._head(200, "application/json", {"content-length": "500"})
        self.wfile.write(b'{"id":')
        self._hang_up()

    def _do_stall(self) -> None:
        self.server.over.wait(STALL_S)
        self.close_connection = True

    # -- streams ------------------------------------------------------------------------------

    def _stream(self, word: str, path: str, body: Any) -> None:
        self._head(200, self._speaker.stream_type, {"transfer-encoding": "chunked"})
        for number, event in enumerate(self._speaker.events(path, body)):
            if number == BREAKS_AFTER and word.startswith("mid-"):
                self._break_off(word)
                return
            if word == "slow":
                if self._speaker.comment:
                    self._write(self._speaker.comment)
                time.sleep(0.01)
            self._write(event)
        self._write(b"")

    def _break_off(self, how: str) -> None:
        if how in ("mid-error", "mid-bad", "mid-clean"):
            last = {"mid-error": self._speaker.event_error(), "mid-bad": self._speaker.event_bad}
            if how in last:
                self._write(last[how])
            self._write(b"")
        elif how == "mid-stall":
            self.server.over.wait(STALL_S)
            self._hang_up()
        elif how == "mid-reset":
            time.sleep(0.05)  # so that what was sent is read before the reset overtakes it
            self._do_reset()
        else:
            self._hang_up()

    # -- bytes --------------------------------------------------------------------------------

    def _hang_up(self) -> None:
        # Not through the file objects: they would keep the socket open, or flush to a dead one.
        self.wfile.flush()
        self.rfile.close()
        self.connection.close()
        self.close_connection = True

    def _write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(body, indent=1).encode(), headers)

    def _send(
        self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self._head(status, kind, {"content-length": str(len(body)), **(headers or {})})
        self.wfile.write(body)

    def _head(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        common = {"content-type": kind, "set-cookie": "session=hidden"}
        for name, value in {**common, **self._speaker.headers, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    """The server, as a context manager; ``url`` is its address, without a path."""

    daemon_threads = True
    request_queue_size = 128  # so that many may connect at once

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.seen: list[Seen] = []
        """Every request."""
        self.connections = 0
        """How many connections were made to it."""
        self.over = threading.Event()
        """Set when it stops: nobody waits any longer then."""
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def next_word(self, script: str) -> str:
        """What is to happen to this request of a script."""
        words = script.split(",")
        with self._lock:
            number = self._asked[script] = self._asked.get(script, 0) + 1
        return words[min(number, len(words)) - 1].strip()

    def rewind(self) -> None:
        """Begin each script anew."""
        with self._lock:
            self._asked.clear()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count the connection, and serve it."""
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, *_args: object) -> None:
        """A client that hangs up is part of the tests."""

    def stop(self) -> None:
        """Serve nobody any more: a connection is refused from now on."""
        self.over.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread.is_alive():
            self.stop()
