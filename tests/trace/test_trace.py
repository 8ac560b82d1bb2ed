import json
import pickle
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from journals import HEADER, ask, journal_at, request, response, use, user

from workbench.errors import PlaceError
from workbench.trace.canonical import request_hash
from workbench.trace.entries import (
    CallLine,
    ChunkLine,
    EndLine,
    ErrorInfo,
    EventLine,
    HashInfo,
    ResultLine,
    TraceLine,
)
from workbench.trace.journal import Journal
from workbench.trace.lines import Lines
from workbench.trace.payloads import ToolCall
from workbench.trace.places import entry, step, turn
from workbench.trace.trace import Trace, load
from workbench.trace.turns import EDITED, ERROR, FAULT, OPEN, REPLAYED

_AT = "2025-11-03T09:15:{:02d}.000000Z"
_FAILED = {"error": ErrorInfo(type="RateLimitError", message="slow down", status=429)}


def _refund_run() -> Journal:
    """Two turns with tools, one in a step, one of them retried, and an answer."""
    journal = Journal.in_memory(HEADER)
    first = ask(
        journal,
        request(user("Refund 101.")),
        response(None, ("look_up", '{"order": "101"}'), ("refund", '{"order": "101"}')),
        at=_AT.format(31),
        result={"duration_s": 1.5, "usage": {"input_tokens": 10, "output_tokens": 5}},
    )
    use(journal, "look_up", {"order": "101"}, {"total": 149.99}, asked_by=first, at=_AT.format(33))
    use(journal, "refund", {"order": "101", "amount": 149.99}, "RF-1", effect="write", key="k-1")
    journal.append(EventLine(id=journal.new_id(), type="refunded", data={"order": "101"}))
    asked = request(user("Refund 101."), user("RF-1"))
    ask(journal, asked, result=_FAILED, step="answer", hash="h", at=_AT.format(35))
    ask(
        journal,
        asked,
        response("Order 101 is refunded."),
        step="answer",
        hash="h",
        attempt=2,
        at=_AT.format(36),
        result={"duration_s": 0.5, "source": "replayed", "usage": {"input_tokens": 30}},
    )
    journal.close(EndLine(status="ok", output="Order 101 is refunded.", duration_s=7.0))
    return journal


def test_a_run_reads_as_turns() -> None:
    """A person steps through turns: a model entry, its tools, and its retries in one."""
    trace = _refund_run().trace()
    assert [entry.kind for entry in trace.entries] == [
        "model",
        "tool",
        "tool",
        "event",
        "model",
        "model",
    ]
    assert [entry.seq for entry in trace.entries] == [1, 2, 3, 4, 5, 6]
    first, second = trace.turns
    assert (first.number, first.step, first.model.id) == (1, "", "1-1")
    assert [tool.name for tool in first.tools] == ["look_up", "refund"]
    assert first.label == "look_up, refund"
    assert first.summary == "101 → 149.99; 101, 149.99 → RF-1"
    assert [each.id for each in second.attempts] == ["1-5", "1-6"]
    assert second.model.id == "1-6"
    assert second.tools == []
    assert second.label == second.summary == second.text == "Order 101 is refunded."
    assert trace.entry("1-3").turn == first
    assert trace.entry("1-5").turn == trace.entry("1-6").turn == second
    assert trace.entry("1-4").turn is None
    assert trace.turns[-1] == second
    assert list(trace.turns[1:]) == [second]


def test_an_entry_gives_what_was_recorded() -> None:
    """Every field of a line has its place on the entry, and what is absent is None, never 0."""
    trace = _refund_run().trace()
    model = trace.entry("1-1")
    assert model.at == datetime(2025, 11, 3, 9, 15, 31, tzinfo=UTC)
    assert model.at_s == 1.0
    assert (model.api, model.duration_s, model.source, model.open) == (
        "openai.chat",
        1.5,
        "live",
        False,
    )
    assert model.body["messages"] == [user("Refund 101.")]
    assert model.messages[0].text == "Refund 101."
    assert model.tool_calls[0] == ToolCall(
        "call_0", "look_up", {"order": "101"}, '{"order": "101"}'
    )
    assert model.usage == {"input_tokens": 10, "output_tokens": 5}
    assert (model.first_s, model.provider, model.fault, model.error, model.ended) == (None,) * 5
    refund = trace.entry("1-3")
    assert (refund.arguments, refund.result) == ({"order": "101", "amount": 149.99}, "RF-1")
    assert (refund.effect, refund.key, refund.at, refund.at_s) == ("write", "k-1", None, None)
    failed = trace.entry("1-5")
    assert failed.error == _FAILED["error"]
    assert (failed.reply, failed.text, failed.tool_calls, failed.response) == (None, "", (), None)
    assert (failed.duration_s, failed.usage) == (None, None)


