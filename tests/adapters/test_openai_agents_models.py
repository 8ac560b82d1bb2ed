"""The agents SDK's models that no hooked SDK serves, and what it sends home of its own accord."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    Usage,
    trace,
)
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor
from agents_shop import TOOLS, Way, chat, ran, ran_async, streamed
from loopback import Server as Loopback
from openai import AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
    ResponseTextDeltaEvent,
)
from openai_server import Server
from shop_model import QUESTION

import workbench as wb
from workbench.edits import MessageEdit
from workbench.faults import HttpError, StreamTruncate

asked: list[Any] = []
"""What the model was asked."""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    asked.clear()
    ran.clear()


def text(said: str) -> ResponseOutputMessage:
    """A message of a model."""
    part = ResponseOutputText(type="output_text", text=said, annotations=[])
    return ResponseOutputMessage(
        id="msg_1", type="message", role="assistant", status="completed", content=[part]
    )


class Own(Model):
    """A model of the user's own, which looks an order up and says what it is told."""

    model = "own-1"

    def _output(self, given: Any) -> list[Any]:
        asked.append(given)
        last = given if isinstance(given, str) else given[-1]
        if isinstance(last, dict) and last.get("type") == "function_call_output":
            return [text(f"It is {last['output']}")]
        words = last if isinstance(last, str) else str(last["content"])
        number = int(words.split()[3]) if words == QUESTION else 8
        call = ResponseFunctionToolCall(
            type="function_call",
            call_id="c1",
            name="get_order",
            arguments=json.dumps({"number": number}),
        )
        return [ResponseReasoningItem(id="rs_1", type="reasoning", summary=[]), call]

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - the SDK gives it by this name
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        usage = Usage(requests=1, input_tokens=5, output_tokens=2, total_tokens=7)
        return ModelResponse(self._output(input), usage, "resp_1")

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - as above
        *args: Any,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        output = self._output(input)
        for piece in output[0].content[0].text.split() if output[0].type == "message" else ():
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                item_id="msg_1",
                output_index=0,
                content_index=0,
                delta=piece + " ",
                logprobs=[],
                sequence_number=1,
            )
        whole = Response(
            id="resp_1",
            created_at=1,
            model="own-1",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=2)


def agent(way: Way) -> Any:
    """Run the agent on the model of the user's own."""
    return way(Agent("shop", instructions="Be kind.", tools=[*TOOLS], model=Own()), QUESTION)


@pytest.mark.parametrize("way", [ran_async, streamed])
def test_a_model_of_the_users_own_is_not_asked_again(way: Way) -> None:
    """What the SDK was given is what it is given again, item by item and event by event."""
    recorded = wb.record(agent, way)
    assert recorded.status == "ok", recorded.error
    first, tool, last = recorded.trace.entries
    assert (first.api, first.model, first.step) == ("workbench", "own-1", "shop")
    assert (tool.name, tool.asked_by) == ("get_order", first.id)
    assert [(c.name, c.arguments) for c in first.tool_calls] == [("get_order", {"number": 101})]
    assert str(last.text).startswith("It is {'number': 101")
    assert [m.role for m in last.messages] == ["system", "user", "assistant", "tool"]
    replayed = wb.replay(agent, recorded.trace, way)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert (len(asked), len(ran)) == (2, 1)


@pytest.mark.parametrize("way", [ran_async, streamed])
def test_replies_and_requests_can_be_edited(way: Way) -> None:
    """An edited reply is what the SDK gets; an edited request is what the model is asked."""
    recorded = wb.record(agent, way)
    edits = recorded.trace.edit().reply(wb.turn(1), tool_call=("get_order", {"number": 7}))
    forked = wb.fork(agent, recorded.trace, way, edits=edits, tools_after="allow")
    assert forked.status == "ok", forked.error
    assert ran[-1] == ("get_order", 7)
    refused = recorded.trace.edit().reply(wb.turn(1), text="I will not.", tool_calls=[])
    said = wb.fork(agent, recorded.trace, way, edits=refused)
    assert said.status == "ok", said.error
    assert "I will not." in str(said.output)
    other = MessageEdit(op="replace", number=2, text="Another order.")
    request = recorded.trace.edit().request(wb.turn(1), messages=[other], system="Be rude.")
    rewritten = wb.fork(agent, recorded.trace, way, edits=request, tools_after="allow")
    assert rewritten.status == "ok", rewritten.error
    assert ran[-1] == ("get_order", 8)


