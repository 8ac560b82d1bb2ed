"""Forks: a changed past, the part before the cut from the trace, the rest live."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask
from tillshop import DONE, Clerk, agent, call, fresh_shop, script

import workbench as wb
from workbench.errors import PlaceError


def test_a_fork_replays_up_to_the_cut_and_runs_on_live(doubled: wb.Trace, world: World) -> None:
    """The second refund becomes a mail: before it from the trace, after it live, and it shows."""
    edits = doubled.edit().reply(wb.turn(3), tool_call=("send_email", {"to": "ada@example.com"}))
    world.answer = script(DONE)
    with fresh_shop() as now:
        fork = wb.fork(
            agent, doubled, edits=edits, live_from=wb.turn(4), tools_after="allow", name="fixed"
        )
        assert now.refunds() == []
    assert (fork.status, fork.output) == ("ok", "all done")
    assert [(c.kind, c.name, c.how, c.reason) for c in fork.calls] == [
        ("model", "m-1", "replayed", "hit"),
        ("tool", "get_order", "replayed", "hit"),
        ("model", "m-1", "replayed", "hit"),
        ("tool", "refund", "replayed", "hit"),
        ("model", "m-1", "edited", "edited"),
        ("tool", "send_email", "live", "cut"),
        ("model", "m-1", "live", "cut"),
    ]
    assert len(world.ran) == 1
    assert world.ran[0]["messages"][-1]["content"] == "sent"
    assert fork.leftover == []


def test_the_plan_is_said_before_and_holds(doubled: wb.Trace) -> None:
    """3 recorded calls and an edit before the cut, the rest live: counted before anything runs."""
    edits = doubled.edit().reply(wb.turn(3), tool_call=("send_email", {"to": "a@example.com"}))
    plan = wb.plan(doubled, edits=edits, live_from=wb.turn(4), tools_after="ask")
    assert (plan.served, plan.live, plan.live_writes, plan.edited) == (4, 4, 2, ("turn 3",))
    assert str(plan).startswith("4 calls from the trace · turn 3 edited · about 4 live")
    assert "live writes: 2 of them ask first" in str(plan)


def test_the_fork_names_its_parent_and_replays_by_itself(
    doubled: wb.Trace, world: World, tmp_path: Path
) -> None:
    """A fork is a trace of its own: it names parent, cut and edits, and replays without them."""
    edits = doubled.edit().reply(wb.turn(3), text="I stop here.", tool_calls=[])
    path = tmp_path / "fork.trace.jsonl"
    fork = wb.fork(agent, doubled, edits=edits, live_from=wb.turn(4), to=path)
    assert (fork.status, fork.output) == ("ok", "I stop here.")
    loaded = wb.load(path)
    assert loaded.parent is not None
    assert (loaded.parent.id, loaded.parent.cut) == (doubled.id, "turn:4")
    assert loaded.parent.edits[0]["text"] == "I stop here."
    assert [entry.origin for entry in loaded.entries] == ["1-1", "1-2", "1-3", "1-4", "1-5"]
    assert loaded.models()[2].source == "edited"
    assert wb.replay(agent, path).output == "I stop here."
    assert world.ran == []


def test_verify_rebuilds_the_world_before_the_cut(doubled: wb.Trace, world: World) -> None:
    """With a fresh world and verify exactly the refunds before the cut are really there."""
    edits = doubled.edit().reply(wb.turn(3), text="enough", tool_calls=[])
    seen: list[list[tuple[Any, ...]]] = []

    @contextmanager
    def setup() -> Iterator[None]:
        with fresh_shop() as now:
            yield
            seen.append(now.refunds())

    fork = wb.fork(
        agent, doubled, edits=edits, live_from=wb.turn(4), setup=setup, tools_before="verify"
    )
    assert fork.status == "ok"
    (refunds,) = seen
    assert [row[:2] for row in refunds] == [(101, 149.99)]
    assert refunds[0][2].startswith(fork.trace.id)
    assert [(c.how, c.reason) for c in fork.calls if c.kind == "tool"] == [("live", "verify")] * 2
    assert world.ran == []


def test_verify_names_a_tool_that_gives_something_else(doubled: wb.Trace) -> None:
    """A world that is not the recorded one shows at once: call, both results, what to do."""

    @contextmanager
    def dirty() -> Iterator[None]:
        with fresh_shop() as now:
            now.db.execute("insert into refunds (order_id) values (7)")
            yield

    fork = wb.fork(agent, doubled, live_from=wb.turn(5), setup=dirty, tools_before="verify")
    assert fork.status == "drifted"
    text = str(fork.drift)
    assert "tool 'refund' at tillshop.py:" in text
    assert 'recorded  {"refund_id":"RF-1"}' in text
    assert 'now       {"refund_id":"RF-2"}' in text
    assert "check that setup=" in text


def test_recorded_writes_run_again_unasked_only_in_a_fresh_world(doubled: wb.Trace) -> None:
    """Without setup= "verify" would pay again in the real world: that is denied like any write."""
    with fresh_shop() as real:
        fork = wb.fork(agent, doubled, live_from=wb.turn(4), tools_before="verify")
        assert fork.status == "blocked"
        assert real.refunds() == []
        clerk = Clerk("allow", "deny")
        asked = wb.fork(
            agent,
            doubled,
            live_from=wb.turn(4),
            tools_before="verify",
            tools_after="ask",
            controller=clerk,
        )
        assert asked.status == "blocked"
        assert len(real.refunds()) == 1
    assert [question.turn for question in clerk.questions] == [2, 3]


def test_a_live_write_is_denied_by_default(doubled: wb.Trace, world: World) -> None:
    """The run ends blocked, naming the call and the choices; nothing was written."""
    world.answer = script(call("refund", order_id=101, amount=149.99))
    with fresh_shop() as now:
        fork = wb.fork(agent, doubled, live_from=wb.turn(3))
        assert now.refunds() == []
    assert fork.status == "blocked"
    assert isinstance(fork.error, wb.RunBlocked)
    assert "refund(order_id=101, amount=149.99) at tillshop.py:" in str(fork.error)
    assert 'tools_after="allow"' in str(fork.error)
    assert fork.trace.status == "blocked"


def test_a_live_write_asks_and_carries_a_key_of_its_own(doubled: wb.Trace, world: World) -> None:
    """Each live write is asked for; allowed it runs, under a key that no recording has."""
    pay = call("refund", order_id=101, amount=149.99)
    world.answer = script(pay, pay)
    clerk = Clerk("allow", "deny")
    with fresh_shop() as now:
        fork = wb.fork(agent, doubled, live_from=wb.turn(3), tools_after="ask", controller=clerk)
        ((order, _, key),) = now.refunds()
    assert fork.status == "blocked"
    assert order == 101
    assert key.startswith(fork.trace.id)
    assert key not in {entry.key for entry in doubled.tools()}
    assert [q.arguments for q in clerk.questions] == [{"order_id": 101, "amount": 149.99}] * 2
    assert clerk.questions[0].key == key
    assert "refund writes and is about to run for real" in clerk.questions[0].text
    assert [p.done for p in clerk.progress] == list(range(1, len(fork.calls) + 1))


def test_the_parent_is_never_changed(doubled: wb.Trace, world: World, tmp_path: Path) -> None:
    """Forking a file leaves its bytes as they were; forking onto it is refused."""
    path = doubled.save(tmp_path / "parent.trace.jsonl")
    before = path.read_bytes()
    world.answer = script(DONE)
    wb.fork(agent, path, live_from=wb.turn(3))
    with pytest.raises(wb.TraceError):
        wb.fork(agent, path, live_from=wb.turn(3), to=path)
    assert path.read_bytes() == before


def test_a_fork_at_the_end_equals_a_replay(doubled: wb.Trace, world: World) -> None:
    """Nothing edited, cut after the last turn: the same as a replay, nothing live."""
    fork = wb.fork(agent, doubled, live_from=wb.turn(6))
    assert (fork.status, fork.output) == ("ok", "all done")
    assert {c.how for c in fork.calls} == {"replayed"}
    assert fork.diff().same
    assert world.ran == []


def test_a_place_that_is_not_there_is_refused_with_the_range(doubled: wb.Trace) -> None:
    """turn(9) of 5, a step in a trace without steps, a bare number: each says what there is."""
    with pytest.raises(PlaceError, match="5"):
        wb.fork(agent, doubled, live_from=wb.turn(9))
    with pytest.raises(PlaceError, match="names no steps at all"):
        wb.fork(agent, doubled, live_from=wb.step("plan"))
    with pytest.raises(wb.UsageError, match="a bare number could mean any of them"):
        wb.fork(agent, doubled, live_from=3)  # type: ignore[arg-type]


def test_a_predicate_cuts_at_the_first_entry_that_meets_it(doubled: wb.Trace, world: World) -> None:
    """live_from= a function: everything from the first refund on runs live."""
    world.answer = script(DONE)
    fork = wb.fork(
        agent, doubled, live_from=lambda entry: entry.name == "refund", tools_after="allow"
    )
    assert [(c.name, c.how) for c in fork.calls] == [
        ("m-1", "replayed"),
        ("get_order", "replayed"),
        ("m-1", "replayed"),
        ("refund", "live"),
        ("m-1", "live"),
    ]
    assert fork.calls[3].reason == "cut"


def test_a_forks_fork_keeps_where_each_entry_came_from(doubled: wb.Trace, world: World) -> None:
    """Forking a fork works, and its own edited reply is served as recorded."""
    world.answer = script(DONE)
    first = wb.fork(
        agent,
        doubled,
        edits=doubled.edit().reply(wb.turn(3), tool_call=("get_order", {"order_id": 5})),
        live_from=wb.turn(5),
        on_miss="live",
    )
    assert first.status == "ok"
    second = wb.fork(agent, first.trace, live_from=wb.turn(4))
    assert second.trace.parent is not None
    assert second.trace.parent.id == first.trace.id
    assert second.trace.models()[2].origin == first.trace.models()[2].id


def test_a_fork_and_its_parent_share_one_clock(world: World) -> None:
    """Replayed turns stand in the fork's timeline where they stood in the parent's, and count in
    its time, although they took none."""

    def slowly(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.05)
        return {"content": f"re: {body['messages'][-1]['content']}"}

    def three() -> list[str]:
        return [ask(word)["content"] for word in ("one", "two", "three")]

    world.answer = slowly
    recorded = wb.record(three)
    fork = wb.fork(three, recorded.trace, live_from=wb.turn(3))
    ended = 0.0
    for _, start, length, *_ in fork.trace.timeline():
        assert start is not None
        assert length is not None
        assert start >= ended
        assert length >= 0.05
        ended = start + length - 0.001  # times of day and durations come from two clocks
    assert fork.trace.elapsed_s is not None
    assert fork.trace.duration_s is not None
    assert fork.trace.elapsed_s > fork.trace.duration_s


def test_a_wait_to_be_allowed_is_not_the_forks_time(doubled: wb.Trace, world: World) -> None:
    """Whoever takes their time to answer does not make the fork slow."""

    class Slow(Clerk):
        def on_question(self, question: wb.Question) -> None:
            time.sleep(0.4)
            super().on_question(question)

    world.answer = script(DONE)
    edits = doubled.edit().reply(wb.turn(3), tool_call=("send_email", {"to": "a@example.com"}))
    with fresh_shop():
        fork = wb.fork(
            agent,
            doubled,
            edits=edits,
            live_from=wb.turn(4),
            tools_after="ask",
            controller=Slow("allow"),
        )
    (mail,) = fork.trace.tools("send_email")
    assert mail.held_s is not None
    assert mail.held_s >= 0.4
    for seconds in (fork.trace.turn(3).duration_s, fork.trace.elapsed_s):
        assert seconds is not None
        assert seconds < 0.4


def test_a_fork_in_memory_is_named_by_its_parent() -> None:
    """However it was made: by a call, in a block, of a trace with a name or of one without."""

    def quiet() -> str:
        return "done"

    recorded = wb.record(quiet, name="first").trace
    assert wb.fork(quiet, recorded).trace.name == "first (fork)"
    with wb.forking(recorded) as run:
        quiet()
    assert run.trace.name == "first (fork)"
    with wb.recording() as unnamed:
        quiet()
    with wb.forking(unnamed.trace) as run:
        quiet()
    assert run.trace.name == f"{unnamed.trace.id} (fork)"
