"""A long conversation costs as many looks as it has lines, not as many as lines times lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from journals import ask, request, response, user
from runmaker import Ran, RunMaker, order, refund

from workbench.errors import WorkbenchError
from workbench.trace.canonical import canonical, request_hash
from workbench.trace.checking import check_requests
from workbench.trace.entries import ErrorInfo, HashInfo, TraceLine
from workbench.trace.entry_head import EntryHead
from workbench.trace.findings import findings
from workbench.trace.journal import Journal
from workbench.trace.trace import Trace
from workbench.trace.values import loads
from workbench.ui.static_view import to_html


def _long(turns: int) -> Trace:
    maker = RunMaker("long")
    for number in range(turns):
        maker.turn(f"turn {number} " + "word " * 40, order(number))
    return maker.end(output="done")


def _failing(turns: int) -> Trace:
    """Every look-up fails; the writes that ignore it come at the very end."""
    maker = RunMaker("failing")
    for number in range(turns):
        failed = Ran(
            "get_order", {"order_id": number}, error=ErrorInfo(type="Lost", message="gone")
        )
        maker.turn("", failed)
        del maker.messages[2:]
    for number in range(turns):
        maker.turn("", refund(number=number))
        del maker.messages[2:]
    return maker.end(output="done")


@contextmanager
def _work(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Counts bytes of JSON read and hashed, and heads asked for their place."""
    counted = [0]
    seq: Any = EntryHead.seq

    def counting(do: Callable[..., Any]) -> Callable[..., Any]:
        def counter(value: Any, *more: Any) -> Any:
            out = do(value, *more)
            counted[0] += len(value) if isinstance(value, bytes) else len(out)
            return out

        return counter

    def place(entry: EntryHead) -> int:
        counted[0] += 1
        return int(seq.fget(entry))

    with monkeypatch.context() as patch:
        for module in ("versions", "bodies"):
            patch.setattr(f"workbench.trace.{module}.loads", counting(loads))
        for module in ("checking", "canonical"):
            patch.setattr(f"workbench.trace.{module}.canonical", counting(canonical))
        patch.setattr(EntryHead, "seq", property(place))
        yield counted


@pytest.mark.parametrize(
    ("make", "look"),
    [(_long, to_html), (_long, Trace.verify), (_failing, findings)],
    ids=["page", "verify", "findings"],
)
def test_twice_the_turns_are_twice_the_work(
    make: Any, look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page, a check and the findings of a long run do not read its beginning at each turn."""
    spent = []
    for turns in (100, 200):
        trace = make(turns)
        with _work(monkeypatch) as counted:
            look(trace)
        spent.append(counted[0])
    assert spent[0] > 500
    assert spent[1] < 2.3 * spent[0]


def test_a_page_says_how_many_messages_were_seen_and_the_last_one() -> None:
    """The count is that of the whole conversation, though only its end is read."""
    maker = RunMaker("small")
    for number in range(3):
        maker.turn(f"answer {number}", order(number))
    maker.ask()  # asks the same again, later: its line holds no item of its own
    maker.turn("answer 3")
    html = to_html(maker.end())
    for count, role in ((2, "user"), (4, "tool"), (6, "tool"), (8, "tool")):
        assert f"saw {count} messages; the last one ({role})" in html
    assert html.count("saw 8 messages; the last one (tool)") == 2


def _hashed(journal: Journal, *messages: Any, ignore: Any = ("/body/stream",), **more: Any) -> None:
    asked = request(*messages, **more)
    ask(journal, asked, response("ok"), hash=request_hash("model", "openai.chat", asked, ignore))


def _mixed(ignore: Any = None) -> bytes:
    """Conversations that grow, take turns, shrink, repeat, and change what comes before them."""
    header = TraceLine(id="t")
    if ignore is not None:
        header = TraceLine(id="t", hash=HashInfo(ignore={"openai.chat": ignore}))
    rules = ("/body/stream", "/body/stream_options") if ignore is None else ignore
    journal = Journal.in_memory(header)
    left, right = [user("left")], [user("right")]
    for number in range(4):
        for talk in (left, right):
            talk += [user(f"q {number}"), {"role": "assistant", "content": 1.0, "id": number}]
            _hashed(journal, *talk, ignore=rules)
    _hashed(journal, *left, ignore=rules)
    _hashed(journal, *left[:3], user("other"), ignore=rules)
    _hashed(journal, *left, user("x" * 9000), ignore=rules, tools=[{"a": "y" * 2000}])
    _hashed(journal, *left, user("x" * 9000), user("Ω\ud800"), ignore=rules, stream=True)
    _hashed(journal, *left, {"$wb": "like a tag"}, ignore=rules, cost=Decimal("1.5"), a=2**70)
    _hashed(journal, *left, {"$wb": "like a tag"}, user("more"), ignore=rules, max_tokens=5)
    _hashed(journal, ignore=rules)
    journal.close()
    return bytes(journal._appender.data)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "ignore", [None, [], ["/body/messages/*/id"], ["/body/messages"], ["/body/messages/0"]]
)
def test_a_check_of_all_requests_finds_what_a_check_of_each_finds(ignore: Any) -> None:
    """Going on with an earlier hash gives the very hash, whatever the conversation did."""
    data = _mixed(ignore)
    trace = Trace.from_bytes(data)
    assert [entry.verify() for entry in trace.entries] == [True] * 15
    assert check_requests(trace) == []
    for old, new in (
        (b'"q 1"', b'"Q 1"'),
        (b'"xxx', b'"xxy'),
        (b'"id":2', b'"id":7'),
        (b'"max_tokens":5', b'"max_tokens":6'),
        (b'"base":["1-9"', b'"base":["1-3"'),
        (b'"base":["1-2",3]', b'"base":["1-2",2]'),
        (b'{"line":"blob"', b'{"line":"blub"'),
    ):
        broken = Trace.from_bytes(data.replace(old, new))
        singly = []
        for entry in broken.entries:
            try:
                singly += [] if entry.verify() else [entry.line]
            except WorkbenchError:
                singly.append(entry.line)
        assert [notice.line for notice in check_requests(broken)] == singly


def test_a_changed_beginning_spoils_every_request_that_continues_it() -> None:
    """No hash is taken on trust from the request before: one changed word shows in all later."""
    trace = _long(20)
    data = b"".join(trace._blocks()).replace(b"turn 3 word", b"turn 3 lord")
    found = Trace.from_bytes(data).verify()
    assert len([each for each in found if "hash that was recorded" in str(each)]) == 16
