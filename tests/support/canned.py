"""A real HTTP server on loopback whose streams are given byte for byte."""

import http.server
import json
import threading
from types import TracebackType
from typing import Any, Self


def event(data: Any, name: str | None = None) -> bytes:
    """One event of a stream."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class Canned(http.server.ThreadingHTTPServer):
    """Answers each request with the next of these streams, and the last one again and again."""

    daemon_threads = True

    def __init__(self, *streams: list[bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.streams = list(streams)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def handle_error(self, *_args: object) -> None:
        """A client that hangs up is part of the tests."""

    def stop(self) -> None:
        """Serve nobody any more."""
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


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Canned

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Give the next stream, an event a packet."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        streams = self.server.streams
        stream = streams.pop(0) if len(streams) > 1 else streams[0]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(sum(map(len, stream))))
        self.end_headers()
        for each in stream:
            self.wfile.write(each)
            self.wfile.flush()
