"""What a type checker tells whoever writes against an io. Checked by mypy, never run."""

from datetime import datetime
from typing import Any, assert_type

import workbench as wb
from workbench.faults import HttpError


async def agent(io: wb.AgentIO, question: str) -> str:
    """An agent with an io: each method gives what it says."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    reply = await io.call_model(model="m", messages=messages, tools=[look, SPEC], temperature=0)
    assert_type(reply, wb.Reply)
    assert_type(io.now(), datetime)
    assert_type(await io.ask_human("sure?", choices=["yes"]), str)
    async for chunk in io.stream_model(model="m", messages=messages):
        assert_type(chunk.text, str)
    vectors = await io.embed(model="e", texts=["a"])
    assert_type(vectors[0], list[float])
    for call in reply.tool_calls:
        messages.append(wb.tool_message(call, await io.call_tool(call.name, call.arguments)))
    await io.call_model("m", messages)  # type: ignore[call-arg]
    return reply.text


def sync_agent(io: wb.SyncAgentIO) -> str:
    """The blocking twin."""
    io.sleep(1)
    return io.stream_model(model="m", messages=[]).read().text


@wb.tool(effect="read")
def look(number: int) -> str:
    """A tool."""
    return str(number)


SPEC: dict[str, Any] = {"name": "spec", "description": "", "parameters": {}}


async def running(trace: wb.Trace) -> None:
    """Every kind of io is an AgentIO, its ``sync`` a SyncAgentIO, and they nest."""
    live = wb.live_io(model=wb.OpenAIModel(base_url="http://127.0.0.1:1/v1"), tools=[look])
    own = wb.live_io(model=lambda request: str(request["messages"]), human=lambda *_: "yes")
    await agent(wb.faulty_io(wb.recording_io(live, to="q.trace.jsonl"), [HttpError(429)]), "q")
    await agent(wb.replaying_io(trace, own, live_from=wb.turn(2)), "q")
    sync_agent(wb.scripted_io(["a", ("look", {"number": 1})]).sync)
    sync_agent(wb.scripted_io())  # type: ignore[arg-type]
    assert_type(await wb.arecord(agent, "q", io=live), wb.RunResult)


class Mine(wb.Model):
    """A provider of one's own needs one method."""

    provider = "mine"

    async def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer."""
        return {"content": str(request["messages"])}
