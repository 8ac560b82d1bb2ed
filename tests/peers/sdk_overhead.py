"""How much longer calls through the openai SDK take while they are recorded.

Run as ``python sdk_overhead.py RECORDER URL FOLDER BLOCKS CALLS WORDS`` in the recorder's own
environment. Blocks of calls with and without the recorder take turns in one process, with one
client; it prints, as JSON, the seconds of each block, and how many calls the last recording holds.
"""

import contextlib
import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

Open = Callable[[Path], AbstractContextManager[Any]]


def _workbench(path: Path) -> AbstractContextManager[Any]:
    return importlib.import_module("workbench").recording(path)


def _reeltime(path: Path) -> AbstractContextManager[Any]:
    return importlib.import_module("reeltime").session(tape_dir=str(path))


def _agent_rewind(path: Path) -> AbstractContextManager[Any]:
    rewind = importlib.import_module("rewind")
    rewind.auto_patch()
    return rewind.record(str(path))


_OPEN: dict[str, Open] = {
    "workbench": _workbench,
    "reeltime": _reeltime,
    "agent-rewind": _agent_rewind,
}


def _client(url: str, recorder: str) -> Any:
    import openai

    options: dict[str, Any] = {"base_url": url, "api_key": "none", "max_retries": 0}
    if recorder == "reeltime":  # it hooks httpx, which the SDK still takes, and not httpx2
        options["http_client"] = importlib.import_module("httpx").Client()
    return openai.OpenAI(**options)


def _block(client: Any, calls: int, words: int) -> float:
    gc.collect()
    began = time.perf_counter()
    for number in range(calls):
        content = f"question {number} " + "word " * words
        reply = client.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": content}]
        )
        assert reply.choices[0].message.content == "It is on its way."
    return time.perf_counter() - began


def _held(path: Path) -> int:
    """How many of the calls the recording holds, told by the words of the prompts."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    text = b"".join(each.read_bytes() for each in files)
    return sum(f"question {number} ".encode() in text for number in range(10_000))


def main(recorder: str, url: str, folder: Path, blocks: int, calls: int, words: int) -> None:
    """Take turns, and print what each took."""
    client = _client(url, recorder)
    _block(client, calls, words)
    bare, recorded = [], []
    path = folder
    for number in range(blocks):
        bare.append(_block(client, calls, words))
        path = folder / f"{number}.trace.jsonl"
        with contextlib.ExitStack() as stack:
            stack.enter_context(_OPEN[recorder](path))
            recorded.append(_block(client, calls, words))
    print(json.dumps({"bare": bare, "recorded": recorded, "held": _held(path)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *map(int, sys.argv[4:7]))
