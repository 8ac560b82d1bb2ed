"""The HTTP server that users talk to; llama.cpp's own stands behind it."""

from __future__ import annotations

import http.server
import json
import socketserver
import sys
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from workbench.providers.local import answer, chat
from workbench.providers.local.api import ApiError, bad_request, model_card
from workbench.providers.local.engine import MODEL_NAME, Engine
from workbench.providers.local.life import Life
from workbench.providers.local.state import prove
from workbench.providers.local.upstream import ClientGoneError, Upstream

MAX_BODY = 8 * 1024 * 1024
"""Largest request body, in bytes."""

MAX_DEPTH = 64
"""Deepest nesting of a request body; llama.cpp walks a schema recursively."""

_HOSTS = ("127.0.0.1", "localhost")
_GONE = (ConnectionError, TimeoutError, ClientGoneError)


class Front(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Listens on a free port of 127.0.0.1 and answers each connection in a thread."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, engine: Engine, life: Life, token: str) -> None:
        self.engine = engine
        self.life = life
        self.token = token
        super().__init__(("127.0.0.1", 0), Handler)

    def server_bind(self) -> None:
        """Bind without asking a name server for this host's name, as the base class does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about a client that left; write anything else to the log."""
        if not isinstance(sys.exception(), _GONE):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Front
    _begun = False

    def do_GET(self) -> None:
        """Answer a read."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a request to the model."""
        self._answer()

    # So that a wrong method is answered in OpenAI's shape, not with a page of HTML.
    do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log no requests: the log is for what goes wrong."""

    def _answer(self) -> None:
        self._begun = False
        try:
            self._check_host()
            body = self._read_body()
            self._route()(body)
        except ApiError as error:
            self._fail(error)
        except _GONE:
            self.close_connection = True
        except Exception:  # noqa: BLE001 - the process serves others too: log, answer, go on
            traceback.print_exc()
            self._fail(ApiError(500, "The local model's front failed; its log has the details."))

    def _route(self) -> Callable[[bytes], None]:
        path = urlsplit(self.path).path.rstrip("/")
        routes = {
            ("GET", "/health"): self._health,
            ("GET", "/v1/models"): self._models,
            ("POST", "/v1/chat/completions"): self._chat,
            ("GET", "/workbench/hold"): self._hold,
            ("POST", "/workbench/stop"): self._stop,
        }
        if path.startswith("/v1/models/"):
            return self._model
        if route := routes.get((self.command, path)):
            return route
        allowed = [method for method, known in routes if known == path]
        if allowed:
            raise ApiError(405, f"{path} takes {allowed[0]}, not {self.command}.")
        raise ApiError(404, f"The local model has no {path or '/'}.", code="unknown_url")

    def _check_host(self) -> None:
        """Refuse a web page that reaches this port under a name of its own."""
        host = self.headers.get("Host", "127.0.0.1").rsplit(":", 1)[0]
        if host not in _HOSTS:
            raise ApiError(403, "The local model answers to 127.0.0.1 and localhost only.")

    def _read_body(self) -> bytes:
        if "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise ApiError(411, "Send the body with a Content-Length.")
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            raise ApiError(413, f"Content-Length must be a number up to {MAX_BODY} bytes.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ClientGoneError
        return body

    def _health(self, _: bytes) -> None:
        self._send({"status": "ok"})

    def _models(self, _: bytes) -> None:
        self._send({"object": "list", "data": [model_card()]})

    def _model(self, _: bytes) -> None:
        name = urlsplit(self.path).path.rsplit("/", 1)[1]
        if name != MODEL_NAME:
            message = f"There is no model {name!r} here, only {MODEL_NAME!r}."
            raise ApiError(404, message, code="model_not_found", param="model")
        self._send(model_card())

    def _chat(self, raw: bytes) -> None:
        plan = chat.plan(parse_json(raw))
        with self.server.life.needed():
            upstream = Upstream(self.server.engine, plan.upstream, self.connection)
            with upstream:
                if plan.stream:
                    self._stream(plan, upstream)
                else:
                    self._send(answer.whole(plan, upstream.whole()))

    def _stream(self, plan: chat.ChatPlan, upstream: Upstream) -> None:
        chunks = upstream.open()
        self._head(200, "text/event-stream; charset=utf-8", ("Transfer-Encoding", "chunked"))
        try:
            for chunk in answer.streamed(plan, chunks):
                self._event(json.dumps(chunk))
        except ApiError as error:
            self._event(json.dumps(error.body()))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))

    def _hold(self, _: bytes) -> None:
        """Count this connection as a user, until it closes."""
        nonce = parse_qs(urlsplit(self.path).query).get("nonce", [""])[0]
        with self.server.life.needed():
            self._send({"proof": prove(self.server.token, nonce)})
            self.close_connection = True
            self.rfile.read(1)

    def _stop(self, _: bytes) -> None:
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            raise ApiError(401, "Only who can read the server's state may stop it.")
        self._send({"stopping": True})
        self.server.life.stop()

    def _fail(self, error: ApiError) -> None:
        if self._begun:
            # The status is out already; a connection cut short is how a stream says so.
            self.close_connection = True
            return
        try:
            self._send(error.body(), error.status)
        except _GONE:
            self.close_connection = True

    def _send(self, body: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(body).encode()
        self._head(status, "application/json", ("Content-Length", str(len(data))))
        if self.command != "HEAD":
            self.wfile.write(data)

    def _head(self, status: int, kind: str, length: tuple[str, str]) -> None:
        self._begun = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header(*length)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


def parse_json(raw: bytes) -> Any:
    """The body, checked for what llama.cpp would stumble over.

    Raises:
        ApiError: status 400: not JSON, nested too deeply, or with half a surrogate pair.
    """
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise bad_request(f"The body is not valid JSON: {error}.") from error
    if _depth(body) > MAX_DEPTH:
        raise bad_request(f"The body is nested more than {MAX_DEPTH} levels deep.")
    return body


def _depth(body: Any) -> int:
    """Levels of nesting, found without recursion."""
    level, depth = [body], 0
    while level:
        depth += 1
        nested = [node for node in level if isinstance(node, dict | list)]
        level = [
            child
            for node in nested
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth
