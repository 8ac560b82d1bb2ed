"""Replay calls with AgentLoom's MockProvider, in an environment of its own. Run by the benchmark.

    python agentloom_replay.py FILE CALLS BYTES

CALLS different requests of about BYTES bytes, each found by the hash of its prompt. Prints the
seconds that the calls took, opening the file not included.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from agentloom.providers.mock import MockProvider, prompt_hash


def question(number: int, size: int) -> list[dict[str, Any]]:
    """One request's messages."""
    return [{"role": "user", "content": f"{number} " + "word " * (size // 5)}]


def provider_of(path: Path, calls: int, size: int) -> MockProvider:
    """The provider, with a reply for each request in its file."""
    reply = {"content": "fine", "model": "m-1", "usage": {"prompt_tokens": 20}}
    replies = {prompt_hash(question(number, size)): reply for number in range(calls)}
    path.write_text(json.dumps(replies), "utf-8")
    return MockProvider(responses_file=path)


async def main(provider: MockProvider, calls: int, size: int) -> float:
    """Replay, and give the seconds."""
    began = time.perf_counter()
    for number in range(calls):
        answer = await provider.complete(question(number, size), "m-1")
        assert answer.content == "fine"
    return time.perf_counter() - began


if __name__ == "__main__":
    count, length = int(sys.argv[2]), int(sys.argv[3])
    print(asyncio.run(main(provider_of(Path(sys.argv[1]), count, length), count, length)))
