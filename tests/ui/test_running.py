"""Running on from a turn: the plan, the fork, the guard, cancelling, and everything that fails."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import refunds
from refunds import ModelServer

import workbench as wb
from workbench import DriftError, UsageError, Workbench
from workbench.errors import TraceExistsError
from workbench.faults import HttpError

EMAIL = ("send_email", {"to": "ada@example.com", "text": "Refunded."})


def _until(holds: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_the_recording_shows_the_flaw(bench: Workbench) -> None:
    """What the other tests change is a real run that went wrong: one order refunded thrice."""
    assert [turn.label for turn in bench.trace.turns][:4] == [
        "get_order",
        "refund",
        "refund",
        "refund",
    ]
    assert bench.widget.traces[0]["headline"].endswith("refund 3×")


def test_change_a_turn_and_run_on(bench: Workbench, model: ModelServer) -> None:
    """The main job: the second refund becomes an e-mail, and the run ends well, live from there."""
    bench.reply(3, tool_call=EMAIL)
    asked = model.asked
    result = bench.run(3, tools_after="allow")
    assert result is bench.result
    assert result is not None
    assert (result.status, result.output["answer"]) == ("ok", "The customer has been told.")
    assert model.asked == asked + 1
    assert refunds.WORLD == ["email ada@example.com"]
    assert [call.how for call in result.calls] == [
        "replayed", "replayed", "replayed", "replayed", "edited", "live", "live",
    ]  # fmt: skip
    parent, fork = bench.widget.traces
    assert (parent["headline"].endswith("refund 3×"), fork["status"], fork["tone"]) == (
        True,
        "ok",
        "ok",
    )
    assert fork["divergence"] == {"turn": 3, "text": "turn 3: refund → send_email"}
    assert (fork["cut"], fork["edited_turns"], fork["saved"]) == (3, [3], False)
    assert bench.running["state"] == "done"
    assert bench.compare().headline == "first divergence: turn 3: refund → send_email"


def test_the_plan_is_what_then_happens(bench: Workbench, ask: Any) -> None:
    """Before it starts, the page says what is served and what runs live; it comes out that way."""
    bench.reply(3, tool_call=EMAIL)
    plan = ask(bench, "plan", n=3, tools_before="replay", tools_after="allow", ripple=False)
    assert (plan["served"], plan["edited"], plan["cut"], plan["problems"]) == (4, [3], 3, [])
    assert plan["text"] == str(bench.plan(3, tools_after="allow"))
    assert plan["live"] > 0
    result = bench.run(3, tools_after="allow")
    assert result is not None
    assert sum(call.how == "replayed" for call in result.calls) == plan["served"]
    beyond = ask(bench, "plan", n=77, tools_before="replay", tools_after="allow", ripple=False)
    assert "turns 1 to 5" in beyond["problems"][0]


def test_a_live_write_is_denied_when_nobody_can_be_asked(bench: Workbench) -> None:
    """A run that is waited for must neither hang nor write: it ends, naming the choices."""
    bench.reply(3, tool_call=EMAIL)
    result = bench.run(3)
    assert result is not None
    assert result.status == "blocked"
    assert refunds.WORLD == []
    assert 'tools_after="allow"' in bench.running["message"]


def test_the_page_asks_and_the_answer_counts(bench: Workbench, ask: Any) -> None:
    """A live write waits for the person at the page; allowed, it happens once, with its own key."""
    bench.reply(3, tool_call=EMAIL)
    ask(bench, "run", n=3, tools_before="replay", tools_after="ask", ripple=False, repeat=1)
    _until(lambda: bench.widget.run["state"] == "asking")
    question = bench.widget.run["question"]
    assert question["tool"] == "send_email"
    assert question["arguments"] == {"to": "ada@example.com", "text": "Refunded."}
    assert question["turn"] == 3
    assert question["key"]
    assert refunds.WORLD == []
    ask(bench, "answer", question=question["id"], verdict="allow")
    assert bench.wait(10)
    assert refunds.WORLD == ["email ada@example.com"]
    assert bench.widget.run["state"] == "done"
    assert bench.widget.run["question"] is None


def test_a_denied_write_ends_the_run_as_blocked(bench: Workbench, ask: Any, refused: Any) -> None:
    """Denied is denied: nothing was written, and the same question cannot be answered again."""
    bench.reply(3, tool_call=EMAIL)
    ask(bench, "run", n=3, tools_before="replay", tools_after="ask", ripple=False)
    _until(lambda: bench.widget.run["state"] == "asking")
    question = bench.widget.run["question"]["id"]
    ask(bench, "answer", question=question, verdict="deny")
    assert bench.wait(10)
    assert bench.widget.run["state"] == "blocked"
    assert "send_email" in bench.widget.run["message"]
    assert refunds.WORLD == []
    assert "nothing runs" in refused(bench, "answer", question=question, verdict="allow")


def test_python_can_answer_too(bench: Workbench) -> None:
    """Headless, a function decides on each live write."""
    seen: list[str] = []

    def decide(question: Any) -> bool:
        seen.append(question.tool)
        return len(seen) == 1

    result = bench.run(2, answer=decide)
    assert result is not None
    assert (seen, result.status) == (["refund", "refund"], "blocked")
    assert refunds.WORLD == ["refund 101 149.99"]


def test_cancel_takes_effect_at_once(bench: Workbench, model: ModelServer, ask: Any) -> None:
    """While the agent waits for an answer, cancel ends the run within a fifth of a second."""
    ask(bench, "run", n=2, tools_before="replay", tools_after="ask", ripple=False)
    _until(lambda: bench.widget.run["state"] == "asking")
    began = time.monotonic()
    ask(bench, "cancel")
    assert bench.wait(5)
    assert time.monotonic() - began < 1
    assert bench.widget.run["state"] == "cancelled"
    assert refunds.WORLD == []
    assert bench.result is not None
    assert bench.result.status == "cancelled"


def test_cancel_during_a_live_call_ends_with_that_call(
    bench: Workbench, model: ModelServer, ask: Any
) -> None:
    """A call on the wire cannot be taken back: the page says so, and nothing follows it."""
    model.delay_s = 0.4
    asked = model.asked
    ask(bench, "run", n=1, tools_before="replay", tools_after="allow", ripple=False)
    _until(lambda: model.asked > asked)
    ask(bench, "cancel")
    _until(lambda: bench.widget.run["state"] in ("cancelling", "cancelled"), 1)
    assert bench.wait(5)
    assert bench.widget.run["state"] == "cancelled"
    assert model.asked == asked + 1


def test_a_second_run_is_refused_while_one_goes_on(
    bench: Workbench, model: ModelServer, ask: Any, refused: Any
) -> None:
    """One run at a time; the refusal says what to do, and the kernel stays usable meanwhile."""
    model.delay_s = 0.2
    ask(bench, "run", n=1, tools_before="replay", tools_after="allow", ripple=False)
    began = time.monotonic()
    assert "cancel it first" in refused(bench, "run", n=1, tools_after="allow")
    assert ask(bench, "turn", trace=0, n=2)["n"] == 2
    with pytest.raises(UsageError, match="a run is going on"):
        bench.run(1)
    assert time.monotonic() - began < 1
    assert bench.widget.can["run"] is False
    bench.cancel()
    assert bench.wait(10)
    assert bench.widget.can["run"] is True


def test_an_agent_that_raises_is_shown_with_its_line(bench: Workbench, model: ModelServer) -> None:
    """The exception's text and the line of the agent's own code stand in the page."""
    failing = Workbench(bench.parent, refunds.raising_agent, args=[model.base_url])
    result = failing.run(1)
    assert result is not None
    assert result.status == "failed"
    message = failing.running["message"]
    assert "KeyError: 'no account for http'" in message
    assert "refunds.py:" in message
    assert "raise KeyError" in message
    assert failing.running["state"] == "failed"


def test_a_drift_is_explained_in_full(bench: Workbench, model: ModelServer) -> None:
    """An agent that asks something else before the cut is not run on silently."""
    drifting = Workbench(bench.parent, refunds.agent, args=[model.base_url, "Order 102 is late."])
    result = drifting.run(3)
    assert result is not None
    assert result.status == "drifted"
    assert isinstance(result.drift, DriftError)
    assert drifting.running["state"] == "drifted"
    assert "102" in drifting.running["message"]


def test_a_run_that_cannot_start_says_why(bench: Workbench) -> None:
    """A wrong turn is refused before anything runs; a broken setup is shown like an agent."""
    with pytest.raises(wb.errors.PlaceError, match="turns 1 to 5"):
        bench.run(44)

    def setup() -> None:
        raise OSError("no disk for the world")

    broken = Workbench(bench.parent, refunds.agent, setup=setup)
    broken.run(2)
    assert broken.running["state"] == "failed"
    assert "OSError: no disk for the world" in broken.running["message"]
    assert "in setup" in broken.running["message"]


def test_an_injected_fault_reaches_the_agent(bench: Workbench) -> None:
    """A 429 from the form is the SDK's own exception in the agent, and marked in the fork."""
    bench.fault(HttpError(429).at(wb.turn(2)))
    result = bench.run(2, tools_after="allow")
    assert result is not None
    assert result.status == "failed"
    assert "RateLimitError" in bench.running["message"]
    rows = bench._requests.handle({"do": "rows", "trace": 1, "start": 1, "stop": 9})
    assert "fault" in rows[1]["marks"]


