"""A trace cut down to a part: whole, readable alone, and honest about what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import scripted
from journals import ask, journal_at, request, response, use, user
from runmaker import Ran, RunMaker
from scripted import ask as ask_model

import workbench as wb
from workbench.errors import PlaceError
from workbench.trace.entries import CallLine, ChunkLine, EndLine, EventLine, ResultLine, ValueLine
from workbench.trace.journal import Journal
from workbench.trace.places import entry, step, turn
from workbench.trace.trace import Trace, load

PAGE = "a long page " * 1_000


def _run() -> Trace:
    """Six turns of one conversation, each with a tool, whose large result comes again."""
    maker = RunMaker("six")
    for number in range(1, 7):
        maker.turn("", Ran("get_order", {"order_id": number}, PAGE), step=f"s{(number + 1) // 2}")
        maker.say("tool", PAGE)
    return maker.end(output="done", duration_s=9.0)


def _same(part: Trace, whole: Trace) -> None:
    """All that the part has is as it was in the whole trace."""
    for each in part.entries:
        other = whole.entry(each.id)
        assert (each.kind, each.step, each.hash) == (other.kind, other.step, other.hash)
        assert (each.request, each.response) == (other.request, other.response)
        assert each.chunks == other.chunks
        assert (each.data, each.value) == (other.data, other.value)
    assert part.verify() == ()


def test_a_part_is_whole_in_itself() -> None:
    """What stood in lines that were left out (beginnings, large values) is put back."""
    whole = _run()
    part = whole.trim(turn(3), turn(4))
    assert [each.id for each in part.entries] == ["1-5", "1-6", "1-7", "1-8"]
    assert len(part.turn(1).messages) == len(whole.turn(3).messages)
    assert part.turn(1).model.request == whole.turn(3).model.request
    assert part.turn(2).tools[0].result == PAGE
    _same(part, whole)
    data = part.lines.raw(0) + part.lines.raw(1)
    assert data.count(PAGE.encode()) == 1


def test_the_header_says_what_is_missing() -> None:
    """Who gets the part learns what it is a part of, and how much was left out."""
    whole = _run()
    part = whole.trim(turn(3), turn(4))
    trimmed = part.header.trimmed
    assert trimmed is not None
    assert (trimmed.id, trimmed.name, trimmed.digest) == ("id-six", "six", whole.digest)
    assert (trimmed.first, trimmed.last, trimmed.left_out) == ("turn:3", "turn:4", 8)
    assert part.id != whole.id
    assert part.status == "cut short"
    assert part.gaps == ("8 entries were left out of six (kept: turn:3 to turn:4)",)
    assert all(part.gaps[0] in text for text in part._repr_mimebundle_().values())


def test_the_end_stays_where_the_last_entry_does() -> None:
    """A part with the run's end has its output, counts of its own, and no duration of the whole."""
    whole = _run()
    part = whole.trim(turn(5))
    assert [each.id for each in part.models()] == ["1-9", "1-11"]
    assert (part.status, part.output) == ("ok", "done")
    assert part.end is not None
    assert part.end.counts == {"model": 2, "tool": 2}
    assert part.end.duration_s is None
    everything = whole.trim()
    assert everything.end is not None
    assert (everything.end.duration_s, everything.header.trimmed.left_out) == (9.0, 0)  # type: ignore[union-attr]
    _same(everything, whole)
    assert len(whole.trim(last=turn(2)).entries) == 4


def test_steps_and_single_entries_are_kept_wherever_they_are() -> None:
    """Further places keep their entries; a tool brings the model call that asked for it."""
    whole = _run()
    part = whole.trim(keep=[step("s1"), "entry:1-10"])
    assert [each.id for each in part.entries] == ["1-1", "1-2", "1-3", "1-4", "1-9", "1-10"]
    assert part.header.trimmed is not None
    assert part.header.trimmed.keep == ["step:s1", "entry:1-10"]
    assert [each.id for each in whole.trim(turn(2), turn(2), keep="s3").entries] == [
        "1-3", "1-4", "1-9", "1-10", "1-11", "1-12",
    ]  # fmt: skip
    _same(part, whole)


GOLDEN = load(Path(__file__).parent / "golden" / "v1.trace.jsonl")


@pytest.mark.parametrize("first", [each.id for each in GOLDEN.entries])
def test_any_part_of_any_trace_holds_what_the_whole_one_holds(first: str) -> None:
    """From each entry to each later one, with streams, faults, nested calls, a second writer:
    what is kept is as it was and in order, and a part of a part is that part.
    """
    begin = GOLDEN.entry(first).seq - 1
    for stop in range(begin + 1, len(GOLDEN.entries) + 1):
        last = GOLDEN.entries[stop - 1].id
        part = GOLDEN.trim(entry(first), entry(last))
        ids = [each.id for each in part.entries]
        assert {each.id for each in GOLDEN.entries[begin:stop]} <= set(ids)
        assert ids == [each.id for each in GOLDEN.entries if each.id in ids]
        assert part.header.trimmed is not None
        assert part.header.trimmed.left_out == len(GOLDEN.entries) - len(ids)
        assert (part.status == "failed") == (GOLDEN.entries[-1].id in ids)
        _same(part, GOLDEN)
        again = part.trim(entry(first), entry(last))
        assert [each.id for each in again.entries] == ids
        _same(again, GOLDEN)