def test_the_run_as_a_whole() -> None:
    """Status, output, duration and tokens of a run are read from its lines."""
    trace = _refund_run().trace()
    assert (trace.id, trace.name, trace.status) == ("t-1", "small", "ok")
    assert (trace.output, trace.error, trace.duration_s) == ("Order 101 is refunded.", None, 7.0)
    assert trace.usage == {"input_tokens": 40, "output_tokens": 5}
    # The refund has no time of its own, so the durations are added up.
    assert trace.turn(1).duration_s == 2.5
    assert trace.turn(2).duration_s == 1.5
    assert trace.notices == ()


def test_what_a_caller_changes_stays_with_the_caller() -> None:
    """A served reply or request that an agent edits must not change what the trace says."""
    trace = _refund_run().trace()
    one = trace.entry("1-6")
    one.request["body"]["messages"][0]["content"] = "changed"
    one.response["body"]["choices"].clear()
    assert one.request == request(user("Refund 101."), user("RF-1"))
    assert one.text == "Order 101 is refunded."


def test_places_select_entries() -> None:
    """A place means the same everywhere, and one that is not there says what is."""
    trace = _refund_run().trace()
    assert [each.id for each in trace.select(turn(1))] == ["1-1", "1-2", "1-3"]
    assert [each.id for each in trace.select(step("answer"))] == ["1-5", "1-6"]
    assert [each.id for each in trace.select(entry("1-3"))] == ["1-3"]
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: trace.turn(3), r"^turn\(3\): the trace small has turns 1 to 2$"),
        (lambda: trace.turn(0), r"^turn\(0\): the trace small has turns 1 to 2$"),
        (lambda: trace.turn(number=True), r"^turn\(True\): the trace small has turns 1 to 2$"),
        (lambda: trace.entry("9-9"), r"^entry\('9-9'\): .* ids such as 1-1 to 1-6$"),
        (lambda: trace.select("plan"), r"^step\('plan'\): the trace small has the steps answer$"),
    ]
    for call, text in wrong:
        with pytest.raises(PlaceError, match=text):
            call()


def test_a_tool_belongs_to_who_asked_for_it() -> None:
    """With calls running at once, a tool goes to its asker, else to the latest call there."""
    journal = Journal.in_memory(HEADER)
    use(journal, "setup", {}, None)
    one = ask(journal, request(user("a")), response("x"), step="a")
    two = ask(journal, request(user("b")), response("x"), step="b")
    use(journal, "asked", {}, None, step="b", asked_by=one)
    use(journal, "by_step", {}, None, step="a")
    outer = use(journal, "by_order", {}, None, step="elsewhere")
    inner = ask(journal, request(user("c")), response("x"), step="elsewhere", enclosing=outer)
    use(journal, "inside", {}, None, step="elsewhere", enclosing=outer)
    use(journal, "unknown_asker", {}, None, step="b", asked_by="9-9")
    trace = journal.trace()
    found = {tool.name: tool.turn.model.id if tool.turn else None for tool in trace.tools()}
    assert found == {
        "setup": None,
        "asked": one,
        "by_step": one,
        "by_order": two,
        "inside": inner,
        "unknown_asker": two,
    }
    assert trace.entry(inner).enclosing == outer
    assert len(trace.turns) == 3


def test_only_a_failed_call_is_retried() -> None:
    """A second attempt joins a turn only when it repeats the same request right after a failure."""
    journal = Journal.in_memory(HEADER)
    asked = request(user("a"))
    ask(journal, asked, response("fine"), hash="h")
    ask(journal, asked, response("again"), hash="h", attempt=2)
    ask(journal, asked, result=_FAILED, hash="h")
    ask(journal, asked, response("other"), hash="other", attempt=2)
    ask(journal, asked, result=_FAILED, hash="g")
    ask(journal, asked, result=_FAILED, hash="g", attempt=2)
    ask(journal, asked, response("third"), hash="g", attempt=3)
    assert [len(each.attempts) for each in journal.trace().turns] == [1, 1, 1, 1, 3]