def test_messages_come_at_most_ten_times_a_second_and_the_end_twice(
    bench: Workbench, model: ModelServer
) -> None:
    """A flood of messages leaves the bar at half for ever; a lost last one does too."""
    told: list[tuple[float, dict[str, Any]]] = []

    def take(_kind: str, data: Any = None, **_: Any) -> None:
        if data and data.get("method") == "update" and "run" in data["state"]:
            told.append((time.monotonic(), data["state"]["run"]))

    bench.widget.comm.publish_msg = take
    model.delay_s = 0.03
    bench.run(1, tools_after="allow")
    time.sleep(0.5)
    states = [state["state"] for _, state in told]
    assert states[-2:] == ["done", "done"]
    times = [when for when, state in told if state["state"] == "running"]
    assert all(b - a > 0.08 for a, b in pairwise(times))
    assert told[-1][1]["done"] == len(bench.result.calls) if bench.result else False


def test_forks_stay_in_memory_until_saved_and_nothing_is_overwritten(
    bench: Workbench, ask: Any, refused: Any, refund_path: Path, tmp_path: Path
) -> None:
    """A fork goes where it is told to, once; the parent's file never changes."""
    before = refund_path.read_bytes()
    with pytest.raises(UsageError, match="run a fork first"):
        bench.save()
    bench.run(5)
    files = set(refund_path.parent.iterdir())
    target = tmp_path / "kept.trace.jsonl"
    assert ask(bench, "save", trace=1, path=str(target)) == {"path": str(target)}
    assert wb.load(target).parent.id == bench.parent.id  # type: ignore[union-attr]
    assert bench.widget.traces[1]["saved"] is True
    assert "kept.trace.jsonl" in refused(bench, "save", trace=1, path=str(target))
    with pytest.raises(TraceExistsError):
        bench.save(refund_path)
    own = bench.save()
    assert own == refund_path.with_name("refund-fork1.trace.jsonl")
    assert bench.save() == refund_path.with_name("refund-fork2.trace.jsonl")
    for path in set(refund_path.parent.iterdir()) - files:
        path.unlink()
    assert refund_path.read_bytes() == before


