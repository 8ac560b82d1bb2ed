"""Crash and resume: two runs against the same database, and nothing is done twice."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb
from workbench.faults import Crash, HttpError


class Shop:
    """A durable agent: what it has done stands in a database, and is not done again."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path)
        self.db.execute("create table if not exists done (step text primary key, result text)")
        self.db.execute("create table if not exists paid (key text, order_id int)")
        self.keys: list[str | None] = []

        @wb.tool(effect="write", idempotency_key=lambda order_id: f"refund:{order_id}")
        def refund(order_id: int) -> str:
            """Pay money back, once for each key."""
            key = wb.idempotency_key()
            self.keys.append(key)
            known = self.db.execute("select 1 from paid where key = ?", (key,)).fetchone()
            if known is None:
                self.db.execute("insert into paid values (?, ?)", (key, order_id))
                self.db.commit()
            return f"refunded {order_id}"

        self.refund = refund

    def once(self, step: str, do: Any) -> str:
        """A step whose result is kept before it counts as done."""
        row = self.db.execute("select result from done where step = ?", (step,)).fetchone()
        if row is not None:
            return str(row[0])
        with wb.step(step):
            result = str(do())
        wb.write_event("tool_succeeded" if step == "refund" else "step_done", step)
        self.db.execute("insert into done values (?, ?)", (step, result))
        self.db.commit()
        return result

    def workflow(self) -> str:
        """Plan, pay, tell."""
        plan = self.once("plan", lambda: ask("what to do?")["content"])
        self.once("refund", lambda: self.refund(101))
        self.once("tell", lambda: ask(f"tell them: {plan}")["content"])
        return "completed"

    def payments(self) -> int:
        """How much money went out."""
        return int(self.db.execute("select count(*) from paid").fetchone()[0])


@pytest.fixture
def recorded(tmp_path: Path) -> wb.Trace:
    """A run that went well."""
    result = wb.record(Shop(tmp_path / "recorded.db").workflow)
    assert result.output == "completed"
    return result.trace


def test_a_crash_after_the_event_then_resume_pays_once(recorded: wb.Trace, tmp_path: Path) -> None:
    """The tool succeeded, the process died before that was kept: the second run asks the tool
    again, under the very same key, so that only one payment is made, and completes."""
    shop = Shop(tmp_path / "shop.db")
    with pytest.raises(wb.SimulatedCrash) as crash:
        wb.replay(
            shop.workflow,
            recorded,
            tools="live",
            tools_after="allow",
            faults=[Crash(after="tool_succeeded")],
        )
    dead = crash.value.trace
    assert dead.status == "cut short"
    assert [e.type for e in dead.events()] == ["step_done", "tool_succeeded"]
    assert shop.payments() == 1

    again = Shop(tmp_path / "shop.db")
    result = wb.replay(again.workflow, recorded, tools="live", tools_after="allow", resumes=dead)
    assert (result.status, result.output, result.notices) == ("ok", "completed", [])
    assert again.payments() == 1
    assert shop.keys == again.keys == [f"{dead.id}:refund:101"]
    assert result.trace.header.parent is not None
    assert result.trace.header.parent.options["resumes"] == dead.id


def test_a_run_that_crashes_again_and_again_pays_once(recorded: wb.Trace, tmp_path: Path) -> None:
    """A third run goes on from the second, which went on from the first: the key of a write is
    still that of the first, and what any of them did counts as done."""
    paid = Crash(after="tool_succeeded")
    dead: wb.Trace | None = None
    first = ""
    for crash in (paid, paid, Crash(when="before").at(wb.step("tell"))):
        shop = Shop(tmp_path / "shop.db")
        with pytest.raises(wb.SimulatedCrash) as died:
            wb.replay(
                shop.workflow,
                recorded,
                tools="live",
                tools_after="allow",
                faults=[crash],
                resumes=dead,
            )
        dead = died.value.trace
        first = first or dead.id
        assert shop.keys == [f"{first}:refund:101"]
    last = Shop(tmp_path / "shop.db")
    result = wb.replay(last.workflow, recorded, tools="live", tools_after="allow", resumes=dead)
    assert (result.status, result.output, result.notices) == ("ok", "completed", [])
    assert last.payments() == 1


def test_without_resumes_the_second_run_is_another_one(recorded: wb.Trace, tmp_path: Path) -> None:
    """Then its writes carry keys of its own, and what it does not do again is left over."""
    shop = Shop(tmp_path / "shop.db")
    with pytest.raises(wb.SimulatedCrash):
        wb.replay(shop.workflow, recorded, faults=[Crash(after="tool_succeeded")])
    result = wb.replay(shop.workflow, recorded)
    assert result.status == "drifted"
    assert [each.step for each in result.leftover if each.kind != "event"] == ["plan"]


def test_nothing_catches_a_crash(world: World) -> None:
    """An agent that catches every Exception dies all the same, at every later call too."""

    def agent() -> str:
        for _ in range(3):
            try:
                return str(ask("hello")["content"])
            except Exception:
                continue
        return "survived"

    recorded = wb.record(agent)
    with pytest.raises(wb.SimulatedCrash, match="before the model m-1"):
        wb.replay(agent, recorded.trace, faults=[Crash(when="before")])


def test_a_crash_before_a_call_leaves_it_open(recorded: wb.Trace, tmp_path: Path) -> None:
    """What was never answered stands in the trace as a call without a result."""
    shop = Shop(tmp_path / "shop.db")
    with pytest.raises(wb.SimulatedCrash) as crash:
        wb.replay(shop.workflow, recorded, faults=[Crash(when="before").at(tool="refund")])
    last = crash.value.trace.entries[-1]
    assert (last.kind, last.name, last.open) == ("tool", "refund", True)
    assert shop.payments() == 0


def test_a_crash_that_never_comes_is_said(recorded: wb.Trace, tmp_path: Path) -> None:
    """A fault that hit nothing fails a strict replay."""
    shop = Shop(tmp_path / "shop.db")
    result = wb.replay(shop.workflow, recorded, faults=[Crash(after="no_such_event")])
    assert result.status == "drifted"
    assert "never fired" in str(result.drift)


def test_a_retry_of_a_write_has_the_key_of_the_write(world: World) -> None:
    """A call that failed and is made again is the same write."""
    keys: list[str | None] = []

    @wb.tool(effect="write")
    def pay(order_id: int) -> str:
        keys.append(wb.idempotency_key())
        if len(keys) == 1:
            raise ConnectionError("lost")
        return f"paid {order_id}"

    def agent() -> str:
        try:
            return pay(1)
        except ConnectionError:
            first = pay(1)
        return first + pay(1)

    result = wb.record(agent)
    assert result.status == "ok"
    assert keys[0] == keys[1]
    assert keys[2] not in (None, keys[0])
    assert [e.key for e in result.trace.tools("pay")] == keys


def test_a_fault_and_a_crash_together(world: World) -> None:
    """Several faults each hit their own call."""

    def agent() -> str:
        try:
            ask("one")
        except Exception:
            ask("one")
        return str(ask("two")["content"])

    recorded = wb.record(agent)
    with pytest.raises(wb.SimulatedCrash) as crash:
        wb.replay(
            agent, recorded.trace, faults=[HttpError(500), Crash(when="after").at(wb.turn(2))]
        )
    shown = [(e.kind, e.attempt, e.source) for e in crash.value.trace.entries]
    assert shown == [("model", 1, "fault"), ("model", 2, "replayed"), ("model", 1, "replayed")]
