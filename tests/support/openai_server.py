"""A real HTTP server on loopback that answers chat completions, well or badly, by model name.

The model asked for says what happens: ``ok``, ``429``, ``500``, ``529``, ``html502``, ``badjson``,
``text``, ``reset``, ``cut``, ``stall``, and, inside a stream after three chunks, ``mid-reset``,
``mid-cut``, ``mid-stall``, ``mid-error`` and ``mid-bad``.
"""

import http.server
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

STALL_S = 1.0
"""How long the server says nothing: longer than the clients of the tests wait."""

_TOOL_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_order", "arguments": '{"number": 101}'},
}


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """A completion that answers the last message, with a tool call when tools are offered."""
    message: dict[str, Any] = {"role": "assistant", "content": reply_text(asked), "refusal": None}
    if asked.get("tools"):
        message |= {"content": None, "tool_calls": [_TOOL_CALL]}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if asked.get("tools") else "stop",
        "logprobs": {"content": [{"token": "a", "logprob": 0, "bytes": [97], "top_logprobs": []}]},
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
        "x_vendor": {"note": "é\u2028 \ud83d", "cost": 1e-7, "big": 12345678901234567890123},
    }


def reply_text(asked: dict[str, Any]) -> str:
    """The text that answers a request: valid JSON where a schema was asked for."""
    if "response_format" in asked:
        return '{"city": "Bergen"}'
    return f"You said: {asked['messages'][-1]['content']}"


def chunks(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same completion as a stream."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "served-model-1",
            "choices": [choice],
            "x_vendor": 1,
        }

    yield chunk({"role": "assistant", "content": ""})
    if asked.get("tools"):
        yield chunk({"tool_calls": [{"index": 0, **_TOOL_CALL, "function": _named("")}]})
        for part in ('{"number"', ": 10", "1}"):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield chunk({}, "tool_calls")
    else:
        text = reply_text(asked)
        for start in range(0, len(text), 6):
            yield chunk({"content": text[start : start + 6]})
        yield chunk({}, "stop")
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield {**chunk({}), "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 5}}


def _named(arguments: str) -> dict[str, str]:
    return {"name": "get_order", "arguments": arguments}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Any other endpoint."""
        self._note(None)
        self._json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        """A chat completion, an embedding, or any other endpoint."""
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self._note(asked)
        path = self.path.partition("?")[0]
        if path.endswith("/embeddings"):
            data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
            self._json(200, {"object": "list", "model": "e", "data": data})
            return
        if not path.endswith("/chat/completions"):
            self._json(200, {"id": "modr-1", "model": "m", "results": [], "score": 0.5})
            return
        failing = getattr(self, f"_do_{asked['model'].replace('-', '_')}", None)
        if failing is not None:
            failing()
        elif asked.get("stream"):
            self._stream(asked)
        else:
            self._json(200, completion(asked))

    def _note(self, asked: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.path, headers, asked))

    # -- failures of the whole call -----------------------------------------------------------

    def _do_429(self) -> None:
        error = {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}
        self._json(429, {"error": {**error, "param": None}}, {"retry-after": "0.2"})

    def _do_500(self) -> None:
        self._json(500, {"error": {"message": "boom", "type": "server_error"}})

    def _do_529(self) -> None:
        self._json(529, {"type": "error", "error": {"type": "overloaded", "message": "Overloaded"}})

    def _do_html502(self) -> None:
        self._send(502, "text/html", "<html>Bad gatéway</html>".encode())

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
        time.sleep(STALL_S)
        self.close_connection = True

    # -- streams ------------------------------------------------------------------------------

    def _stream(self, asked: dict[str, Any]) -> None:
        self._head(200, "text/event-stream", {"transfer-encoding": "chunked"})
        for number, chunk in enumerate(chunks(asked)):
            if number == 3 and asked["model"].startswith("mid-"):
                self._break_off(asked["model"])
                return
            if asked["model"] == "slow":
                self._write(b": still here\n\n")
                time.sleep(0.15)
            self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self._write(b"data: [DONE]\n\n")
        self._write(b"")

    def _break_off(self, how: str) -> None:
        if how == "mid-error":
            error = {"message": "Overloaded", "type": "server_error", "code": "overloaded"}
            data = json.dumps({"error": {**error, "param": None}}).encode()
            self._write(b"event: error\ndata: " + data + b"\n\n")
            self._write(b"")
        elif how == "mid-bad":
            self._write(b'data: {"id": \n\n')
            self._write(b"")
        elif how == "mid-stall":
            time.sleep(STALL_S)
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
        common = {"content-type": kind, "x-request-id": "req_1", "set-cookie": "session=hidden"}
        for name, value in {**common, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    """The server, as a context manager; ``url`` is the API's base address."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        """Every request: path, headers (names in lower case), body."""
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def handle_error(self, *_args: object) -> None:
        """A client that hangs up is part of the tests."""

    def stop(self) -> None:
        """Serve nobody any more: a connection is refused from now on."""
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
