"""pydantic-ai's models that no hooked SDK serves: recorded where the library asks them."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from chat_server import ChatServer
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_shop import WAYS, Way, chat, get_order, ran, ran_sync, streamed
from shop_model import QUESTION, own_loop

import workbench as wb
from workbench.edits import MessageEdit
from workbench.faults import HttpError, StreamTruncate, Timeout

asked: list[Any] = []
"""What the function that is the model was asked."""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    asked.clear()
    ran.clear()
    with own_loop():
        yield


def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Looks order 101 up, and says what it is told."""
    part: Any = messages[-1].parts[-1]
    asked.append(part)
    if isinstance(part, ToolReturnPart):
        return ModelResponse([TextPart(f"It is {part.content}")], finish_reason="stop")
    number = re.search(r"order (\d+)", str(part.content))
    call = ToolCallPart("get_order", {"number": int(number[1]) if number else 0})
    return ModelResponse([ThinkingPart("Look.", signature="s=="), call])


async def decide_in_pieces(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """The same as a stream."""
    part = decide(messages, info).parts[-1]
    if isinstance(part, TextPart):
        for word in part.content.split():
            yield word + " "
        return
    yield {0: DeltaToolCall("get_order", "", tool_call_id="c1")}
    for piece in ('{"number"', ": 101}"):
        yield {0: DeltaToolCall(json_args=piece)}


def agent(way: Way, question: str = QUESTION) -> Any:
    """Run the agent on the function."""
    model = FunctionModel(decide, stream_function=decide_in_pieces)
    instructions = "Be kind."
    return way(Agent(model, name="shop", tools=[get_order], instructions=instructions), question)


@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_is_the_model_is_not_asked_again(way: Way) -> None:
    """What the library was given is what it is given again, in every way to run an agent."""
    recorded = wb.record(agent, way)
    assert recorded.status == "ok", recorded.error
    first, tool, last = recorded.trace.entries
    assert (first.api, first.provider, tool.kind, tool.asked_by) == (
        "workbench",
        "function",
        "tool",
        first.id,
    )
    assert [(call.name, call.arguments) for call in first.tool_calls] == [
        ("get_order", {"number": 101})
    ]
    assert str(last.text).startswith("It is")
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "tool"]
    assert len(asked) == 2
    replayed = wb.replay(agent, recorded.trace, way)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert (len(asked), len(ran)) == (2, 1)


@pytest.mark.parametrize("way", [ran_sync, streamed])
def test_replies_requests_and_results_can_be_edited(way: Way) -> None:
    """An edited reply is what the library gets; an edited request is what the function is asked."""
    recorded = wb.record(agent, way)
    edits = recorded.trace.edit().reply(wb.turn(1), tool_call=("get_order", {"number": 7}))
    forked = wb.fork(agent, recorded.trace, way, edits=edits, tools_after="allow")
    assert forked.status == "ok", forked.error
    assert ran[-1] == ("get_order", 7)
    assert "'number': 7" in str(asked[-1].content)
    text = recorded.trace.edit().reply(wb.turn(1), text="I will not.", tool_calls=[])
    refused = wb.fork(agent, recorded.trace, way, edits=text)
    assert "I will not." in str(refused.output)
    other = MessageEdit(op="replace", number=2, text="Look at order 8")
    request = recorded.trace.edit().request(wb.turn(1), messages=[other], system="Be rude.")
    rewritten = wb.fork(agent, recorded.trace, way, edits=request, tools_after="allow")
    assert rewritten.status == "ok", rewritten.error
    assert "Look at order 8" in [getattr(part, "content", None) for part in asked]


def test_faults_are_the_librarys_own_exceptions() -> None:
    """Of a model without an SDK too: a status, a time-out, a stream that breaks off."""
    recorded = wb.record(agent, ran_sync)
    failed = wb.replay(agent, recorded.trace, ran_sync, faults=[HttpError(429).at(wb.turn(1))])
    assert isinstance(failed.error, ModelHTTPError)
    assert failed.error.status_code == 429
    late = wb.replay(agent, recorded.trace, ran_sync, faults=[Timeout().at(wb.turn(1))])
    assert isinstance(late.error, AgentRunError | TimeoutError)  # the first since 1.24
    stream = wb.record(agent, streamed)
    cut = wb.replay(agent, stream.trace, streamed, faults=[StreamTruncate(2).at(wb.turn(2))])
    assert cut.status == "failed"
    assert len(cut.trace.turn(2).model.chunks) == 2


