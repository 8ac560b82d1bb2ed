"""One request to llama.cpp's server, given up as soon as nobody waits for the reply."""

from __future__ import annotations

import http.client
import json
import select
import socket
from collections.abc import Iterator
from typing import Any, Self

from workbench.providers.local.api import ApiError, from_upstream
from workbench.providers.local.engine import Engine

_DONE = b"[DONE]"


class ClientGoneError(Exception):
    """Whoever asked has closed the connection."""


class Upstream:
    """A call of llama.cpp's chat completions; closing it stops the model's work.

    Use as a context manager.
    """

    def __init__(self, engine: Engine, body: dict[str, Any], client: socket.socket) -> None:
        self._client = client
        self._connection = http.client.HTTPConnection("127.0.0.1", engine.port)
        headers = {"Authorization": f"Bearer {engine.key}", "Content-Type": "application/json"}
        self._connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def whole(self) -> dict[str, Any]:
        """The reply to a request that is not streamed.

        Raises:
            ApiError: llama.cpp refused.
            ClientGoneError: the client left before the reply was there.
        """
        response = self._response()
        reply: dict[str, Any] = json.loads(response.read())
        return reply

    def open(self) -> Iterator[dict[str, Any]]:
        """Wait for the stream's start, then return its chunks as they arrive.

        Raises:
            ApiError: llama.cpp refused, or broke off in the middle.
            ClientGoneError: the client left before the first chunk.
        """
        return self._chunks(self._response())

    @staticmethod
    def _chunks(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
        for line in response:
            name, _, value = line.partition(b":")
            if name == b"error":
                raise from_upstream(500, json.loads(value))
            if name != b"data" or value.strip() == _DONE:
                continue
            chunk = json.loads(value)
            if "error" in chunk:
                raise from_upstream(500, chunk["error"])
            yield chunk

    def _response(self) -> http.client.HTTPResponse:
        self._wait()
        response = self._connection.getresponse()
        if response.status != http.client.OK:
            raise _refusal(response)
        return response

    def _wait(self) -> None:
        """Wait for the first byte, and watch the client meanwhile."""
        watched: list[socket.socket] = [self._connection.sock, self._client]
        while True:
            ready, _, _ = select.select(watched, [], [])
            if self._connection.sock in ready:
                return
            if not self._client.recv(1, socket.MSG_PEEK):
                raise ClientGoneError
            # It has sent its next request already, so it is still there.
            watched.remove(self._client)


def _refusal(response: http.client.HTTPResponse) -> ApiError:
    text = response.read().decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        error = {"message": f"llama.cpp's server answered {response.status}: {text[:500]}"}
    # A request that it could not work on is the request's fault, unless it is still loading.
    busy = response.status == http.client.SERVICE_UNAVAILABLE
    return from_upstream(response.status if busy or response.status < 500 else 500, error)
