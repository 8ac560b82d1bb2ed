import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import HEADER, ask, journal_at, request, response, use, user

from workbench.errors import TraceExistsError
from workbench.trace.entries import (
    LINE,
    CallLine,
    ChunkLine,
    EndLine,
    EventLine,
    InputLine,
    ResultLine,
    ValueLine,
)
from workbench.trace.journal import Journal
from workbench.trace.trace import load
from workbench.trace.values import decode, encode


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_conversations_share_their_beginnings(tmp_path: Path) -> None:
    """A growing conversation is stored once, also when two of them take turns."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    left, right = [user("left 0")], [user("right 0")]
    asked = []
    for n in range(1, 6):
        for name, talk in (("left", left), ("right", right)):
            talk.append(user(f"{name} {n}"))
            asked.append(request(*talk, temperature=0))
            before = json.dumps(asked[-1])
            ask(journal, asked[-1], response("ok"))
            assert json.dumps(asked[-1]) == before
    journal.close(EndLine(status="ok"))
    calls = [line for line in _lines(path) if line["line"] == "call"]
    assert [call.get("base") for call in calls] == [
        None,
        None,
        *(["1-" + str(n), 2 + (n - 1) // 2] for n in range(1, 9)),
    ]
    assert all(len(call["request"]["body"]["messages"]) == 1 for call in calls[2:])
    assert [entry.request for entry in load(path).entries] == asked


def test_equal_items_do_not_make_long_references(tmp_path: Path) -> None:
    """Five hundred turns of "OK" stay linear in size, with one short reference each."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    talk: list[dict[str, Any]] = []
    sizes = []
    for _ in range(500):
        talk += [user("OK"), {"role": "assistant", "content": "OK"}]
        ask(journal, request(*talk), response("OK"))
        sizes.append(path.stat().st_size)
    journal.close()
    assert sizes[-1] - sizes[249] < 1.05 * (sizes[249] - sizes[0]) + 1000
    assert max(len(line) for line in path.read_text().splitlines()) < 400
    assert load(path).entries[499].request == request(*talk)


def test_a_changed_or_reordered_item_is_not_shared(tmp_path: Path) -> None:
    """Sharing goes by exact content: an edit in the middle of a conversation must not be lost."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    asked = [
        request(user("a"), user("b"), user("c")),
        request(user("a"), user("B"), user("c")),
        request({"content": "a", "role": "user"}, user("b")),
        request(user("a")),
        request(user("a"), user("b"), user("c")),
        request(),
        request(user("a"), {"role": "user", "content": 1}, {"role": "user", "content": 1.0}),
        request(user("a"), {"role": "user", "content": 1}, {"role": "user", "content": True}),
    ]
    for each in asked:
        ask(journal, each, response("ok"))
    bases = [line.get("base") for line in _lines(path) if line["line"] == "call"]
    assert bases == [
        None,
        ["1-1", 1],
        None,
        ["1-1", 1],
        ["1-1", 3],
        None,
        ["1-1", 1],
        ["1-7", 2],
    ]
    entries = load(path).entries
    assert [json.dumps(entry.request) for entry in entries] == [json.dumps(each) for each in asked]


def test_large_values_are_stored_once(tmp_path: Path) -> None:
    """An image and a list of tools in every turn must not be written at every turn."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}}
    tools = [
        {"type": "function", "function": {"name": f"t{n}", "description": "x" * 100}}
        for n in range(20)
    ]
    asked = [
        request({"role": "user", "content": [{"type": "text", "text": f"{n}"}, image]}, tools=tools)
        for n in range(30)
    ]
    for each in asked:
        ask(journal, each, response("ok"))
    journal.close()
    assert path.stat().st_size < 1_100_000
    assert [line["line"] for line in _lines(path)].count("blob") == 2
    assert [entry.request for entry in load(path).entries] == asked


