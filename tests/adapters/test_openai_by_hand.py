"""A run through the openai SDK, kept as a recording that people read, and replayed from it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_server import Server

import workbench as wb

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look an order up.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
    },
}


def _agent(url: str, question: str = "Where is order 101?") -> Callable[[], Any]:
    def agent() -> Any:
        said: list[Any] = []
        messages: list[Any] = [{"role": "user", "content": question}]
        with wb.step("ask"), openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
            asked = client.chat.completions.create(model="ok", messages=messages, tools=[TOOL])
            message = asked.choices[0].message
            said.append([json.loads(each.function.arguments) for each in message.tool_calls or ()])  # type: ignore[union-attr]
            messages.append(message.model_dump())
            messages.append({"role": "tool", "tool_call_id": "call_1", "content": "on its way"})
            stream = client.chat.completions.create(model="ok", messages=messages, stream=True)
            chunks = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
            said.append("".join(chunks))
        return said

    return agent


@pytest.mark.parametrize("name", ["run.json", "run.yaml"])
def test_a_run_replays_from_its_recording(server: Server, tmp_path: Path, name: str) -> None:
    """Tool calls and streams come back from the short form, and its hashes fit the same agent."""
    agent = _agent(server.url)
    made = wb.record(agent)
    assert made.status == "ok"
    path = made.trace.save(tmp_path / name)
    server.stop()
    run = wb.replay(agent, path)
    assert (run.status, run.drift) == ("ok", None)
    assert run.output == made.output
    assert all(each.foreign_hash for each in wb.load(path).models())


def test_a_changed_question_is_noticed(server: Server, tmp_path: Path) -> None:
    """What is saved carries a hash of each request, so that a changed agent does not pass."""
    path = wb.record(_agent(server.url)).trace.save(tmp_path / "run.json")
    run = wb.replay(_agent(server.url, "Where is order 102?"), path)
    assert run.status == "drifted"
    assert "does not match the recording" in str(run.drift)


def test_a_recording_can_be_forked(server: Server, tmp_path: Path) -> None:
    """A fork of a recording goes live from a turn on, like that of any other trace."""
    path = wb.record(_agent(server.url)).trace.save(tmp_path / "run.yaml")
    run = wb.fork(_agent(server.url), path, live_from=wb.turn(2))
    assert run.status == "ok"
    assert [each.how for each in run.calls] == ["replayed", "live"]
    assert run.trace.parent is not None
    assert run.trace.parent.id == wb.load(path).id


def test_a_real_failure_is_not_made_a_fault(server: Server, tmp_path: Path) -> None:
    """A recorded 429 was no injection: the short form has no place for it, and says so."""

    def agent() -> str:
        with openai.OpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            try:
                client.chat.completions.create(model="429", messages=[])
            except openai.RateLimitError:
                return "too many"
        return ""

    trace = wb.record(agent).trace
    with pytest.raises(wb.TraceError, match="it failed with RateLimitError, and only injected"):
        trace.save(tmp_path / "run.json")
