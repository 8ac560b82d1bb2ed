"""Secrets that a stream's chunks are cut through."""

from pathlib import Path
from typing import Any

import pytest
from journals import HEADER

import workbench as wb
from workbench.trace.entries import CallLine, ChunkLine, EndLine, ResultLine
from workbench.trace.journal import Journal
from workbench.trace.redaction import Redactor
from workbench.trace.redaction.scanning import scan
from workbench.trace.redaction.streams import MAX_HELD, Stream

KEY = "sk-proj-abcDEF0123456789abcdef"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEabcdefghijklmnop\n" * 3 + "-----END PRIVATE KEY-----"


@pytest.fixture
def redactor() -> Redactor:
    """One with an environment of the test's own."""
    return Redactor.for_recording(salt="salt", environment={"SHOP_TOKEN": "envsecretvalue"})


def content(text: str) -> dict[str, Any]:
    """A chunk that says a text."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }


def said(data: Any) -> str:
    """What a chunk says."""
    return str(data["choices"][0]["delta"]["content"])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 400])
@pytest.mark.parametrize(
    "text",
    [
        f"Your key is {KEY} , keep it.",
        'calling {"api_key": "abc def", "x": 1} now',
        'in text: {\\"password\\": \\"hunter2\\"} now',
        "see https://u:p@h/?access_token=k&page=2 now",
        "Authorization: Bearer abcdefghij0123456789 ok",
        "it is envsecretvalue, really",
        "run mysql --password hunter22 -u bob",
        f"{PEM} done",
        f"{KEY}",
        "no secrets here - a sentence. https://example.com/x?page=2 ok? \"yes\": it's 'so'.",
    ],
)
def test_chunks_make_up_the_clean_text(redactor: Redactor, text: str, size: int) -> None:
    """However a reply is cut: the placeholder is in one chunk, and no chunk is lost or moved."""
    stream, out = Stream(redactor), []
    for at in range(0, len(text), size):
        out += stream.add(at, content(text[at : at + size]))
    out += stream.flush()
    assert [at for at, _ in out] == list(range(0, len(text), size))
    assert "".join(said(data) for _, data in out) == redactor.clean(text)


def test_a_chunk_without_a_suspicion_does_not_wait(redactor: Redactor) -> None:
    """A recording that dies has what was delivered."""
    stream = Stream(redactor)
    for word in ("The ", "token ", "budget ", "is 5. ", "Ask ", "Ada", ".\n", "Bye"):
        data = content(word)
        assert stream.add(word, data) == [(word, data)]
    assert stream.flush() == []


def test_what_waits_is_bounded(redactor: Redactor) -> None:
    """A value without an end is written at last; no memory grows without limit."""
    stream = Stream(redactor)
    waiting = [stream.add(0, content('{"password": "'))]
    while not waiting[-1] and len(waiting) < MAX_HELD:
        waiting.append(stream.add(0, content("x" * 100)))
    assert 10 < len(waiting) <= MAX_HELD // 100 + 2
    assert "xxx" not in "".join(said(data) for _, data in waiting[-1])


def test_texts_side_by_side_are_told_apart(redactor: Redactor) -> None:
    """Two tool calls whose arguments come in turns; ids and names of a chunk are no part of it."""

    def arguments(index: int, text: str) -> dict[str, Any]:
        call = {"index": index, "id": "call_sk", "function": {"name": "f", "arguments": text}}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    pieces = [(0, '{"api_'), (1, '{"a": "'), (0, 'key": "hun'), (1, KEY[:9]), (0, 'ter2"}'),
              (1, KEY[9:] + '"}')]  # fmt: skip
    stream, out = Stream(redactor), []
    for number, (index, text) in enumerate(pieces):
        out += stream.add(number, arguments(index, text))
    out += stream.flush()
    texts = {0: "", 1: ""}
    for _, data in out:
        (call,) = data["choices"][0]["delta"]["tool_calls"]
        texts[call["index"]] += call["function"]["arguments"]
        assert (call["id"], call["function"]["name"]) == ("call_sk", "f")
    assert texts[0] == redactor.clean('{"api_key": "hunter2"}')
    assert texts[1] == redactor.clean(f'{{"a": "{KEY}"}}')


def write(path: Path, redactor: Redactor, *pieces: str, end: bool = True) -> Journal:
    """A trace with one streamed reply."""
    journal = Journal.create(path, HEADER, redactor=redactor)
    name = journal.new_id()
    journal.call(CallLine(id=name, kind="model", api="openai.chat", stream=True, request={}))
    for number, piece in enumerate(pieces):
        journal.append(ChunkLine(of=name, offset_s=number / 10, data=content(piece)))
    if end:
        journal.append(ResultLine(of=name, ended="complete", response={"status": 200}))
    journal.close(EndLine(status="ok"))
    return journal


@pytest.mark.parametrize("end", [True, False])
def test_a_journal_writes_each_chunk_once_and_in_order(
    tmp_path: Path, redactor: Redactor, end: bool
) -> None:
    """The call's result, or the end of the trace, brings out what waits."""
    path = tmp_path / "t.trace.jsonl"
    pieces = ["Key: ", KEY[:5], KEY[5:20], KEY[20:]]
    journal = write(path, redactor, *pieces, end=end)
    (entry,) = wb.load(path).entries
    chunks = [said(chunk.data) for chunk in entry.chunks]
    assert chunks == ["Key: ", redactor.clean(KEY), "", ""]
    assert [chunk.offset_s for chunk in entry.chunks] == [0.0, 0.1, 0.2, 0.3]
    assert journal.findings == []
    assert not wb.load(path).notices


def test_a_scan_sees_what_chunks_hold_together(tmp_path: Path) -> None:
    """A trace that was recorded without redaction: its stream is looked at as a whole."""
    path = tmp_path / "t.trace.jsonl"
    write(path, Redactor.off(), "Key: ", KEY[:5], KEY[5:20], KEY[20:], " bye")
    (found,) = scan(path)
    assert (found.rule, found.entry) == ("api-key", "1-1")
    assert found.path == "$.data.choices[0].delta.content"
    assert found.line == 4