def test_the_fork_stands_beside_its_parent(bench: Workbench, ask: Any) -> None:
    """Outcome, turns, tools, cost and time of both, with the first divergence as the headline."""
    bench.reply(3, tool_call=EMAIL)
    bench.run(3, tools_after="allow")
    compared = ask(bench, "compare", a=0, b=1)
    assert compared["headline"] == "first divergence: turn 3: refund → send_email"
    assert [line["tools"] for line in compared["table"]] == [
        {"get_order": 1, "refund": 3},
        {"get_order": 1, "refund": 1, "send_email": 1},
    ]
    changed = next(row for row in compared["rows"] if row["kind"] != "same")
    assert (changed["a"], changed["b"]) == (3, 3)
    assert changed["text_a"].startswith("refund")
    assert changed["text_b"].startswith("send_email")


def test_a_fork_can_be_looked_at_and_forked_again(bench: Workbench, ask: Any) -> None:
    """Forks of forks: the page shows the fork, and its own edits and runs start from it."""
    bench.reply(3, tool_call=EMAIL)
    bench.run(3, tools_after="allow")
    bench.widget.set_state({"shown": 1})
    assert bench.trace is bench.result.trace if bench.result else False
    assert len(bench.edits) == 0
    rows = ask(bench, "rows", trace=1, start=1, stop=9)
    assert rows[2]["marks"] == ["edited", "live"]
    assert rows[3]["source"] == "live"
    bench.reply(4, text="Nothing was told.")
    again = bench.run(4, tools_after="allow")
    assert again is not None
    assert again.output["answer"] == "Nothing was told."
    assert bench.widget.traces[2]["divergence"]["turn"] == 4
    bench.show(0)
    assert len(bench.edits) == 1


