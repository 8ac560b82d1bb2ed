"""Recordings written by hand, replayed."""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from handmade import client, put
from scripted import HttpStatus, Lost, World, ask

import workbench as wb
from workbench.errors import DriftError, SimulatedCrash, TraceNotFoundError
from workbench.trace.byhand import agentloom_hash

FLAKY = """\
_version: 2
draft:
  - fault: {type: http_error, status_code: 429, retry_after_s: 30}
  - fault: {type: http_error, status_code: 503, body: upstream overloaded}
  - content: Release 1.4 ships Thursday.
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Puts a recording into a file."""
    return functools.partial(put, tmp_path)


def draft(tries: int = 3) -> str:
    """An agent that tries again when its provider fails."""
    with wb.step("draft"):
        for attempt in range(tries):
            try:
                return str(ask("Draft a note.")["content"])
            except (HttpStatus, Lost, TimeoutError):
                wb.sleep(2**attempt)
    return "gave up"


def draft_with_sdk() -> str:
    """The same agent on a real SDK, whose own exceptions it knows."""
    with wb.step("draft"), client() as model:
        for attempt in range(3):
            try:
                reply = model.chat.completions.create(
                    model="gpt-4o-mini", messages=[{"role": "user", "content": "Draft a note."}]
                )
                return str(reply.choices[0].message.content)
            except (openai.RateLimitError, openai.InternalServerError) as error:
                wait = float(error.response.headers.get("retry-after", 2**attempt))
                wb.sleep(wait)
    return "gave up"


@pytest.mark.parametrize("agent", [draft, draft_with_sdk])
def test_two_failures_then_the_text_at_once(
    write: Write, world: World, agent: Callable[[], str]
) -> None:
    """The fault recording replays through any door: two failures, the answer, and no waiting."""
    begun = time.monotonic()
    run = wb.replay(agent, write(FLAKY, "flaky-draft.yaml"))
    assert time.monotonic() - begun < 10  # the recorded waits alone are 30 seconds
    assert (run.status, run.output) == ("ok", "Release 1.4 ships Thursday.")
    assert [each.how for each in run.calls] == ["replayed"] * 3
    assert [each.attempt for each in run.trace.models()] == [1, 2, 3]
    assert [each.error.status for each in run.trace.models() if each.error] == [429, 503]
    assert world.ran == []


@pytest.mark.parametrize("agent", [draft, draft_with_sdk])
def test_the_documentations_own_recording_replays(
    shared_data: Path, agent: Callable[[], str]
) -> None:
    """AgentLoom's fault recording, as its documentation has it, opens and replays here."""
    path = shared_data / "agentloom" / "recordings" / "FROM_DOCS_fault_replay.json"
    run = wb.replay(agent, path)
    assert run.status == "ok"
    assert run.output == "Release 1.4 is in final testing and ships Thursday."


def test_a_single_entry_answers_every_call(write: Write) -> None:
    """An entry that is no list is served as often as it is asked for, each time a fresh copy."""

    def agent() -> list[Any]:
        with wb.step("draft"):
            said = [ask(f"number {n}") for n in range(3)]
        said[0]["content"] = "changed by the agent"
        return [each["content"] for each in said]

    run = wb.replay(agent, write({"draft": {"content": "always"}}))
    assert (run.status, run.output) == ("ok", ["changed by the agent", "always", "always"])


def test_a_single_fault_fails_every_try(write: Write) -> None:
    """Retries cannot recover from an entry that is a fault and no list."""
    run = wb.replay(draft, write({"draft": {"fault": {"type": "connection_reset"}}}))
    assert (run.status, run.output) == ("ok", "gave up")
    assert len(run.calls) == 3


