"""Why a call was not found: the nearest entry, named truly, and without holding the run up."""

from typing import Any

import pytest
from runmaker import RunMaker, order
from scripted import World, ask
from tillshop import DONE, agent, call, fresh_shop, script

import workbench as wb
from workbench.seam.calls import Call, Ticket
from workbench.seam.explain import explain
from workbench.seam.tape import Tape
from workbench.trace.trace import Entry, Trace


def _missed(trace: Trace, entry: Entry, change: Any) -> tuple[Ticket, Tape]:
    """A call like a recorded one, but changed, with all that came before it served."""
    asked = entry.request
    change(asked["body"])
    tape = Tape(trace)
    for each in tape.entries:
        if each.seq < entry.seq:
            tape.consume(each)
    made = Call("model", asked, api=entry.api, model=entry.model)
    number = entry.turn.number if entry.turn is not None else None
    return Ticket("x-1", made, "another hash", number), tape


def _long(turns: int) -> Trace:
    maker = RunMaker("long")
    for number in range(turns):
        maker.turn(f"turn {number}", order(number))
    return maker.end()


def _system(body: Any) -> None:
    body["messages"][0] = {"role": "system", "content": "You help nobody."}


def _only_the_last(body: Any) -> None:
    body["messages"][1:-1] = []


def _hotter(body: Any) -> None:
    body["temperature"] = 2


@pytest.mark.parametrize("change", [_system, _only_the_last, _hotter])
@pytest.mark.parametrize("number", [1, 60, 120])
def test_the_entry_that_was_meant_is_named_whatever_changed(number: int, change: Any) -> None:
    """In a long run the recorded turn is found, also when most of the conversation is gone."""
    trace = _long(120)
    entry = trace.turn(number).model
    miss = explain(*_missed(trace, entry, change), trace).miss
    assert miss.candidates[0].entry == entry.id
    assert miss.candidates[0].turn == number


def test_of_many_short_calls_side_by_side_the_one_that_was_meant_is_named(world: World) -> None:
    """Forty conversations of one length: the one with a changed word is found among them."""

    def fan(changed: int | None = None) -> None:
        for number in range(40):
            word = "twice" if number == changed else "once"
            said = f"Refund order {number} {word}, then say so."
            ask([{"role": "system", "content": "Be brief."}, {"role": "user", "content": said}])

    recorded = wb.record(fan)
    drifted = wb.replay(fan, recorded.trace, changed=23).drift
    assert drifted is not None
    assert drifted.miss.candidates[0].entry == recorded.trace.entries[23].id
    assert len(world.ran) == 40


def test_of_long_conversations_side_by_side_the_one_that_was_meant_is_named() -> None:
    """Ten agents talk in turn: the call is explained by its own conversation, not its neighbour."""
    maker = RunMaker("wide")
    talks: list[list[dict[str, Any]]] = [
        [{"role": "system", "content": f"s{n}"}] for n in range(10)
    ]
    for round_number in range(30):
        for name, talk in enumerate(talks):
            talk.append({"role": "user", "content": f"agent {name}, round {round_number}"})
            maker.messages = talk
            maker.turn(f"answer {round_number} of {name}")
    trace = maker.end()
    entry = trace.models()[10 * 25 + 7]
    miss = explain(*_missed(trace, entry, _system), trace).miss
    assert miss.candidates[0].entry == entry.id