def test_a_stream_reads_as_one_reply() -> None:
    """Chunks keep their arrival, and a stream that broke keeps the part that came."""
    journal = Journal.in_memory(HEADER)
    names = [journal.new_id(), journal.new_id()]
    for name in names:
        journal.call(
            CallLine(id=name, kind="model", api="openai.chat", stream=True, request=request())
        )
    for n, word in enumerate(["Hel", "lo"]):
        for name in names:
            data = {"choices": [{"index": 0, "delta": {"content": word}}]}
            journal.append(ChunkLine(of=name, offset_s=n / 10, data=data))
    journal.append(ResultLine(of=names[0], ended="complete", first_s=0.0))
    journal.append(ResultLine(of=names[1], ended="cut", error=ErrorInfo(type="ReadError")))
    whole, cut = journal.trace().entries
    assert (whole.text, whole.ended, whole.stream) == ("Hello", "complete", True)
    assert [chunk.offset_s for chunk in whole.chunks] == [0.0, 0.1]
    assert (cut.text, cut.ended) == ("Hello", "cut")
    assert cut.error is not None
    assert cut.error.type == "ReadError"


def test_labels_never_fail_and_are_short() -> None:
    """A list of turns shows something for any turn: open, failed, unknown, empty, huge."""
    journal = Journal.in_memory(HEADER)
    ask(journal, request(user("a")))
    ask(journal, request(user("b")), result=_FAILED)
    ask(journal, request(user("c")), response("word " * 4000))
    ask(journal, request(user("d")), response(None, ("t" * 300, "not json"), ("u", "[1]")))
    ask(journal, request(user("e")), {"body": None})
    ask(journal, 17, "nonsense")
    name = journal.new_id()
    journal.call(CallLine(id=name, kind="model", api="who.knows", request={"body": {"q": 1}}))
    journal.append(ResultLine(of=name, response={"body": {"a": 1}}))
    use(journal, "crunch", {"x": [1, 2], "y": {"z": 1}, "t": None}, ["a" * 500, {}])
    turns = journal.trace().turns
    assert [(each.label, each.summary) for each in turns[:2]] == [
        ("no reply", ""),
        ("RateLimitError 429: slow down", "RateLimitError 429: slow down"),
    ]
    assert turns[2].label.startswith("word word")
    assert turns[3].label.startswith("ttt")
    assert turns[6].label == "crunch"
    assert turns[6].summary == "[2], {…}, nothing → " + "a" * 39 + "…, {}"
    assert all(len(each.label) <= 120 and len(each.summary) <= 120 for each in turns)


def test_rows_and_timeline_say_the_same_as_the_turns(tmp_path: Path) -> None:
    """The notebook draws from these; they must agree with what the turns say one by one."""
    journal = journal_at(tmp_path / "a.trace.jsonl")
    results: list[dict[str, Any]] = [
        {"source": "live", "duration_s": 0.5},
        {"source": "replayed", "duration_s": 1},
        {"source": "edited"},
        {"source": "fault", "fault": {"type": "timeout"}, **_FAILED},
    ]
    for n, result in enumerate(results):
        ask(journal, request(user(f"{n}")), response("ok"), result=result, at=_AT.format(31 + n))
    use(journal, "look", {}, 1)
    ask(journal, request(user("last")), at=_AT.format(50))
    trace = load(tmp_path / "a.trace.jsonl")
    assert trace.timeline() == [
        (1, 1.0, 0.5, "model", 0),
        (2, 2.0, 1.0, "model", REPLAYED),
        (3, 4.0, None, "model", EDITED),  # the served second counts
        (4, 5.0, None, "model", ERROR | FAULT),
        (4, None, 0.5, "tool", 0),
        (5, 21.0, None, "model", OPEN),
    ]
    rows = trace.rows(2, 5)
    assert [row["number"] for row in rows] == [3, 4, 5]
    assert rows[1]["error"] is True
    assert (rows[1]["fault"], rows[1]["tools"], rows[1]["source"]) == ("timeout", ["look"], "fault")
    assert (rows[2]["open"], rows[2]["source"], rows[2]["at_s"]) == (True, None, 20.0)
    assert json.loads(json.dumps(rows)) == rows
    assert len(trace.rows()) == 5