def test_payloads_that_look_like_tags_come_back_as_they_were(tmp_path: Path) -> None:
    """A model may be sent, or say, anything: also our reserved key, NaN and broken surrogates."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    strange = {
        "$wb": "blob",
        "v": "0" * 64,
        "deep": [{"$wb": {"$wb": "dict", "v": [["a", 1]]}}],
        "half": "\ud83d",
        "big": 2**80,
        "long": "$wb" * 5000,
    }
    asked = request({"role": "user", "content": strange}, metadata=strange)
    said = {"status": 200, "body": {"choices": [], "extra": strange}}
    name = journal.new_id()
    journal.call(
        CallLine(id=name, kind="model", api="openai.chat", sent=asked, request=asked, stream=True)
    )
    journal.append(ChunkLine(of=name, offset_s=0.1, data=strange))
    journal.append(ResultLine(of=name, response=said))
    ask(journal, {"body": asked["body"], "$wb": 1}, said)
    ask(journal, {"body": {"messages": [strange], "$wb": 1}}, said)
    ask(journal, {"body": {"messages": [strange], "\ud83d": 1, 3: 4}}, said)
    trace = journal.trace()
    assert trace.notices == ()
    first = trace.entries[0]
    assert (first.request, first.sent, first.response) == (asked, asked, said)
    assert [chunk.data for chunk in first.chunks] == [strange]
    assert trace.entries[1].request == {"body": asked["body"], "$wb": 1}
    assert trace.entries[2].request == {"body": {"messages": [strange], "$wb": 1}}
    assert trace.entries[3].request == {"body": {"messages": [strange], "\ud83d": 1, 3: 4}}
    assert trace.entries[2].response == said


def test_values_of_tools_and_events_come_back_as_their_type(tmp_path: Path) -> None:
    """What a tool took and returned is replayed, so a tuple must not come back as a list."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    name = use(journal, "look", {"ids": (1, 2), "big": "x" * 9000}, {"$wb": {b"a", b"b"}})
    journal.append(EventLine(id=journal.new_id(), type="seen", data=encode((1, b"\x00"))))
    journal.append(ValueLine(line="clock", id=journal.new_id(), name="now", value=encode(2**70)))
    journal.append(InputLine(id=journal.new_id(), prompt="sure?", value="yes"))
    trace = journal.trace()
    assert trace.entry(name).arguments == {"ids": (1, 2), "big": "x" * 9000}
    assert trace.entry(name).result == {"$wb": {b"a", b"b"}}
    assert decode(trace.entry(name).response) == {"$wb": {b"a", b"b"}}
    event, clock, asked = trace.entries[1:]
    assert (event.kind, event.type, event.data) == ("event", "seen", (1, b"\x00"))
    assert (clock.kind, clock.name, clock.value) == ("clock", "now", 2**70)
    assert (asked.kind, asked.prompt, asked.value) == ("input", "sure?", "yes")


def test_a_name_with_a_lone_surrogate_does_not_stop_the_recording() -> None:
    """A file name that is no proper text can end up in a step; its call must not fail."""
    journal = Journal.in_memory(HEADER)
    ask(journal, request(user("hi")), response("ho"), step="bad\udc80name")
    assert journal.trace().entries[0].step == "bad\\udc80name"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.just("$wb"), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.lists(_JSON, max_size=4), _JSON, _JSON), max_size=5))
def test_whatever_is_written_is_read_back(calls: list[tuple[list[Any], Any, Any]]) -> None:
    """Writing and reading are inverse for any payload, and reading changes no byte."""
    journal = Journal.in_memory(HEADER)
    talk: list[Any] = []
    asked = []
    for items, extra, said in calls:
        talk += items
        asked.append(({"body": {"messages": [*talk], "extra": extra}}, {"body": said}))
        ask(journal, *asked[-1])
    trace = journal.trace()
    assert trace.notices == ()
    assert [(entry.request, entry.response) for entry in trace.entries] == asked
    for line in range(len(trace.index.kinds)):
        LINE.validate_python(trace.lines.whole(line))


@settings(max_examples=20, deadline=None)
@given(_JSON)
def test_load_then_save_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    """Opening and saving a trace must neither invent nor drop anything."""
    folder = tmp_path_factory.mktemp("save")
    journal = journal_at(folder / "a.trace.jsonl")
    ask(journal, {"body": {"messages": [value]}}, {"body": value})
    journal.close(EndLine(status="ok"))
    trace = load(folder / "a.trace.jsonl")
    copy = trace.save(folder / "new" / "b.trace.jsonl")
    assert copy.read_bytes() == (folder / "a.trace.jsonl").read_bytes()
    packed = load(trace.save(folder / "c.trace.jsonl.gz"))
    assert packed.save(folder / "d.trace.jsonl").read_bytes() == copy.read_bytes()
    assert packed.digest == trace.digest
    with pytest.raises(TraceExistsError, match="exists already"):
        trace.save(copy)
    assert trace.save(copy, replace=True) == copy
