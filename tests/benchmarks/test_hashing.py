"""How fast requests are hashed, beside orjson and SHA-256 alone in the same run."""

import hashlib
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from workbench.trace.canonical import DEFAULT_IGNORE, canonical, request_hash

API = "openai.chat"
WORDS = ["model", "the", "refund", "order", "customer", "é", "\n", '"quoted"', "naïve", "tool"]


def text_heavy(messages: int = 40, words: int = 420) -> dict[str, Any]:
    """A request of about 100 kB: a conversation, ten tools and the usual options."""
    rng = random.Random(1)  # noqa: S311 - the same text in each run
    return {
        "path": "/chat/completions",
        "body": {
            "model": "m",
            "temperature": 1.0,
            "stream": True,
            "messages": [
                {"role": "user", "content": " ".join(rng.choices(WORDS, k=words))}
                for _ in range(messages)
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": f"tool_{number}",
                        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
                    },
                }
                for number in range(10)
            ],
        },
    }


REQUESTS: dict[str, Any] = {
    "text, 100 kB": text_heavy(),
    "text, 1 MB": text_heavy(messages=40, words=4200),
    "small, 100 B": {"body": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}},
    "Chinese text": {"body": {"messages": [{"content": "退款订单客户" * 2000}]}},
    "numbers": {"body": {"input": [1 / n for n in range(3, 5003)]}},
    "tagged": {"body": {**text_heavy()["body"], "image": b"\x00" * 1000, "pair": (1, 2)}},
}


def seconds(function: Callable[[], object]) -> float:
    """The best time of one call, over a fifth of a second."""
    best = float("inf")
    end = time.perf_counter() + 0.2
    while (start := time.perf_counter()) < end:
        function()
        best = min(best, time.perf_counter() - start)
    return best


def hash_bare(request: Any) -> str:
    """What no canonical hash can be faster than."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def test_hashing_beside_bare_orjson_and_sha256() -> None:
    """Prints the speed that the promise of 200 MB/s (bare: 450 to 500) is about."""
    print(f"\n{'request':<16}{'bytes':>10}{'MB/s':>8}{'bare':>8}{'ratio':>8}{'µs':>10}")
    for name, request in REQUESTS.items():
        size = len(canonical(request))
        ours = seconds(partial(request_hash, "model", API, request, DEFAULT_IGNORE[API]))
        row = f"{name:<16}{size:>10}{size / ours / 1e6:>8.0f}"
        if name == "tagged":  # bare orjson cannot write it
            row += f"{'-':>8}{'-':>8}"
        else:
            bare = seconds(partial(hash_bare, request))
            row += f"{size / bare / 1e6:>8.0f}{bare / ours:>8.2f}"
        print(f"{row}{ours * 1e6:>10.1f}")
        streamed = {**request, "body": {**request["body"], "stream": False}}
        assert request_hash("model", API, streamed, DEFAULT_IGNORE[API]) == request_hash(
            "model", API, request, DEFAULT_IGNORE[API]
        )
