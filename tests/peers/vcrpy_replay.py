"""Replay calls with vcrpy, in an environment of its own. Run by the benchmark.

    python vcrpy_replay.py FILE CALLS BYTES

CALLS different POST requests of about BYTES bytes are recorded from a server on loopback, then
replayed, found by their bodies. Prints the seconds that the replayed calls took, opening the
cassette not included.
"""

import http.server
import json
import sys
import threading
import time

import httpx
import vcr


class Answer(http.server.BaseHTTPRequestHandler):
    """Says the same to everybody."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"content": "fine", "model": "m-1", "usage": {"input_tokens": 20}}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def ask(client: httpx.Client, url: str, number: int, size: int) -> None:
    """One call."""
    said = {"role": "user", "content": f"{number} " + "word " * (size // 5)}
    answer = client.post(url, json={"model": "m-1", "messages": [said]})
    assert answer.json()["content"] == "fine"


def main(path: str, calls: int, size: int) -> float:
    """Record and replay, and give the seconds of the replay."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/chat"
    options = {"match_on": ["method", "uri", "body"]}
    with vcr.use_cassette(path, record_mode="all", **options), httpx.Client() as client:
        for number in range(calls):
            ask(client, url, number, size)
    server.shutdown()
    with vcr.use_cassette(path, record_mode="none", **options), httpx.Client() as client:
        began = time.perf_counter()
        for number in range(calls):
            ask(client, url, number, size)
        return time.perf_counter() - began


if __name__ == "__main__":
    json.dump(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), sys.stdout)