def test_stepping_forward_reads_each_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Going through a long conversation must not read its beginning again at every turn."""
    journal = journal_at(tmp_path / "a.trace.jsonl")
    talk: list[dict[str, Any]] = []
    for n in range(300):
        talk.append(user(f"{n}"))
        ask(journal, request(*talk), response("ok"))
    journal.close()
    trace = load(tmp_path / "a.trace.jsonl")
    read: list[int] = []
    heavy = Lines.heavy

    def counted(self: Lines, line: int) -> tuple[Any, bool]:
        read.append(line)
        return heavy(self, line)

    monkeypatch.setattr(Lines, "heavy", counted)
    for n, each in enumerate(trace.entries):
        assert len(each.request["body"]["messages"]) == n + 1
    assert len(read) <= 2 * 300
    read.clear()
    for n, each in enumerate(trace.entries):
        assert each.own_messages == (n, [user(f"{n}")])
        assert each.shared_count == n
    assert len(read) == 300
    read.clear()
    assert len(load(tmp_path / "a.trace.jsonl").entries[-1].messages) == 300
    assert len(read) <= 301


def test_a_very_long_chain_is_rebuilt_without_recursion() -> None:
    """Ten thousand turns that each continue the one before must not overflow the stack."""
    count = 10_000
    lines = ['{"line":"trace","format":"workbench-trace","version":1,"id":"long"}']
    for n in range(1, count + 1):
        base = f'"base":["1-{n - 1}",{n - 1}],' if n > 1 else ""
        lines.append(
            f'{{"line":"call","id":"1-{n}","kind":"model","api":"workbench",{base}'
            f'"request":{{"body":{{"messages":[{n}]}}}}}}'
        )
    trace = Trace.from_bytes("\n".join(lines).encode())
    assert trace.entries[-1].body["messages"] == list(range(1, count + 1))


def test_a_request_is_checked_against_its_hash() -> None:
    """After rebuilding, verify() tells whether a request is the one that was hashed."""
    journal = Journal.in_memory(HEADER)
    good = request(user("a"), user("b"))
    ask(journal, good, response("x"), hash=request_hash("model", "openai.chat", good))
    ask(journal, good, response("x"), hash="0" * 64)
    ask(journal, good, response("x"))
    trace = journal.trace()
    assert [each.verify() for each in trace.entries] == [True, False, None]
    [notice] = trace.verify()
    assert str(notice) == "line 4: the request does not have the hash that was recorded"


def test_a_tools_hash_leaves_out_what_is_ignored_for_tools() -> None:
    """What the header ignores under ``tool`` counts for no tool's hash, and for nothing else."""
    rules = {"tool": ["/arguments/when"], "openai.chat": ["/body/user"]}
    journal = Journal.in_memory(TraceLine(id="t", hash=HashInfo(ignore=rules)))
    known = request_hash("tool", None, {"name": "look", "arguments": {"what": 2}})
    use(journal, "look", {"when": 1, "what": 2}, None, hash=known)
    use(journal, "look", {"when": 5, "what": 3}, None, hash=known)
    assert [each.verify() for each in journal.trace().entries] == [True, False]


def test_a_trace_goes_to_another_process(tmp_path: Path) -> None:
    """Work spread over processes hands traces to them; each must find the same run there."""
    journal = journal_at(tmp_path / "a.trace.jsonl")
    ask(journal, request(user("a")), response("x"))
    for trace in (journal.trace(), _refund_run().trace()):
        assert pickle.loads(pickle.dumps(trace)).digest == trace.digest  # noqa: S301 - our own


def test_the_summary_escapes_everything() -> None:
    """A trace is untrusted: nothing in it may become markup in a notebook."""
    evil = "<script>alert(1)</script>"
    journal = Journal.in_memory(HEADER.model_copy(update={"name": evil}))
    ask(journal, request(user("a")), response(evil), step=evil)
    ask(journal, request(user("a")), response(None, (evil, json.dumps({"x": evil}))))
    use(journal, evil, {"a": evil}, evil)
    ask(journal, request(user("a")), result={"fault": {"type": evil}, "error": {"type": evil}})
    journal.close(EndLine(status="failed", error=ErrorInfo(type=evil, message=evil)))
    bundle = journal.trace()._repr_mimebundle_()
    assert "<script" not in bundle["text/html"]
    assert bundle["text/html"].count("&lt;script&gt;") >= 8
    assert evil in bundle["text/plain"]


def test_the_summary_shows_the_run_without_a_kernel() -> None:
    """Opened on a page without a kernel, a trace still says what happened in each turn."""
    bundle = _refund_run().trace()._repr_mimebundle_()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", bundle["text/html"])
    assert "look_up, refund" in cells
    assert "101 → 149.99; 101, 149.99 → RF-1" in cells
    assert "prefers-color-scheme" in bundle["text/html"]
    assert bundle["text/plain"].splitlines()[0] == "<Trace small: ok, 2 turns, 6 entries>"
    assert "[error] [replayed] [2 attempts]" in bundle["text/plain"]


def test_a_long_summary_is_cut() -> None:
    """A trace with thousands of turns must not fill the notebook."""
    journal = Journal.in_memory(HEADER)
    for n in range(53):
        ask(journal, request(user(f"{n}")), response(f"answer {n}"))
    bundle = journal.trace()._repr_mimebundle_()
    assert bundle["text/html"].count("<tr>") == 51
    assert "… and 3 more turns" in bundle["text/html"]
    assert "… and 3 more turns" in bundle["text/plain"]
