"""Edits of what is sent and of what was read: requests, arguments, events, readings, answers."""

from typing import Any

import pytest
import scripted
from scripted import World, ask

import workbench as wb


@wb.tool(effect="read")
def price(order_id: int, currency: str = "EUR") -> dict[str, Any]:
    """Look up what an order costs."""
    RAN.append((order_id, currency))
    return {"order_id": order_id, "currency": currency}


RAN: list[tuple[int, str]] = []


@pytest.fixture(autouse=True)
def _none_ran() -> None:
    RAN.clear()


def chat(*said: str) -> list[str]:
    """A conversation with a system prompt, one call a turn."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]
    out = []
    for text in said:
        messages.append({"role": "user", "content": text})
        reply = ask(list(messages), temperature=0)["content"]
        messages.append({"role": "assistant", "content": reply})
        out.append(reply)
    return out


def sent(world: World) -> list[tuple[str, str, Any]]:
    """The system prompt, the model and the temperature of each live call."""
    return [
        (body["messages"][0]["content"], body["model"], body.get("temperature"))
        for body in world.ran
    ]


def test_another_system_prompt_is_sent_from_there_on(world: World) -> None:
    """The agent asks as before; what is sent is rewritten at that turn and at all after it."""
    world.answer = lambda body: {"content": f"{body['messages'][0]['content']} yes"}
    recorded = wb.record(chat, "a", "b", "c")
    world.ran.clear()
    edits = recorded.trace.edit().request(wb.turn(2), system="Be short.", model="m-2")
    fork = wb.fork(chat, recorded.trace, edits=edits)
    assert fork.output == ["Be kind. yes", "Be short. yes", "Be short. yes"]
    assert sent(world) == [("Be short.", "m-2", 0), ("Be short.", "m-2", 0)]
    assert [(c.how, c.reason) for c in fork.calls] == [
        ("replayed", "hit"),
        ("live", "edited"),
        ("live", "edited"),
    ]
    entry = fork.trace.turn(2).model
    assert entry.request["body"]["messages"][0]["content"] == "Be kind."
    assert entry.sent["body"]["messages"][0]["content"] == "Be short."
    world.ran.clear()
    again = wb.replay(chat, fork.trace)
    assert (again.status, again.output) == ("ok", fork.output)
    assert world.ran == []


def test_once_is_once(world: World) -> None:
    """scope='once' changes that very call; a later one goes live only if the answer changed it."""
    world.answer = lambda body: {"content": f"{body['messages'][0]['content']} yes"}
    recorded = wb.record(chat, "a", "b", "c")
    world.ran.clear()
    edits = recorded.trace.edit().request(wb.turn(2), system="Be short.", scope="once")
    fork = wb.fork(chat, recorded.trace, edits=edits)
    assert fork.output == ["Be kind. yes", "Be short. yes", "Be kind. yes"]
    assert [c.reason for c in fork.calls] == ["hit", "edited", "miss"]


def test_parameters_and_messages(world: World) -> None:
    """A parameter is set, another is not sent, a message is replaced, one is put in."""
    recorded = wb.record(chat, "a")
    world.ran.clear()
    edits = recorded.trace.edit().request(
        wb.turn(1), set={"top_p": 0.5}, unset=["temperature"], replace={2: "A!"}
    )
    fork = wb.fork(chat, recorded.trace, edits=edits)
    assert fork.output == ["re: A!"]
    (body,) = world.ran
    assert (body["top_p"], "temperature" in body) == (0.5, False)


def test_the_plan_says_that_a_request_edit_runs_live(world: World) -> None:
    """Before anything is spent."""
    recorded = wb.record(chat, "a", "b", "c")
    edits = recorded.trace.edit().request(wb.turn(2), system="Be short.")
    plan = wb.plan(recorded.trace, edits=edits)
    assert (plan.served, plan.live) == (1, 2)
    assert "the request of turn 2" in str(plan)


def pricing() -> Any:
    """Ask, then look up what was asked for."""
    ask("which order?")
    return price(101)


def test_a_tool_is_called_with_other_arguments(world: World) -> None:
    """The model's words stay as they were; the tool really runs, with what a person said."""
    recorded = wb.record(pricing)
    RAN.clear()
    edits = recorded.trace.edit().tool_arguments(
        wb.turn(1), {"order_id": 7, "currency": "USD"}, tool="price"
    )
    fork = wb.fork(pricing, recorded.trace, edits=edits)
    assert fork.output == {"order_id": 7, "currency": "USD"}
    assert RAN == [(7, "USD")]
    entry = fork.trace.tools("price")[0]
    assert entry.arguments == {"order_id": 101, "currency": "EUR"}
    assert entry.sent["arguments"] == {"order_id": 7, "currency": "USD"}
    assert wb.replay(pricing, fork.trace).output == fork.output
    assert len(RAN) == 1