def test_a_list_is_served_in_order_and_then_is_over(write: Write) -> None:
    """One turn for each call; the call after the last one fails, and says how many there were."""

    def agent(calls: int) -> list[Any]:
        with wb.step("draft"):
            return [ask(f"number {n}")["content"] for n in range(calls)]

    path = write({"draft": [{"content": "one"}, {"content": "two"}]})
    assert wb.replay(agent, path, 2).output == ["one", "two"]
    run = wb.replay(agent, path, 3)
    assert run.status == "drifted"
    assert "the recording holds 2 turns for step 'draft', all served" in str(run.drift)
    lenient = wb.replay(agent, path, 4, on_miss="placeholder")
    assert lenient.output == ["one", "two", "two", "two"]


# -- missing step, changed request, missing file: strict and lenient


def test_a_missing_step_fails(write: Write) -> None:
    """Strict: a step that the recording does not have fails the replay, and is named."""
    run = wb.replay(draft, write({"review": {"content": "x"}}))
    assert run.status == "drifted"
    assert isinstance(run.drift, DriftError)
    said = "no recorded response for step 'draft'; it has the steps 'review'"
    assert said in str(run.drift)


def test_a_missing_step_gets_a_placeholder(write: Write) -> None:
    """Lenient: it is answered, with a warning."""
    path = write({"review": {"content": "x"}})
    run = wb.replay(draft, path, on_miss="placeholder")
    assert run.output == "Mock response"
    assert "nothing recorded fits; a placeholder was served" in str(run.notices)


ASKED = {"model": "m-1", "messages": [{"role": "user", "content": "Draft a note."}]}


def _hashed(asked: Any = ASKED) -> dict[str, Any]:
    turns = [{"content": "first", "request_hash": agentloom_hash(asked)}]
    return {"draft": turns}


def test_the_same_request_is_served(write: Write) -> None:
    """Strict: an entry with AgentLoom's hash answers the request that it was recorded for."""
    assert wb.replay(draft, write(_hashed())).output == "first"


def test_a_changed_request_fails(write: Write) -> None:
    """Strict: any change of the request is found by AgentLoom's own hash."""
    run = wb.replay(draft, write(_hashed({**ASKED, "temperature": 0.5})))
    assert run.status == "drifted"
    before, now = agentloom_hash({**ASKED, "temperature": 0.5}), agentloom_hash(ASKED)
    assert (
        f"the replayed request (hash {now[:12]}…) does not match the recording "
        f"(hash {before[:12]}…, entry 1-1)"
    ) in str(run.drift)


def test_a_changed_request_gets_the_recorded_answer(write: Write) -> None:
    """Lenient: the recorded answer, with a warning."""
    path = write(_hashed({**ASKED, "temperature": 0.5}))
    run = wb.replay(draft, path, on_miss="placeholder")
    assert run.output == "first"
    assert "changed since the recording (its hash was" in str(run.notices)


def test_without_a_hash_a_changed_request_is_served(write: Write) -> None:
    """An entry written without a hash matches by its step alone."""

    def agent() -> Any:
        with wb.step("draft"):
            return ask("something else entirely", temperature=1)["content"]

    assert wb.replay(agent, write({"draft": {"content": "x"}})).output == "x"


@pytest.mark.parametrize("options", [{}, {"on_miss": "placeholder"}])
def test_a_missing_file_is_an_error(tmp_path: Path, options: dict[str, Any]) -> None:
    """Strict or lenient: no recording, no replay."""
    with pytest.raises(TraceNotFoundError, match=r"draft\.json: there is no such file"):
        wb.replay(draft, tmp_path / "draft.json", **options)


def test_among_turns_the_hash_chooses(write: Write) -> None:
    """In a list with hashes the turn that was recorded for a request answers it, in any order;
    a fault fires when the calls reach it."""

    def asked(text: str) -> str:
        return agentloom_hash({"model": "m-1", "messages": [{"role": "user", "content": text}]})

    def agent() -> list[Any]:
        with wb.step("draft"):
            return [ask(text)["content"] for text in ("b", "a")]

    turns = [
        {"content": "for a", "request_hash": asked("a")},
        {"content": "for b", "request_hash": asked("b")},
    ]
    run = wb.replay(agent, write({"draft": turns}))
    assert (run.status, run.output) == ("ok", ["for b", "for a"])