def test_the_setup_makes_a_fresh_world_for_each_run(bench: Workbench, model: ModelServer) -> None:
    """With the recorded tools run again before the cut, the world holds exactly what they did."""
    worlds: list[int] = []

    def setup() -> None:
        refunds.WORLD.clear()
        worlds.append(1)

    fresh = Workbench(bench.parent, refunds.agent, args=[model.base_url], setup=setup)
    fresh.reply(3, tool_call=EMAIL)
    fresh.run(3, tools_before="verify", tools_after="allow")
    assert refunds.WORLD == ["refund 101 149.99", "email ada@example.com"]
    fresh.run(3, tools_before="replay", tools_after="allow")
    assert (refunds.WORLD, len(worlds)) == (["email ada@example.com"], 2)


def test_the_python_of_a_run_runs(bench: Workbench, model: ModelServer) -> None:
    """Copy Python after a run: the script makes the same fork without the workbench."""
    bench.reply(3, tool_call=EMAIL)
    bench.run(3, tools_after="allow")
    names: dict[str, Any] = {"agent": refunds.agent}
    script = bench.python.replace("print(edits.preview())", "")
    assert "live_from=wb.turn(3)" in script
    exec(script, names)  # noqa: S102 - this very text is what the page offers to copy
    assert names["result1"].output == (bench.result.output if bench.result else None)
    assert [turn.label for turn in names["fork1"].turns] == [
        turn.label for turn in bench.forks[0].trace.turns
    ]


def test_several_runs_in_a_row(bench: Workbench) -> None:
    """Asked for three, the workbench makes three forks, one after the other."""
    bench.reply(3, tool_call=EMAIL)
    bench.run(3, tools_after="allow", repeat=3)
    assert [fork.status for fork in bench.forks] == ["ok", "ok", "ok"]
    assert [info["name"] for info in bench.widget.traces[1:]] == ["fork 1", "fork 2", "fork 3"]


def test_an_async_agent_runs_from_a_notebook(bench: Workbench, model: ModelServer) -> None:
    """The run has a thread and a loop of its own, whatever loop the notebook has."""
    import asyncio

    async def agent(base_url: str) -> Any:
        return await asyncio.to_thread(refunds.agent, base_url)

    async def notebook() -> Any:
        own = Workbench(bench.parent, agent, args=[model.base_url])
        own.reply(3, tool_call=EMAIL)
        return own.run(3, tools_after="allow")

    result = asyncio.run(notebook())
    assert result.output["answer"] == "The customer has been told."


def test_the_run_is_a_daemon_thread(bench: Workbench, model: ModelServer) -> None:
    """A run that hangs does not keep the kernel from ending."""
    model.delay_s = 0.3
    bench.run(1, wait=False, tools_after="allow")
    runs = [each for each in threading.enumerate() if each.name == "workbench-run"]
    assert [each.daemon for each in runs] == [True]
    bench.cancel()
    assert bench.wait(5)
