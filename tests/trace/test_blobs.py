"""A trace of a stranger may describe more than memory holds; looking at it must stay cheap."""

import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import TraceFormatError, UnavailableError
from workbench.trace import blobs, sources
from workbench.trace.trace import Trace, load
from workbench.ui.static_view import to_html

TEXT: Any = "x" * 1_000_000
LIST: Any = [["x"]] * 100_000
HEADER = {"line": "trace", "format": "workbench-trace", "version": 1, "id": "bomb"}
TALK = [{"role": "user", "content": "Hi"}]


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _reference(blob: Any) -> dict[str, str]:
    return {"$wb": "blob", "v": hashlib.sha256(_json(blob).encode()).hexdigest()}


def _trace(blob: Any, **places: Any) -> Trace:
    """A turn with a tool call, an event, a value, an input and an end; some hold references."""
    name = _reference(blob)["v"]
    body = {"messages": TALK, **places.get("body", {})}
    lines = [
        HEADER,
        {"line": "blob", "sha256": name, "value": blob},
        {"line": "call", "id": "1-1", "kind": "model", "api": "workbench",
         "sent": places.get("sent", 1), "request": {"body": body}},
        {"line": "chunk", "of": "1-1", "data": places.get("chunk", {"text": "yes"})},
        {"line": "result", "of": "1-1", "response": {"status": 200, **places.get("reply", {})}},
        {"line": "call", "id": "1-2", "kind": "tool", "name": "f", "asked_by": "1-1",
         "request": {"name": "f", "arguments": places.get("arguments", {"a": 1})}},
        {"line": "result", "of": "1-2", "response": places.get("result", "done")},
        {"line": "event", "id": "1-3", "type": "e", "data": places.get("data", 1)},
        {"line": "value", "id": "1-4", "name": "v", "value": places.get("value", 1)},
        {"line": "input", "id": "1-5", "value": places.get("answer", 1)},
        {"line": "end", "status": "ok", "output": places.get("output", "done")},
    ]  # fmt: skip
    return Trace.from_bytes("\n".join(map(_json, lines)).encode())


def _many(blob: Any, count: int) -> dict[str, Any]:
    return {"deep": [{"each": _reference(blob)}] * count}


READS: dict[str, Callable[[Trace], Any]] = {
    "sent": lambda trace: trace.entries[0].sent,
    "body": lambda trace: trace.entries[0].request,
    "chunk": lambda trace: trace.entries[0].chunks,
    "reply": lambda trace: trace.entries[0].response,
    "arguments": lambda trace: trace.entries[1].arguments,
    "result": lambda trace: trace.entries[1].result,
    "data": lambda trace: trace.entries[2].data,
    "value": lambda trace: trace.entries[3].value,
    "answer": lambda trace: trace.entries[4].value,
}


@pytest.mark.parametrize(
    ("place", "blob"),
    [*((place, TEXT) for place in READS), ("result", LIST)],
    ids=[*READS, "result-of-lists"],
)
def test_a_value_that_blobs_make_too_large_is_not_made(place: str, blob: Any) -> None:
    """Three thousand references to a blob of a megabyte: an error that says so, everywhere."""
    trace = _trace(blob, **{place: _many(blob, 3000)})
    with pytest.raises(UnavailableError, match=r"line \d+ of .* larger than 256 MiB"):
        READS[place](trace)
    others = [name for name in READS if name != place]
    assert all(READS[name](trace) is not None for name in others)


@pytest.mark.parametrize("count", [200, 3000])
@pytest.mark.parametrize("place", [*READS, "output"])
def test_a_summary_stays_cheap_whatever_a_trace_refers_to(place: str, count: int) -> None:
    """What a notebook shows of itself takes the memory of the file, not of what it describes."""
    trace = _trace(TEXT, **{place: _many(TEXT, count)})
    tracemalloc.start()
    try:
        assert "1 turns" in trace._repr_html_()
        assert isinstance(trace.findings, list)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_a_page_of_a_trace_that_is_too_large_says_which_value() -> None:
    """The page of such a trace is made, and names the line instead of showing the value."""
    html = to_html(_trace(TEXT, result=_many(TEXT, 3000)))
    assert len(html) < 100_000
    assert "larger than 256 MiB" in html


def test_texts_are_shared_and_other_blobs_made_anew() -> None:
    """A text costs its memory once; a list or object is the caller's own, to be changed."""
    shared = _trace(TEXT, result=_many(TEXT, 2)).tools()[0].result["deep"]
    assert shared[0]["each"] is shared[1]["each"]
    assert shared[0]["each"] == TEXT
    tool = _trace(["a"], result=_many(["a"], 2)).tools()[0]
    result = tool.result
    result["deep"][0]["each"].append("b")
    assert result["deep"][1]["each"] == tool.result["deep"][0]["each"] == ["a"]


def test_many_different_texts_are_read_again_when_they_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is kept of texts is bounded, and a text that is not kept comes back all the same."""
    monkeypatch.setattr(blobs, "_KEPT_TEXT", 3_000)
    texts = [f"{number}" * 1_000 for number in range(10)] + ["y" * 10_000]
    lines = [HEADER, *({"line": "blob", "sha256": _reference(each)["v"], "value": each}
                       for each in texts)]  # fmt: skip
    lines.append({"line": "event", "id": "1-1", "type": "e", "data": list(map(_reference, texts))})
    trace = Trace.from_bytes("\n".join(map(_json, lines)).encode())
    assert trace.entries[0].data == trace.entries[0].data == texts


def test_a_reference_in_lists_of_lists_is_refused() -> None:
    """Nesting that no recording makes is an error of that value, not of the interpreter."""
    deep: Any = _reference("x")
    for _ in range(240):
        deep = [deep]
    with pytest.raises(UnavailableError, match="nested more than 200 levels deep"):
        _trace("x", data=deep).entries[2].data  # noqa: B018 - it is read


def test_a_compressed_trace_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte can unpack to gigabytes: it is given up at the limit, and says what to do."""
    assert sources.MAX_UNPACKED <= 512 * 1024**2
    monkeypatch.setattr(sources, "MAX_UNPACKED", 8 * 1024**2)
    path = tmp_path / "a.trace.jsonl.gz"
    header = _json(HEADER).encode() + b"\n"
    path.write_bytes(gzip.compress(header + b"\n" * (64 * 1024**2), 1))
    tracemalloc.start()
    try:
        with pytest.raises(TraceFormatError, match=r"more than 8 MiB.* with gunzip"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 3 * 8 * 1024**2
    finally:
        tracemalloc.stop()
    path.write_bytes(gzip.compress(header))
    assert load(path).id == "bomb"
