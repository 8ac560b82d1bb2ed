"""What redaction costs: for a request that was not seen before, and for one that was."""

import json
import random
import time
from pathlib import Path
from typing import Any

from journals import ask, request, response, user

from workbench.trace.entries import EndLine, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.redaction import Redactor
from workbench.trace.redaction.scanning import scan_file

WORDS = [
    *("the", "refund", "order", "customer", "would", "like", "to", "know", "about", "a", "tool"),
    *("that", "is", "called", "with", "arguments", "and", "it's", "model", "says", '"yes"'),
    *("well-known", "foo_bar", "12", "(see)", "Text,", "more.\n"),
]
ENVIRONMENT = {"SHOP_TOKEN": "kjhasdkjhasd99", "OTHER_KEY": "jhgdsfjhgdsf88"}


def conversation(messages: int, characters: int, seed: int) -> dict[str, Any]:
    """A request with that many messages of that length."""
    rng = random.Random(seed)  # noqa: S311 - the same text in each run
    texts = [" ".join(rng.choices(WORDS, k=characters // 5))[:characters] for _ in range(messages)]
    return request(*map(user, texts), max_tokens=100)


def test_cleaning_requests_without_secrets() -> None:
    """Prints the speed for a new request, for one seen before, and for an equal copy of it."""
    print(f"\n{'messages':>8}{'bytes':>9}{'new µs':>9}{'MB/s':>7}{'seen µs':>9}{'copy µs':>9}")
    for messages, characters in ((1, 100), (10, 1000), (1, 10_000), (40, 2500), (400, 250)):
        each = Redactor.for_recording(environment=ENVIRONMENT)
        best = {"new": 9.0, "seen": 9.0, "copy": 9.0}
        size = 0
        for seed in range(50):
            asked = conversation(messages, characters, seed)
            size = len(json.dumps(asked))
            for name in ("new", "seen"):
                best[name] = min(best[name], _seconds(each, asked))
            best["copy"] = min(best["copy"], _seconds(each, json.loads(json.dumps(asked))))
        row = f"{messages:>8}{size:>9}{best['new'] * 1e6:>9.1f}{size / best['new'] / 1e6:>7.0f}"
        print(f"{row}{best['seen'] * 1e6:>9.1f}{best['copy'] * 1e6:>9.1f}")


def _seconds(each: Redactor, asked: Any) -> float:
    begin = time.perf_counter()
    cleaned = each.clean(asked)
    taken = time.perf_counter() - begin
    assert cleaned is asked
    return taken


def test_recording_and_scanning(tmp_path: Path) -> None:
    """Prints what a growing conversation costs with and without redaction, and the last scan."""
    turns = conversation(200, 1000, 1)["body"]["messages"]
    path = tmp_path / "on.trace.jsonl"
    for name, each in (("off", Redactor.off()), ("on", Redactor.for_recording())):
        path = tmp_path / f"{name}.trace.jsonl"
        journal = Journal.create(path, TraceLine(id="bench"), redactor=each)
        begin = time.perf_counter()
        for count in range(2, len(turns), 2):
            ask(journal, request(*turns[:count]), response(turns[count]["content"]))
        call = (time.perf_counter() - begin) / (len(turns) // 2)
        begin = time.perf_counter()
        journal.close(EndLine(status="ok"))
        closed = time.perf_counter() - begin
        assert journal.findings == []
        size = path.stat().st_size
        print(f"\n{name}: {call * 1e6:.0f} µs a call; closing {size / 1e3:.0f} kB", end=" ")
        print(f"took {closed * 1e3:.1f} ms", end="")
    begin = time.perf_counter()
    assert scan_file(path, Redactor.for_recording(salt="other")).findings == []
    taken = time.perf_counter() - begin
    print(f"\nscan by another process: {path.stat().st_size / taken / 1e6:.0f} MB/s")