def test_a_write_with_other_arguments_asks_for_leave(world: World) -> None:
    """What is asked names the arguments that it would run with."""

    @wb.tool(effect="write")
    def pay(order_id: int) -> int:
        return order_id

    def agent() -> int:
        ask("go")
        return pay(1)

    recorded = wb.record(agent)
    edits = recorded.trace.edit().tool_arguments(wb.turn(1), {"order_id": 2})
    fork = wb.fork(agent, recorded.trace, edits=edits)
    assert fork.status == "blocked"
    assert "order_id=2" in str(fork.error)
    allowed = wb.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert allowed.output == 2


def reader() -> dict[str, Any]:
    """Read the clock, an id and a random number, and write an event."""
    found = {"at": wb.now(), "id": wb.new_id(), "luck": wb.random()}
    wb.write_event("read", {"id": found["id"]})
    return found


def test_a_reading_gives_what_a_person_said(world: World) -> None:
    """And the event that the agent makes of it is compared with what was recorded."""
    recorded = wb.record(reader)
    luck = next(e for e in recorded.trace.entries if e.name == "random")
    edits = recorded.trace.edit().value(wb.entry(luck.id), 0.125)
    replayed = wb.replay(reader, recorded.trace, edits=edits)
    assert (replayed.status, replayed.output["luck"]) == ("ok", 0.125)
    assert replayed.output["id"] == recorded.output["id"]
    changed = next(e for e in replayed.trace.entries if e.name == "random")
    assert (changed.source, changed.value) == ("edited", 0.125)


def test_an_edited_event_is_what_the_agent_must_write(world: World) -> None:
    """The test that a changed agent is to pass can be written first."""

    def tell(words: str) -> None:
        wb.write_event("told", {"words": words})

    recorded = wb.record(tell, "old")
    event = recorded.trace.events("told")[0]
    edits = recorded.trace.edit().event(wb.entry(event.id), {"words": "new"})
    assert wb.replay(tell, recorded.trace, "new", edits=edits).status == "ok"
    unchanged = wb.replay(tell, recorded.trace, "old", edits=edits)
    assert unchanged.status == "drifted"


def test_an_event_that_changed_is_drift(world: World) -> None:
    """What an agent writes down is part of what it does; an ignore rule lets a part go."""

    def tell(seconds: float) -> str:
        wb.write_event("took", {"what": "lookup", "s": seconds})
        return str(ask("and?")["content"])

    recorded = wb.record(tell, 0.1)
    drifted = wb.replay(tell, recorded.trace, 0.2)
    assert drifted.status == "drifted"
    assert "event" in str(drifted.drift)
    assert "0.2" in str(drifted.drift)
    ignored = wb.replay(tell, recorded.trace, 0.2, ignore={"event": ["/data/s"]})
    assert (ignored.status, ignored.output) == ("ok", recorded.output)
    assert wb.replay(lambda _: str(ask("and?")["content"]), recorded.trace).status == "drifted"


def test_a_turn_is_put_in_and_another_dropped(world: World) -> None:
    """A trace written by hand is changed in its order, and the agent runs on what came of it."""
    recorded = wb.record(chat, "a", "b")
    edits = recorded.trace.edit().insert_turn(wb.turn(2), text="put in")
    assert len(edits.apply().turns) == 3
    dropped = recorded.trace.edit().drop(wb.turn(2))
    applied = dropped.apply()
    assert [turn.text for turn in applied.turns] == ["re: a"]
    scripted.world.ran.clear()
    fork = wb.fork(chat, recorded.trace, edits=dropped)
    assert [call.reason for call in fork.calls] == ["hit", "miss"]
    assert [body["messages"][-1]["content"] for body in world.ran] == ["b"]


def test_places_are_those_of_the_parent(world: World) -> None:
    """A cut and a forced place name turns as the parent has them, whatever is put in or dropped.

    What comes after the dropped turn answers by its order: "a" gets what "b" got.
    """

    def three() -> list[str]:
        return [str(ask(each)["content"]) for each in ("a", "b", "c")]

    recorded = wb.record(three)
    world.ran.clear()
    edits = recorded.trace.edit().drop(wb.turn(1))
    fork = wb.fork(three, recorded.trace, edits=edits, live_from=wb.turn(3), on_miss="live")
    assert [body["messages"][-1]["content"] for body in world.ran] == ["b", "c"]
    assert fork.trace.header.parent is not None
    assert fork.trace.header.parent.cut == "turn:3"
    world.ran.clear()
    wb.fork(three, recorded.trace, edits=edits, force_live=[wb.turn(2)])
    assert [body["messages"][-1]["content"] for body in world.ran] == ["a", "c"]


def test_a_change_that_fits_no_later_request_is_said(world: World) -> None:
    """Where another message stands in its place it is left out, and that is a notice."""

    def two() -> list[str]:
        first = ask([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
        second = ask([{"role": "user", "content": "c"}, {"role": "user", "content": "d"}])
        return [str(first["content"]), str(second["content"])]

    recorded = wb.record(two)
    edits = recorded.trace.edit().request(wb.turn(1), replace={2: "B!"})
    fork = wb.fork(two, recorded.trace, edits=edits)
    assert fork.output == ["re: B!", "re: d"]
    assert any("message 2 is not replaced" in notice for notice in fork.notices)