def test_a_reader_that_stops_early_is_recorded_as_that() -> None:
    """What was read is kept and given again; the model's stream is closed."""
    closed: list[str] = []

    async def talk(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        try:
            for number in range(50):
                yield f"{number} "
        finally:
            closed.append("closed")

    async def read() -> list[str]:
        pieces: list[str] = []
        async with Agent(FunctionModel(stream_function=talk)).run_stream("go") as stream:
            async for piece in stream.stream_text(delta=True, debounce_by=None):
                pieces.append(piece)
                if len(pieces) == 3:
                    break
        return pieces

    recorded = wb.record(read)
    assert (recorded.output, closed) == (["0 ", "1 ", "2 "], ["closed"])
    (entry,) = recorded.trace.models()
    assert (entry.ended, str(entry.text)[:6]) == ("stopped", "0 1 2 ")
    replayed = wb.replay(read, recorded.trace)
    assert (replayed.status, replayed.output, closed) == ("ok", recorded.output, ["closed"])


def test_a_fallback_is_another_call_and_the_first_ones_error_is_kept() -> None:
    """Wrappers pass through: each model that was asked is an entry, in a replay as well."""

    def refuse(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append("refused")
        raise ModelHTTPError(503, "tired", {"why": "busy"})

    def fall_back() -> Any:
        model = FallbackModel(WrapperModel(FunctionModel(refuse)), FunctionModel(decide))
        return Agent(model, tools=[get_order]).run_sync(QUESTION).output

    recorded = wb.record(fall_back)
    assert recorded.status == "ok", recorded.error
    models = recorded.trace.models()
    assert [entry.error.status if entry.error else None for entry in models] == [
        503,
        None,
        503,
        None,
    ]
    count = len(asked)
    replayed = wb.replay(fall_back, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(asked) == count


def test_a_model_of_the_users_own_is_hooked_when_its_class_is_made() -> None:
    """Also a class that is defined while a session is open, with methods that it inherits."""

    def own() -> Any:
        class Parrot(Model):
            @property
            def model_name(self) -> str:
                return "parrot"

            @property
            def system(self) -> str:
                return "birds"

            async def request(
                self, messages: Any, model_settings: Any, model_request_parameters: Any
            ) -> ModelResponse:
                asked.append(model_settings)
                return ModelResponse([TextPart("Polly")], model_name="parrot-2")

            @asynccontextmanager
            async def request_stream(self, *_args: Any, **_more: Any) -> AsyncIterator[Any]:
                yield None

        class Louder(Parrot):
            async def request(self, *args: Any, **kwargs: Any) -> ModelResponse:
                said: Any = await super().request(*args, **kwargs)
                return ModelResponse([TextPart(said.parts[0].content.upper())])

        agents: list[Agent[None, str]] = [Agent(Parrot()), Agent(Louder())]
        return [each.run_sync("?", model_settings={"temperature": 0.5}).output for each in agents]

    recorded = wb.record(own)
    assert recorded.output == ["Polly", "POLLY"], recorded.error
    assert [(e.api, e.provider, e.text) for e in recorded.trace.models()] == [
        ("workbench", "birds", "Polly"),
        ("workbench", "birds", "POLLY"),
    ]
    assert recorded.trace.models()[0].request["body"]["temperature"] == 0.5
    assert len(asked) == 2
    assert wb.replay(own, recorded.trace).output == recorded.output
    assert len(asked) == 2


def test_a_served_model_is_the_wires_and_a_wrapper_is_nobodys() -> None:
    """Which seam records is told by the model alone, so a replay decides as the recording did."""
    from workbench.adapters.pydantic_ai.library import is_ours

    with ChatServer(lambda _: "hi") as server:
        served = chat(server.url)
        assert not is_ours(served)
        assert not is_ours(WrapperModel(TestModel()))
        assert not is_ours(FallbackModel(TestModel()))
        assert is_ours(TestModel())

        async def ask() -> Any:
            prompt = ModelRequest([UserPromptPart("hi")])
            return await served.request([prompt], None, ModelRequestParameters())

        recorded = wb.record(lambda: asyncio.run(ask()).parts[0].content)
    assert [entry.api for entry in recorded.trace.models()] == ["openai.chat"]


def test_what_a_conversation_holds_is_told_in_neutral_words() -> None:
    """System prompts, prompts with images, calls and results are messages that people know."""
    from workbench.adapters.pydantic_ai.conversation import Asked, request_body

    picture = BinaryContent(b"abc", media_type="image/png")
    history: list[Any] = [
        ModelRequest([SystemPromptPart("Be brief."), UserPromptPart(["What is it?", picture])]),
        ModelResponse([TextPart("Hm."), ToolCallPart("look", '{"at": 1', "c1")]),
        ModelRequest([ToolReturnPart("look", "no JSON", "c1")]),
    ]
    body = request_body("m", Asked(history, {"max_tokens": 5}, ModelRequestParameters()))
    system, user, assistant, tool = body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"][0] == {"type": "text", "text": "What is it?"}
    assert user["content"][1]["item"]["data"] == "YWJj"
    assert assistant["tool_calls"] == [{"id": "c1", "name": "look", "arguments": '{"at": 1'}]
    assert tool == {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "no JSON"}
    assert (body["model"], body["max_tokens"]) == ("m", 5)
