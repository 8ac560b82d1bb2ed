"""Real wire data: VCR recordings of OpenAI and Anthropic, and a server that gives it back.

What an exchange said is read here from the raw JSON or events, by rules as simple as the wire's
own, and without any code of the package: it is what the tests compare with.
"""

import gzip
import http.server
import json
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

_APIS = {
    "/v1/chat/completions": "openai.chat",
    "/v1/responses": "openai.responses",
    "/v1/messages": "anthropic.messages",
}


@dataclass(frozen=True)
class Exchange:
    """One request and its answer."""

    name: str
    api: str
    path: str
    """That of the request, without the query: the SDK's later versions send none."""
    request: dict[str, Any]
    content_type: str
    answer: bytes
    """The body of the answer, not compressed."""

    def __str__(self) -> str:
        return self.name

    @property
    def streamed(self) -> bool:
        """Whether the answer is a stream of events."""
        return "event-stream" in self.content_type

    @property
    def events(self) -> list[Any]:
        """The data of the events of a stream."""
        lines = self.answer.decode("utf-8").split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

    @property
    def body(self) -> Any:
        """The answer, where it is no stream."""
        return json.loads(self.answer)


@dataclass
class Told:
    """What an answer says, as the wire has it."""

    text: str
    calls: list[tuple[str, str, Any]]
    """Id, name and parsed arguments of each call that the client is to make."""
    counts: dict[str, int | None]
    """Input tokens (cached ones included), output tokens, cached and reasoning tokens."""
    reason: str | None


def exchanges(shared_data: Path) -> list[Exchange]:
    """All of them, in the order of the files."""
    import yaml

    found = []
    for folder in ("vcr_pydantic_ai", "openai_agents"):
        for path in sorted((shared_data / "traces" / folder).glob("*.yaml")):
            recorded = yaml.safe_load(path.read_text("utf-8"))["interactions"]
            found += [_exchange(f"{path.stem}-{n}", each) for n, each in enumerate(recorded)]
    return found


def _exchange(name: str, recorded: dict[str, Any]) -> Exchange:
    asked, given = recorded["request"], recorded["response"]
    headers = {key.lower(): values[0] for key, values in given["headers"].items()}
    url = urlsplit(asked["uri"])
    return Exchange(
        name=name,
        api=_APIS[url.path],
        path=url.path,
        request=asked.get("parsed_body") or json.loads(asked["body"]),
        content_type=headers["content-type"],
        answer=_plain(given, headers.get("content-encoding")),
    )


def _plain(given: dict[str, Any], encoding: str | None) -> bytes:
    if "parsed_body" in given:
        return json.dumps(given["parsed_body"]).encode()
    text = given["body"]["string"]
    data: bytes = text.encode() if isinstance(text, str) else text
    return gzip.decompress(data) if encoding == "gzip" else data


# -- what the wire said ------------------------------------------------------------------------


def told(exchange: Exchange) -> Told:
    """What an answer says."""
    return _READERS[exchange.api, exchange.streamed](exchange)


def _chat(exchange: Exchange) -> Told:
    choice, used = exchange.body["choices"][0], exchange.body["usage"]
    calls = [
        (each["id"], each["function"]["name"], json.loads(each["function"]["arguments"]))
        for each in choice["message"].get("tool_calls") or []
    ]
    text = choice["message"]["content"] or ""
    return Told(text, calls, _chat_counts(used), choice["finish_reason"])


def _chat_counts(used: dict[str, Any]) -> dict[str, int | None]:
    return {
        "input_tokens": used["prompt_tokens"],
        "output_tokens": used["completion_tokens"],
        "cache_read_tokens": used["prompt_tokens_details"]["cached_tokens"],
        "reasoning_tokens": used["completion_tokens_details"]["reasoning_tokens"],
    }


def _chat_stream(exchange: Exchange) -> Told:
    text, reason, used = "", None, None
    made: dict[int, list[str]] = defaultdict(lambda: ["", "", ""])
    for event in exchange.events:
        used = event.get("usage") or used
        for choice in event["choices"]:
            text += choice["delta"].get("content") or ""
            reason = choice["finish_reason"] or reason
            for part in choice["delta"].get("tool_calls") or []:
                call, function = made[part["index"]], part["function"]
                call[0] += part.get("id") or ""
                call[1] += function.get("name") or ""
                call[2] += function.get("arguments") or ""
    assert used is not None
    calls = [(call[0], call[1], json.loads(call[2])) for _, call in sorted(made.items())]
    return Told(text, calls, _chat_counts(used), reason)


def _responses(exchange: Exchange) -> Told:
    output, used = exchange.body["output"], exchange.body["usage"]
    parts = [part for item in output if item["type"] == "message" for part in item["content"]]
    calls = [
        (item["call_id"], item["name"], json.loads(item["arguments"]))
        for item in output
        if item["type"] == "function_call"
    ]
    counts = {
        "input_tokens": used["input_tokens"],
        "output_tokens": used["output_tokens"],
        "cache_read_tokens": used.get("input_tokens_details", {}).get("cached_tokens"),
        "reasoning_tokens": used["output_tokens_details"]["reasoning_tokens"],
    }
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    return Told(text, calls, counts, exchange.body["status"])


def _messages_stream(exchange: Exchange) -> Told:
    text, ending = "", {}
    opened: dict[int, dict[str, Any]] = {}
    written: dict[int, str] = defaultdict(str)
    for event in exchange.events:
        if event["type"] == "content_block_start":
            opened[event["index"]] = event["content_block"]
        elif event["type"] == "content_block_delta":
            text += event["delta"].get("text", "")
            written[event["index"]] += event["delta"].get("partial_json", "")
        elif event["type"] == "message_delta":
            ending = event
    calls = [
        (block["id"], block["name"], json.loads(written[index] or "{}"))
        for index, block in sorted(opened.items())
        if block["type"] == "tool_use"
    ]
    used = ending["usage"]
    cached = used["cache_read_input_tokens"] + used["cache_creation_input_tokens"]
    counts = {
        "input_tokens": used["input_tokens"] + cached,
        "output_tokens": used["output_tokens"],
        "cache_read_tokens": used["cache_read_input_tokens"],
        "reasoning_tokens": None,
    }
    return Told(text, calls, counts, ending["delta"]["stop_reason"])


_READERS = {
    ("openai.chat", False): _chat,
    ("openai.chat", True): _chat_stream,
    ("openai.responses", False): _responses,
    ("anthropic.messages", True): _messages_stream,
}


# -- a server that gives it back -----------------------------------------------------------------


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Replayer"

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Give the next answer; a request for another path is refused."""
        length = int(self.headers.get("content-length") or 0)
        self.server.asked.append(json.loads(self.rfile.read(length)))
        exchange = self.server.left.pop(0)
        status = 200 if urlsplit(self.path).path == exchange.path else 404
        self.send_response(status)
        self.send_header("content-type", exchange.content_type)
        self.send_header("content-length", str(len(exchange.answer)))
        self.end_headers()
        self.wfile.write(exchange.answer)


class Replayer(http.server.ThreadingHTTPServer):
    """Answers on loopback with the recorded bodies, one after the other."""

    def __init__(self, recorded: list[Exchange]) -> None:
        """Start to listen."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.left = list(recorded)
        """What is still to be answered."""
        self.asked: list[Any] = []
        """The bodies that came."""
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.shutdown()
        self.server_close()
