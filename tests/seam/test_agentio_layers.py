"""Kinds of io around one another: each is a session of its own, and they compose."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostore import SCRIPT, Shop, agent, said, sync_agent

import workbench as wb
from workbench.faults import ConnectionReset, Fault, HttpError, StreamTruncate, Timeout

Body = dict[str, Any]


def echo(body: Body) -> str:
    """A model that says again what it was told."""
    return f"re: {body['messages'][-1]['content']}"


def ask(io: wb.SyncAgentIO, text: str) -> str:
    """One question."""
    return io.call_model(model="m", messages=said(text)).text


def test_a_recording_io_keeps_what_passes_it(tmp_path: Path) -> None:
    """It needs no session around it; its trace is complete when its block ends, and replays as the
    recording of a whole run does."""
    shop = Shop()
    path = tmp_path / "run.trace.jsonl"
    with wb.recording_io(wb.scripted_io(SCRIPT, tools=shop.tools, human=["no"]), to=path) as io:
        output = asyncio.run(agent(io, "Pay 101 back."))
        assert io.trace.status == "cut short"
    assert io.result.status == "ok"
    trace = wb.load(path)
    assert trace.status == "ok"
    assert [e.kind for e in trace.entries].count("tool") == 3
    shop.ran.clear()
    with wb.replaying_io(path) as io:
        assert asyncio.run(agent(io, "Pay 101 back.")) == output
    assert shop.ran == []
    assert io.result.status == "ok"


def test_the_blocking_twin_shares_the_sessions() -> None:
    """``sync`` is another way into the same io: its calls are in the same trace."""
    with wb.recording_io(wb.live_io(model=echo)) as io:
        first = ask(io.sync, "a")
        second = asyncio.run(_aask(io, "b"))
    assert [turn.text for turn in io.trace.turns] == [first, second] == ["re: a", "re: b"]
    sync = wb.scripted_io(SCRIPT, tools=Shop().tools, human=["yes"]).sync
    assert sync_agent(sync, "hi")["choice"] == "yes"


async def _aask(io: wb.AgentIO, text: str) -> str:
    return (await io.call_model(model="m", messages=said(text))).text


def test_what_drifts_is_raised_at_the_end_of_the_block() -> None:
    """An agent that swallows the drift, or asks less than was recorded, does not pass."""
    with wb.recording_io(wb.live_io(model=echo)) as recorded:
        ask(recorded.sync, "a")
        ask(recorded.sync, "b")
    io = wb.replaying_io(recorded.trace)
    with pytest.raises(wb.DriftError, match="1 recorded"), io:
        ask(io.sync, "a")
    swallowing = wb.replaying_io(recorded.trace)

    def swallow(io: wb.SyncAgentIO) -> None:
        with contextlib.suppress(wb.DriftError):
            ask(io, "other")

    with pytest.raises(wb.DriftError, match="other"), swallowing:
        swallow(swallowing.sync)
    assert swallowing.result.status == "drifted"
    with pytest.raises(ZeroDivisionError), wb.replaying_io(recorded.trace) as failing:
        _ = 1 / 0
    assert failing.result.status == "failed"


def test_a_fork_goes_on_to_the_inner_io() -> None:
    """Past the cut, calls reach the io inside; without one it is refused before anything runs."""
    with wb.recording_io(wb.live_io(model=echo)) as recorded:
        for text in "abc":
            ask(recorded.sync, text)
    inner = wb.live_io(model=lambda body: "new " + body["messages"][0]["content"])
    with wb.replaying_io(recorded.trace, inner, live_from=wb.turn(3)) as io:
        assert [ask(io.sync, text) for text in "abc"] == ["re: a", "re: b", "new c"]
    assert [call.how for call in io.result.calls] == ["replayed", "replayed", "live"]
    with pytest.raises(wb.UsageError, match="with these options calls go live"):
        wb.replaying_io(recorded.trace, on_miss="live")
    with pytest.raises(wb.UsageError, match="replaying_io\\(\\) has no option onmiss="):
        wb.replaying_io(recorded.trace, onmiss="live")


def test_faults_hit_through_every_composition() -> None:
    """The same error reaches the agent whichever session stands outside; a recording outside the
    faults keeps the failure, one inside keeps only what was asked of the model."""
    fault = HttpError(503, body="busy").at(nth=2)
    for outside in ("recording", "faulty"):
        world = wb.live_io(model=echo)
        if outside == "recording":
            kept = io = wb.recording_io(wb.faulty_io(world, [fault]))
        else:
            kept = wb.recording_io(world)
            io = wb.faulty_io(kept, [fault])
        with io:
            assert ask(io.sync, "a") == "re: a"
            with pytest.raises(wb.ServerFailedError) as caught:
                ask(io.sync, "b")
            assert (caught.value.status, caught.value.body) == (503, "busy")
            assert ask(io.sync, "b") == "re: b"
        statuses = [e.error.status if e.error else None for e in kept.trace.entries]
        assert statuses == ([None, 503, None] if outside == "recording" else [None, None])
        with wb.replaying_io(kept.trace) as again:
            assert ask(again.sync, "a") == "re: a"
            if outside == "recording":
                with pytest.raises(wb.ServerFailedError, match="503"):
                    ask(again.sync, "b")
            assert ask(again.sync, "b") == "re: b"


def test_a_fault_that_hits_nothing_is_said() -> None:
    """A test of a failure that never happened does not pass."""
    with (
        pytest.raises(
            wb.DriftError, match=r"the fault HTTP 500 never fired: no call met its aim \(call 9\)"
        ),
        wb.faulty_io(wb.live_io(model=echo), [HttpError(500).at(nth=9)]) as io,
    ):
        ask(io.sync, "a")
    with wb.faulty_io(wb.live_io(model=echo), [HttpError(500).at(nth=9)], strict=False) as io:
        ask(io.sync, "a")
    assert [fault.label for fault in io.result.unfired] == ["HTTP 500"]


def test_a_stream_breaks_where_the_fault_says() -> None:
    """Chunks come up to there, then the connection is lost; the retry gets it all."""
    with wb.faulty_io(
        wb.scripted_io(["word " * 20, "word " * 20]), [StreamTruncate(2, end="reset")]
    ) as io:
        stream = io.sync.stream_model(model="m", messages=said("hi"))
        got: list[str] = []
        with pytest.raises(wb.ConnectionLostError):
            got.extend(chunk.text for chunk in stream)
        assert got == ["word word word word ", "word word word word "]
        with pytest.raises(wb.UsageError, match="read to its end"):
            _ = stream.reply
        assert io.sync.stream_model(model="m", messages=said("hi")).read().text == "word " * 20


def test_a_reader_that_stops_early_is_recorded_as_such() -> None:
    """A stream let go of halfway keeps the chunks that were read, and replays them."""

    async def first(io: wb.AgentIO) -> str:
        async with io.stream_model(model="m", messages=said("hi")) as stream:
            async for chunk in stream:
                return chunk.text
        return ""

    with wb.recording_io(wb.scripted_io(["word " * 20])) as recorded:
        live = asyncio.run(first(recorded))
    (entry,) = recorded.trace.entries
    assert (entry.ended, len(entry.chunks)) == ("stopped", 1)
    with wb.replaying_io(recorded.trace) as io:
        assert asyncio.run(first(io)) == live


def test_what_a_tool_does_by_itself_goes_to_the_recording() -> None:
    """Ids drawn inside a tool are in the trace of the io that records, inside the tool's call, also
    where another session stands around it."""

    def stamp() -> str:
        return wb.new_id()

    faults = [HttpError(500)]
    with wb.faulty_io(wb.recording_io(wb.live_io(tools=[stamp])), faults, strict=False) as io:
        ident = io.sync.call_tool("stamp")
        after = io.new_id()
    recorded = wb.recording_io(wb.live_io(tools=[stamp]))
    with recorded as inner, wb.faulty_io(inner, faults, strict=False) as io:
        ident, after = io.sync.call_tool("stamp"), io.new_id()
    tool, inside, outside = recorded.trace.entries
    assert (inside.value, inside.enclosing) == (ident, tool.id)
    assert (outside.value, outside.enclosing) == (after, None)


def test_a_block_ends_only_what_it_opened() -> None:
    """An io used inside another block stays open until its own block ends; a closed one says so."""
    with wb.recording_io(wb.live_io(model=echo)) as recorded:
        with wb.faulty_io(recorded, [Timeout()]) as io, pytest.raises(wb.ModelTimeoutError):
            ask(io.sync, "a")
        assert ask(recorded.sync, "b") == "re: b"
    assert [turn.text for turn in recorded.trace.turns] == ["re: b"]
    with pytest.raises(wb.UsageError, match="this recording io is closed"):
        ask(recorded.sync, "c")
    alone = wb.recording_io(wb.live_io(model=echo))
    ask(alone.sync, "a")
    alone.close()
    assert alone.trace.status == "ok"


def test_a_session_around_an_io_of_its_own_sees_the_calls_too() -> None:
    """An agent under a recording, with an io that fails on purpose: the recording has the failure,
    and replays without any of it."""

    def retrying(io: wb.SyncAgentIO) -> str:
        try:
            return ask(io, "a")
        except wb.ConnectionLostError:
            return ask(io, "a")

    with wb.faulty_io(wb.live_io(model=echo), [ConnectionReset()]) as io:
        live = wb.record(retrying, io=io.sync)
    assert live.output == "re: a"
    assert [e.error.type if e.error else None for e in live.trace.entries] == [
        "ConnectionLostError",
        None,
    ]
    assert wb.replay(retrying, live.trace).output == "re: a"


Step = tuple[str, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["model", "stream", "tool", "ask", "event", "id"]),
        st.text("ab", max_size=2),
    ),
    max_size=6,
)
FAULTS = st.lists(
    st.builds(
        lambda fault, nth: fault.at(nth=nth),
        st.sampled_from([HttpError(429, retry_after_s=1), Timeout(), StreamTruncate(1)]),
        st.integers(1, 4),
    ),
    max_size=2,
)
ORDERS = st.lists(st.sampled_from(["record", "fault"]), min_size=1, max_size=4).filter(
    lambda order: order.count("fault") <= 1
)


def walk(io: wb.SyncAgentIO, steps: list[Step]) -> list[Any]:
    """What an agent sees that takes these steps."""
    seen: list[Any] = []
    for what, text in steps:
        try:
            if what == "model":
                seen.append(ask(io, text))
            elif what == "stream":
                seen.append([c.raw for c in io.stream_model(model="m", messages=said(text))])
            elif what == "tool":
                seen.append(io.call_tool("upper" if text else "nothing", {"text": text}))
            elif what == "ask":
                seen.append(io.ask_human(text, ["yes"]))
            elif what == "event":
                io.write_event("seen", [text])
            else:
                io.new_id()
        except (wb.ModelError, wb.UnknownToolError) as error:
            seen.append((type(error).__name__, str(error), getattr(error, "status", None)))
    return seen


def upper(text: str) -> str:
    """A tool."""
    return text.upper()


@given(steps=STEPS, faults=FAULTS, order=ORDERS)
def test_any_order_of_sessions_looks_the_same_to_the_agent(
    steps: list[Step], faults: list[Fault], order: list[str]
) -> None:
    """However recordings and faults are put around each other, an agent sees what it sees with the
    faults alone; and each recording that keeps the faults replays to the same."""

    def made(layers: list[str]) -> tuple[Any, list[Any]]:
        io: Any = wb.live_io(model=echo, tools=[upper], human=lambda *_: "yes")
        recordings = []
        for layer in layers:
            if layer == "record":
                io = wb.recording_io(io)
                recordings.append((io, "fault" in layers[: len(layers)]))
            else:
                io = wb.faulty_io(io, faults, strict=False)
        return io, recordings

    io, recordings = made(order)
    with io:
        seen = walk(io.sync, steps)
    plain, _ = made(["fault"] if "fault" in order else ["record"])
    with plain:
        assert walk(plain.sync, steps) == seen
    outermost = order[-1] == "record"
    if outermost:
        with wb.replaying_io(io.trace) as again:
            assert walk(again.sync, steps) == seen
    assert recordings or order == ["fault"]