def test_faults_hit_a_model_of_the_users_own() -> None:
    """A status fails the call, and a stream breaks off after its events."""
    recorded = wb.record(agent, ran_async)
    failed = wb.replay(agent, recorded.trace, ran_async, faults=[HttpError(429).at(wb.turn(1))])
    assert isinstance(failed.error, wb.RateLimitError)
    stream = wb.record(agent, streamed)
    cut = wb.replay(agent, stream.trace, streamed, faults=[StreamTruncate(2).at(wb.turn(2))])
    assert cut.status == "failed"
    assert len(cut.trace.turn(2).model.chunks) == 2


def test_which_seam_records_is_told_by_the_model_alone() -> None:
    """A model with a client of OpenAI's SDK is the wire's; one over a web socket is not."""
    from workbench.adapters.openai_agents.library import is_ours

    class OverWSModel(OpenAIResponsesModel):
        pass

    client = AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:1")
    assert not is_ours(OpenAIResponsesModel("m", client))
    assert not is_ours(chat("http://127.0.0.1:1"))
    assert is_ours(OverWSModel("m", client))
    assert is_ours(Own())


def test_the_sdks_own_traces_stay_at_home_in_a_replay() -> None:
    """While recording they go where they went, and are in no trace; a replay sends none."""
    with Server() as server:
        exporter: Any = BackendSpanExporter(
            api_key="sk-test", endpoint=f"{server.url}/traces/ingest"
        )
        sender: Any = BatchTraceProcessor(exporter, schedule_delay=0.05)

        def traced() -> Any:
            with trace("flow") as flow:
                sender.on_trace_start(flow)
                return asyncio.run(
                    Runner.run(
                        Agent("shop", model=Own(), tools=[*TOOLS]),
                        QUESTION,
                        run_config=RunConfig(tracing_disabled=True),
                    )
                ).final_output

        recorded = wb.record(traced)
        sender.force_flush()
        sent = len(server.seen)
        assert [entry.kind for entry in recorded.trace.entries] == ["model", "tool", "model"]
        replayed = wb.replay(traced, recorded.trace)
        sender.force_flush()
        sender.shutdown()
        exporter.close()
    assert sent == 1
    assert server.seen[0][0].endswith("/traces/ingest")
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(server.seen) == sent


def test_a_conversation_kept_at_openai_is_refused_in_a_replay() -> None:
    """Its items are no model call, and in no recording: the error says what was asked for."""
    client = AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:1", max_retries=0)

    def talking(*, kept: bool) -> Any:
        session = OpenAIConversationsSession(conversation_id="conv_1", openai_client=client)
        runner = Runner.run(Agent("shop", model=Own()), QUESTION, session=session if kept else None)
        return asyncio.run(runner).final_output

    recorded = wb.record(lambda: "nothing")
    replayed = wb.replay(lambda: talking(kept=True), recorded.trace)
    assert replayed.status == "drifted"
    assert "/conversations/conv_1/items" in str(replayed.drift)


@pytest.mark.parametrize("way", [ran_async, streamed])
def test_responses_are_the_wires_and_a_runs_key_is_made_up_once(way: Way) -> None:
    """OpenAI's own server is told which requests are of one run: a replay tells it the same."""
    from workbench.adapters.openai_agents.library import RUN_KEYS

    class Official(OpenAIResponsesModel):
        def _supports_default_prompt_cache_key(self) -> bool:
            return True

    def asking(url: str) -> Any:
        client = AsyncOpenAI(
            base_url=f"{url}/v1", api_key="k", default_headers={"connection": "close"}
        )
        given: dict[str, Any] = {"name": "shop", "tools": TOOLS[:1]}
        stopping = Agent(
            **given, model=Official("ok", client), tool_use_behavior="stop_on_first_tool"
        )
        return way(stopping, QUESTION)

    with Loopback() as server:
        recorded = wb.record(asking, server.url)
        assert recorded.status == "ok", recorded.error
        server.stop()
        replayed = wb.replay(asking, recorded.trace, server.url)
    entries = [entry for entry in recorded.trace.entries if entry.kind != "value"]
    assert [(entry.api, entry.step) for entry in entries] == [
        ("openai.responses", "shop"),
        (None, "shop"),
    ]
    assert ("prompt_cache_key" in entries[0].request["body"]) is bool(RUN_KEYS)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