def test_few_long_conversations_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run waits for the text: a handful of whole conversations are read for it, not fifty."""
    trace = _long(400)
    built: list[int] = []
    request = type(trace.bodies).request

    def counted(self: Any, entry: int, *, raw: bool) -> Any:
        built.append(entry)
        return request(self, entry, raw=raw)

    ticket, tape = _missed(trace, trace.turn(200).model, _system)
    monkeypatch.setattr(type(trace.bodies), "request", counted)
    text = str(explain(ticket, tape, trace))
    assert "(turn 200)" in text
    assert len(built) <= 6


def test_a_result_that_a_live_write_made_void_is_called_that(world: World) -> None:
    """The recorded result is still there, unserved: the text says why, and what runs it again."""
    world.answer = script(
        call("refund", order_id=1, amount=2.0), call("get_order", order_id=1), DONE
    )
    with fresh_shop():
        recorded = wb.record(agent, 1)
    read = recorded.trace.tools()[1]
    first = wb.entry(recorded.trace.tools()[0].id)
    options: Any = {"force_live": [first], "tools_after": "allow", "on_miss": "fail"}
    with fresh_shop():
        fork = wb.fork(agent, recorded.trace, **options)
    assert fork.status == "drifted"
    text = str(fork.drift)
    assert (
        f"get_order(order_id=1) was recorded as entry {read.id} (turn 2), but that is void:" in text
    )
    assert "a tool that writes ran live in this run" in text
    assert "this is one more" not in text
    assert 'tools_before="verify", with setup=' in text
    mended = wb.fork(agent, recorded.trace, **options, tools_before="verify", setup=fresh_shop)
    assert mended.status == "ok"


def test_a_call_made_once_more_is_still_called_that(world: World) -> None:
    """An entry that was served is used up, not void, also after a live write."""
    replies = [call("refund", order_id=1, amount=2.0), call("get_order", order_id=1), DONE]
    world.answer = script(*replies)

    def twice(order_id: int, *, again: bool = False) -> None:
        agent(order_id)
        if again:
            agent(order_id)

    with fresh_shop():
        recorded = wb.record(twice, 1)
    drifted = wb.replay(twice, recorded.trace, 1, again=True)
    assert "recorded once, and served: this is one more (1 of 1 used)" in str(drifted.drift)
    assert "void" not in str(drifted.drift)


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ("Today is 2025-11-03.", "Today is 2026-01-09."),
        ("It is 2025-11-03T09:15:30Z.", "It is 2025-11-04T19:00:01Z."),
        (
            "request 8e03978e-40d5-43e8-bc93-6894a57f9324",
            "request 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
        ),
        ("files in /srv/ada/project", "files in /tmp/run7/project"),
    ],
)
def test_a_date_that_changes_is_called_that(recorded: str, now: str, world: World) -> None:
    """A miss that only a time, an id or a path makes says so, with how to record it and the rule
    that lets it pass."""

    def asking(text: str) -> str:
        return str(ask([{"role": "user", "content": text}])["content"])

    run = wb.record(asking, recorded)
    drifted = wb.replay(asking, run.trace, now)
    assert drifted.status == "drifted"
    said = str(drifted.drift)
    assert "only a time, an id or a path differs" in said
    assert "a time or an id: workbench record --ambient …" in said
    assert "--ignore workbench:/body/messages/0" in said
    ignored = wb.replay(asking, run.trace, now, ignore={"workbench": ["/body/messages/0"]})
    assert ignored.status == "ok"
    other = str(wb.replay(asking, run.trace, f"{now} Be brief.").drift)
    assert "--ambient" not in other


SECRET = "sk-proj-" + "Zx9" * 16


@wb.tool(effect="read")
def open_vault(key: str) -> str:
    """Open something with a key."""
    return f"opened by {key}" if NOTED else "opened"


NOTED: list[str] = []


def test_a_secret_is_neither_shown_nor_a_difference(world: World) -> None:
    """What a drift says goes to terminals and logs: the secrets of the call are not in it, and
    one that is the same as then is not told as a difference."""

    def holder(word: str) -> None:
        ask(f"{word} with {SECRET}", password=SECRET)
        open_vault(SECRET)

    recorded = wb.record(holder, "pay").trace
    drift = wb.replay(holder, recorded, "send").drift
    assert drift is not None
    assert "pay with [redacted" in str(drift)
    assert "send with [redacted" in str(drift)
    assert SECRET[:20] not in str(drift)
    assert [each.where for each in drift.miss.candidates[0].differs] == ["message 1 (user)"]

    NOTED.append("from now on it says more")
    try:
        other = wb.replay(holder, recorded, "pay", tools="verify").drift
    finally:
        NOTED.clear()
    assert "gives another result than was recorded" in str(other)
    assert "opened by [redacted" in str(other)
    assert SECRET[:20] not in str(other)
