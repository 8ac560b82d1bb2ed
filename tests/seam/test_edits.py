"""Edits: what a person changed in a run, and what becomes of the calls after it."""

import pytest
from scripted import World, ask
from tillshop import DONE, agent, call, fresh_shop, script

import workbench as wb


def test_ripple_runs_live_only_what_the_edit_changed(world: World) -> None:
    """Two independent questions: editing the first answer leaves the second recorded."""

    def both() -> list[str]:
        first = ask("first?")["content"]
        second = ask("second?")["content"]
        last = ask(f"sum up {first}")["content"]
        return [first, second, last]

    recorded = wb.record(both)
    world.ran.clear()
    edits = recorded.trace.edit().reply(wb.turn(1), text="changed")
    fork = wb.fork(both, recorded.trace, edits=edits)
    assert fork.output == ["changed", "re: second?", "re: sum up changed"]
    assert [(c.turn, c.how, c.reason) for c in fork.calls] == [
        (1, "edited", "edited"),
        (2, "replayed", "hit"),
        (3, "live", "miss"),
    ]
    assert len(world.ran) == 1


def test_after_a_live_write_recorded_results_are_void(doubled: wb.Trace, world: World) -> None:
    """In ripple mode a live refund changed the world: reads after it are no longer from tape."""
    read = call("get_order", order_id=101)
    edits = doubled.edit().reply(wb.turn(1), tool_call=("refund", {"order_id": 7, "amount": 1.0}))
    world.answer = script(read, DONE)
    with fresh_shop() as now:
        fork = wb.fork(agent, doubled, edits=edits, tools_after="allow")
        assert [row[0] for row in now.refunds()] == [7]
    assert [(c.name, c.how) for c in fork.calls if c.kind == "tool"] == [
        ("refund", "live"),
        ("get_order", "live"),
    ]


def test_an_edited_tool_result_reaches_the_model(doubled: wb.Trace, world: World) -> None:
    """The tool is said to have returned something else; only then does the model go live."""
    edits = doubled.edit().tool_result(wb.turn(1), {"id": 101, "total": 0})
    world.answer = script(DONE)
    fork = wb.fork(agent, doubled, edits=edits)
    assert fork.output == "all done"
    assert world.ran[0]["messages"][-1]["content"] == "{'id': 101, 'total': 0}"
    assert [(c.name, c.how) for c in fork.calls] == [
        ("m-1", "replayed"),
        ("get_order", "edited"),
        ("m-1", "live"),
    ]


def test_edits_that_break_a_pair_are_refused(doubled: wb.Trace) -> None:
    """A result for a call that another edit took away would be refused by a provider."""
    edits = doubled.edit().reply(wb.turn(2), tool_call=("send_email", {"to": "a@example.com"}))
    with pytest.raises(wb.EditError, match="no longer calls 'refund'"):
        edits.tool_result(wb.turn(2), "anything", tool="refund")
    with pytest.raises(wb.EditError, match="called no tool 'get_order'"):
        doubled.edit().tool_result(wb.turn(2), 1, tool="get_order")
    with pytest.raises(wb.EditError, match="changes the text, the tool calls, or both"):
        doubled.edit().reply(wb.turn(2))


def test_an_edit_that_is_never_reached_is_reported(doubled: wb.Trace, world: World) -> None:
    """An edit past the point where the run ended is named, not silently dropped."""
    edits = (
        doubled.edit()
        .reply(wb.turn(2), text="stop", tool_calls=[])
        .reply(wb.turn(4), text="never said", tool_calls=[])
    )
    fork = wb.fork(agent, doubled, edits=edits)
    assert fork.output == "stop"
    assert "the edit of turn 4 was never reached" in fork.notices


def test_an_edited_result_is_served_after_a_live_write_too(doubled: wb.Trace, world: World) -> None:
    """Recorded results are void then; one that a person wrote is not."""
    edits = (
        doubled.edit()
        .reply(
            wb.turn(1),
            tool_calls=[
                ("refund", {"order_id": 7, "amount": 1.0}),
                ("get_order", {"order_id": 101}),
            ],
        )
        .tool_result(wb.turn(1), {"id": 101, "total": 5})
    )
    world.answer = script(DONE)
    with fresh_shop():
        fork = wb.fork(agent, doubled, edits=edits, tools_after="allow")
    assert [(c.name, c.how) for c in fork.calls if c.kind == "tool"] == [
        ("refund", "live"),
        ("get_order", "edited"),
    ]


def test_a_place_inside_a_served_tool_is_refused() -> None:
    """The tool would be served whole, and nothing inside it asked for: said, not ignored."""

    @wb.tool(effect="read")
    def think() -> str:
        return str(ask("inner")["content"])

    recorded = wb.record(think)
    tool, inner = recorded.trace.entries
    assert inner.enclosing == tool.id
    edits = recorded.trace.edit().reply(wb.entry(inner.id), text="changed")
    for options in ({"live_from": wb.entry(inner.id)}, {"edits": edits}):
        with pytest.raises(wb.PlaceError, match=r'name entry\("1-1"\)'):
            wb.fork(think, recorded.trace, **options)
        with pytest.raises(wb.PlaceError, match="lies inside the tool call 1-1"):
            wb.plan(recorded.trace, **options)
    again = wb.fork(think, recorded.trace, edits=edits, tools_before="verify", on_miss="live")
    assert again.output == "changed"


def test_a_person_can_only_give_what_could_be_chosen() -> None:
    """An answer that was not among the choices is refused when the edit is made: the agent would
    meet what its question rules out."""

    def agent(io: wb.SyncAgentIO) -> str:
        return io.ask_human("Pay?", ["yes", "no"]) + io.ask_human("Why?")

    io = wb.live_io(human=lambda _prompt, choices: "yes" if choices else "so").sync
    recorded = wb.record(agent, io).trace
    first, second = recorded.entries
    with pytest.raises(wb.EditError, match="'maybe' was not among the answers; choose 'yes', 'no'"):
        recorded.edit().value(wb.entry(first.id), "maybe")
    edits = recorded.edit().value(wb.entry(first.id), "no").value(wb.entry(second.id), "any")
    assert wb.fork(agent, recorded, wb.live_io().sync, edits=edits).output == "noany"