def test_recorded_tool_results_are_served(write: Write) -> None:
    """A recorded result answers the call with its name and arguments; nothing runs."""
    ran: list[str] = []

    @wb.tool(effect="read")
    def look(at: int) -> Any:
        """Look somewhere."""
        ran.append("look")
        return at

    def agent() -> Any:
        with wb.step("ask"):
            said = ask("where?")
            return [look(**call["arguments"]) for call in said["tool_calls"]]

    call = {"id": "c1", "name": "look", "arguments": {"at": 1}}
    recording = {
        "ask": [{"content": "", "tool_calls": [call]}],
        "_tools": {"ask": [{"name": "look", "arguments": {"at": 1}, "result": "a door"}]},
    }
    run = wb.replay(agent, write(recording))
    assert (run.status, run.output, ran) == ("ok", ["a door"], [])
    recording["_tools"]["ask"][0]["arguments"] = {"at": 2}  # type: ignore[index]
    assert wb.replay(agent, write(recording)).status == "drifted"


def test_an_event_log_does_not_stand_in_the_way(write: Write) -> None:
    """Events of the system that made a recording are not asked of an agent that writes none."""
    event = {"type": "task_received", "step_id": "draft", "event_id": "e1"}
    path = write({"draft": [{"content": "x"}], "_inter_agent_events": [event]})
    assert wb.replay(draft, path).status == "ok"


def test_a_turn_that_is_never_asked_for_fails(write: Write) -> None:
    """Strict: what a person wrote down was to happen; a turn left over is named."""
    run = wb.replay(draft, write({"draft": [{"content": "one"}, {"content": "two"}]}))
    assert run.status == "drifted"


def test_a_recorded_run_becomes_a_recording_and_replays(tmp_path: Path, world: World) -> None:
    """A run is kept in the short form, edited by hand in an editor, and replayed."""
    world.answer = lambda body: {"content": "Ships Thursday.", "usage": {"input_tokens": 3}}
    made = wb.record(draft).trace
    world.ran.clear()
    path = made.save(tmp_path / "draft.yaml")
    assert "content: Ships Thursday." in path.read_text("utf-8")
    assert wb.replay(draft, path).output == "Ships Thursday."
    path.write_text(path.read_text("utf-8").replace("Thursday", "Friday"), "utf-8")
    assert wb.replay(draft, path).output == "Ships Friday."
    assert world.ran == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_may_be_written_down(write: Write, when: str) -> None:
    """The process dies at the turn that says so, and no ``except Exception`` of the agent helps."""
    turn = {"content": "x", "fault": {"type": "crash", "when": when}}
    if when == "before":
        del turn["content"]
    reached: list[str] = []

    def agent() -> None:
        with wb.step("draft"):
            reached.append(ask("one")["content"])
            try:
                ask("two")
            except Exception:
                reached.append("caught")
            reached.append("after")

    with pytest.raises(SimulatedCrash, match=rf"dies {when} the model .* \(an injected crash\)"):
        wb.replay(agent, write({"draft": [{"content": "first"}, turn]}))
    assert reached == ["first"]


def test_a_redacted_secret_does_not_stand_in_the_way(tmp_path: Path) -> None:
    """A request that held a secret gets no hash, since the secret itself is not in the trace."""

    def agent() -> Any:
        with wb.step("draft"):
            return len(ask("log in with sk-proj-Zt9QmW3xLk7RbV2yNc8HsDf4GjP6aUeT")["content"])

    path = wb.record(agent).trace.save(tmp_path / "run.json")
    assert "sk-proj" not in path.read_text("utf-8")
    assert wb.replay(agent, path).status == "ok"
