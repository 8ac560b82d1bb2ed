"""The shapes of OpenAI's chat completions: errors, replies and chunks."""

from __future__ import annotations

import secrets
import time
from typing import Any

from workbench.providers.local.engine import MODEL_NAME


class ApiError(Exception):
    """A request that is answered with an error body in OpenAI's shape."""

    def __init__(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None
    ) -> None:
        self.status = status
        self.code = code
        self.param = param
        super().__init__(message)

    def body(self) -> dict[str, Any]:
        """The error as the JSON body that SDKs read."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        error = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return {"error": error}


def bad_request(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """Status 400, which SDKs do not try again."""
    return ApiError(400, message, param=param, code=code)


def from_upstream(status: int, error: dict[str, Any]) -> ApiError:
    """llama.cpp's error in OpenAI's terms."""
    message = str(error.get("message", "the model's server refused the request"))
    if error.get("type") == "exceed_context_size_error":
        used, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
        return bad_request(
            f"This model's maximum context length is {limit} tokens, but the messages and tools "
            f"come to {used} tokens. Shorten them.",
            "messages",
            "context_length_exceeded",
        )
    return ApiError(status, message)


def model_card() -> dict[str, Any]:
    """The one model, as ``/v1/models`` lists it."""
    return {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "HuggingFaceTB"}


def new_call_id() -> str:
    """An id for a tool call; ids never repeat, not even between responses."""
    return f"call_{secrets.token_hex(12)}"


class Envelope:
    """What every chunk of one reply shares: its id, its time and the model's name."""

    def __init__(self) -> None:
        self.id = f"chatcmpl-{secrets.token_hex(12)}"
        self.created = int(time.time())

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        """A piece of a streamed reply."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._wrap("chat.completion.chunk", choices=[choice])

    def usage_chunk(self, usage: dict[str, Any]) -> dict[str, Any]:
        """The last piece, when the request asked for usage: no choices."""
        return self._wrap("chat.completion.chunk", choices=[], usage=usage)

    def completion(
        self, message: dict[str, Any], finish: str, usage: dict[str, Any]
    ) -> dict[str, Any]:
        """A whole reply."""
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return self._wrap("chat.completion", choices=[choice], usage=usage)

    def _wrap(self, kind: str, **rest: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": MODEL_NAME,
            **rest,
        }
