"""Functions that Google's SDK calls by itself, as the model asks: tools like any other."""

import asyncio
from typing import Any

import pytest
from google.genai import types
from loopback import Server
from sdk_cases import KEY
from sdk_seen import see
from ways_google import async_client, client

import workbench

ASKED: dict[str, Any] = {"model": "gemini-x", "contents": "hello"}
CONFIG = types.GenerateContentConfig

ran: list[int] = []


def get_order(number: int) -> str:
    """Looks up an order."""
    ran.append(number)
    if number == 7:
        raise LookupError("no such order")
    return f"order {number}"


async def aget_order(number: int) -> str:
    """Looks up an order."""
    return get_order(number)


aget_order.__name__ = "get_order"


def calling(url: str, key: str | None, tool: Any, *, chat: bool = False) -> Any:
    """An agent whose tools the SDK calls by itself."""
    made = client(url, key, 0)
    try:
        config = CONFIG(tools=[tool])
        if chat:
            talk = made.chats.create(model="gemini-x", config=config)
            return talk.send_message("hello").text, see(talk.get_history())
        found = made.models.generate_content(**ASKED, config=config)
        return found.text, see(found.automatic_function_calling_history)
    finally:
        made.close()


async def acalling(url: str, key: str | None, tool: Any) -> Any:
    """The same in async code."""
    made = async_client(url, key, 0)
    found = await made.aio.models.generate_content(**ASKED, config=CONFIG(tools=[tool]))
    await made.close()
    return found.text, see(found.automatic_function_calling_history)


TOOLS = {
    "a function": get_order,
    "a tool": workbench.tool(effect="read")(get_order),
    "async": aget_order,
    "an async tool": workbench.tool(effect="read")(aget_order),
}


@pytest.mark.parametrize("how", [*TOOLS, "a chat"])
def test_functions_that_the_sdk_calls_are_tools(speaker: Server, how: str) -> None:
    """They are recorded once, answered in a replay and not run; what one raised, the model is
    told again in the same words."""
    tool: Any = TOOLS.get(how, get_order)
    if CONFIG(tools=[tool]).tools != [tool]:
        pytest.skip("this release takes plain functions only")

    def agent(key: str | None) -> Any:
        if "async" in how:
            return asyncio.run(acalling(speaker.url, key, tool))
        return calling(speaker.url, key, tool, chat=how == "a chat")

    ran.clear()
    with workbench.recording() as recorded:
        live = agent(KEY)
    assert ran == [101, 7]
    speaker.stop()
    with workbench.replaying(recorded.trace) as replayed:
        assert agent(None) == live
    assert ran == [101, 7]
    assert replayed.result.status == "ok"
    kinds = [(entry.kind, entry.name) for entry in recorded.trace.entries]
    tools = [("tool", "get_order")] * 2
    assert kinds == [("model", None), *tools, ("model", None)]
    first, second = recorded.trace.tools("get_order")
    assert (first.arguments, first.result, first.asked_by) == (
        {"number": 101},
        "order 101",
        recorded.trace.entries[0].id,
    )
    assert second.error is not None
    assert "no such order" in second.error.message
    assert first.effect == "read"  # as the tools of that name say
    answers = [m.text for m in recorded.trace.turns[1].messages if m.role == "tool"]
    assert answers[0] == "order 101"
    assert "no such order" in answers[1]