def _nested() -> Trace:
    """A tool that asks a model of its own, twice, and reads the clock."""
    journal = Journal.in_memory(RunMaker("x").journal.header)
    ask(journal, request(user("first")), response("one"))
    outer = journal.new_id()
    asked = {"name": "research", "arguments": {}}
    journal.call(CallLine(id=outer, kind="tool", name="research", asked_by="1-1", request=asked))
    for number in range(2):
        ask(journal, request(user(f"inside {number}")), response("in"), enclosing=outer)
    clock = ValueLine(line="clock", id=journal.new_id(), enclosing=outer, name="now", value=1.5)
    journal.append(clock)
    journal.append(ResultLine(of=outer, response="found"))
    ask(journal, request(user("last")), response("two"))
    journal.append(EventLine(id=journal.new_id(), type="note", data={"n": 1}))
    journal.close(EndLine(status="ok"))
    return journal.trace()


def test_calls_stay_with_what_encloses_them_and_what_they_enclose() -> None:
    """A replayed tool must find the calls that it made, and an inner call the tool around it."""
    whole = _nested()
    tool = whole.trim(entry("1-2"), entry("1-2"))
    assert [each.id for each in tool.entries] == ["1-1", "1-2", "1-3", "1-4", "1-5"]
    inner = whole.trim(keep=[entry("1-3")])
    assert [each.id for each in inner.entries] == ["1-1", "1-2", "1-3"]
    assert inner.entry("1-3").enclosing == "1-2"
    _same(tool, whole)
    _same(inner, whole)
    last = whole.trim(entry("1-6"))
    assert [each.id for each in last.entries] == ["1-6", "1-7"]
    assert last.events("note")[0].data == {"n": 1}


def test_streams_writers_and_values_keep_their_form(tmp_path: Path) -> None:
    """Chunks, entries of a second process and tagged values are copied as what they are."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    use(journal, "before", {}, 1)
    name = journal.new_id()
    asked = request(user("stream"), stream=True)
    journal.call(CallLine(id=name, kind="model", api="openai.chat", stream=True, request=asked))
    for number in range(3):
        journal.append(ChunkLine(of=name, offset_s=number / 10, data={"n": number}))
    journal.append(ResultLine(of=name, ended="cut", response={"status": 200}))
    late = Journal.join(path)
    use(late, "later", {"when": (1, 2)}, {b"x"})
    late.close()
    whole = load(path)
    part = whole.trim(entry(name))
    assert [chunk.data for chunk in part.entry(name).chunks] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert part.entry(name).ended == "cut"
    assert part.tools("later")[0].result == {b"x"}
    kinds = [part.lines.whole(line)["line"] for line in range(len(part.index.kinds))]
    assert kinds == [
        "trace",
        "call",
        "chunk",
        "chunk",
        "chunk",
        "result",
        "writer",
        "call",
        "result",
    ]
    _same(part, whole)


def test_the_same_part_gives_the_same_bytes(tmp_path: Path) -> None:
    """A part can be made again and compared; saved and loaded it is equal byte for byte."""
    whole = _run()
    first = whole.trim(turn(2), turn(3)).save(tmp_path / "a.trace.jsonl")
    again = whole.trim("turn:2", "turn:3").save(tmp_path / "b.trace.jsonl")
    assert first.read_bytes() == again.read_bytes()
    assert load(first).save(tmp_path / "c.trace.jsonl").read_bytes() == first.read_bytes()
    other = whole.trim(turn(2), turn(4))
    assert other.id != load(first).id


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((turn(9), None), r"turn\(9\): the trace six has turns 1 to 6"),
        ((turn(4), turn(2)), r"trim\(turn:4, turn:2\): turn:2 ends before turn:4 begins; name"),
        ((3, None), "3 is not a place"),
    ],
)
def test_a_part_that_cannot_be_is_refused(places: Any, text: str) -> None:
    """A slip in a place is an error that says what there is, not an empty trace."""
    with pytest.raises(PlaceError, match=text):
        _run().trim(*places)


def test_what_damage_took_is_named(tmp_path: Path) -> None:
    """A kept call whose request is lost with another line keeps its reply, and is listed."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    talk = []
    for number in range(4):
        talk.append(user(f"question {number}"))
        ask(journal, request(*talk), response(f"answer {number}"))
    journal.close(EndLine(status="ok"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"garbage\n", *lines[4:]]))
    whole = load(path)
    part = whole.trim(entry("1-3"))
    assert part.header.trimmed is not None
    assert part.header.trimmed.lost == ["1-3", "1-4"]
    assert [each.text for each in part.entries] == ["answer 2", "answer 3"]
    assert [each.request for each in part.entries] == [None, None]


def test_a_part_replays_alone() -> None:
    """The agent's code for that part finds all its calls by their hashes, and calls nothing."""

    def agent(first: int, last: int) -> str:
        said = ""
        for number in range(first, last + 1):
            said = ask_model([{"role": "user", "content": f"question {number}"}])["content"]
        return said

    recorded = wb.record(agent, 1, 6).trace
    scripted.world.ran.clear()
    part = recorded.trim(turn(3), turn(4))
    result = wb.replay(agent, part, 3, 4)
    assert (result.status, result.output) == ("ok", "re: question 4")
    assert [call.reason for call in result.calls] == ["hit", "hit"]
    assert scripted.world.ran == []
