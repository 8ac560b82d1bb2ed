"""smolagents over a model server on loopback, and on models of one's own."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from chat_server import ChatServer, call
from smolagents import (
    CodeAgent,
    LogLevel,
    Model,
    OpenAIServerModel,
    Tool,
    ToolCallingAgent,
    tool,
)
from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole
from smolagents.monitoring import TokenUsage

import workbench as wb
from workbench.faults import HttpError, ToolError

# The framework says so of any second decorator, thinking of tools that are sent elsewhere to run.
pytestmark = pytest.mark.filterwarnings("ignore:Function .* has decorators other than @tool")

ran: list[Any] = []


@wb.tool(effect="read")
def get_order(number: int) -> dict[str, Any]:
    """Look up an order.

    Args:
        number: the order's number.
    """
    ran.append(("get_order", number))
    return {"number": number, "total": 149.99}


@wb.tool(effect="write", idempotency_key=lambda number, **_: f"refund:{number}")
def refund(number: int, amount: float) -> str:
    """Pay an order back.

    Args:
        number: the order's number.
        amount: how much.
    """
    ran.append(("refund", number, amount))
    return f"refunded {amount}"


QUIET: dict[str, Any] = {"verbosity_level": LogLevel.OFF}


def shop(asked: dict[str, Any]) -> Any:
    """The model: looks the order up, pays it back, says so."""
    text = json.dumps(asked["messages"])
    if "refunded" in text:
        return call("final_answer", answer="Done: " + re.findall(r"refunded ([\d.]+)", text)[-1])
    if '\\"total\\"' in text or "'total'" in text:
        return call("refund", number=101, amount=7.0 if "'total': 7" in text else 149.99)
    return call("get_order", number=101)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server."""
    ran.clear()
    with ChatServer(shop) as running:
        yield running


def served(server: ChatServer) -> Any:
    """A model over OpenAI's SDK."""
    return OpenAIServerModel("m", api_base=server.url, api_key="k")


@pytest.mark.parametrize("streams", [False, True])
def test_an_agent_is_replayed_with_its_server_stopped(
    server: ChatServer, connections: list[object], streams: bool
) -> None:
    """Model calls are the SDK's own, tools the framework's; its way to answer is no tool call."""

    def agent() -> Any:
        tools = [tool(get_order), tool(refund)]
        return ToolCallingAgent(tools, served(server), stream_outputs=streams, **QUIET).run("hi")

    recorded = wb.record(agent)
    assert recorded.output == "Done: 149.99", recorded.error
    assert [(e.kind, e.name or e.api, e.effect, e.step) for e in recorded.trace.entries] == [
        ("model", "openai.chat", None, ""),
        ("tool", "get_order", "read", ""),
        ("model", "openai.chat", None, ""),
        ("tool", "refund", "write", ""),
        ("model", "openai.chat", None, ""),
    ]
    assert [len(t.tools) for t in recorded.trace.turns] == [1, 1, 0]
    server.stop()
    connections.clear()
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert (ran, connections) == ([], [])


def test_edits_forks_and_faults_are_as_for_any_agent(server: ChatServer) -> None:
    """An edited result, a write that is denied and then allowed, a tool that fails."""

    def agent(question: str) -> Any:
        tools = [tool(get_order), tool(refund)]
        return ToolCallingAgent(tools, served(server), max_steps=4, **QUIET).run(question)

    recorded = wb.record(agent, "hi")
    ran.clear()
    edits = recorded.trace.edit().tool_result(wb.turn(1), {"number": 101, "total": 7})
    denied = wb.fork(agent, recorded.trace, "hi", edits=edits)
    assert (denied.status, ran) == ("blocked", [])
    forked = wb.fork(agent, recorded.trace, "hi", edits=edits, tools_after="allow")
    assert (forked.output, ran) == ("Done: 7.0", [("refund", 101, 7.0)])
    assert wb.replay(agent, recorded.trace, "ho").status == "drifted"
    below = [HttpError(429).at(wb.turn(2), layer="below")]
    assert wb.replay(agent, recorded.trace, "hi", faults=below).output == recorded.output
    edits = recorded.trace.edit().reply(
        wb.turn(1), tool_call=("final_answer", {"answer": "at once"})
    )
    assert wb.replay(agent, recorded.trace, "hi", edits=edits).output == "at once"
    server.answer = lambda asked: call("final_answer", answer="gave up")
    broken = [ToolError("shop is shut").at(tool="get_order", times=9)]
    failed = wb.fork(agent, recorded.trace, "hi", faults=broken, on_miss="live")
    assert failed.output == "gave up"
    assert "ToolFaultError: shop is shut" in json.dumps(server.seen[-1][2]["messages"])


class Scripted(Model):  # type: ignore[misc] # it has no types
    """A model of the user's own, which no SDK is behind."""

    def __init__(self, *texts: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.texts = list(texts)

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        ran.append("asked")
        text = self.texts.pop(0)
        return ChatMessage(MessageRole.ASSISTANT, text, raw={"x": 1}, token_usage=TokenUsage(7, 2))


class Streamed(Scripted):
    """The same word by word."""

    def generate_stream(self, messages: Any, **kwargs: Any) -> Iterator[ChatMessageStreamDelta]:
        message = self.generate(messages)
        for word in str(message.content).split(" "):
            yield ChatMessageStreamDelta(content=word + " ")
        yield ChatMessageStreamDelta(token_usage=TokenUsage(7, 2))


CODE = "Thought: look\n<code>\nprint(get_order(101)['total'])\nprint(get_order(number=7))\n</code>"
ANSWER = "<code>\nfinal_answer(refund(101, 2.5))\n</code>"


@pytest.mark.parametrize("kind", [Scripted, Streamed])
def test_code_that_calls_tools_is_recorded_call_by_call(kind: type[Scripted]) -> None:
    """An agent that writes code gives arguments by position; each call is one with names."""
    ran.clear()

    def agent(*texts: str) -> Any:
        agent = CodeAgent(
            [tool(get_order), tool(refund)],
            kind(*texts),
            stream_outputs=kind is Streamed,
            **QUIET,
        )
        return agent.run("hi")

    recorded = wb.record(agent, CODE, ANSWER)
    assert recorded.output == "refunded 2.5", recorded.error
    first, *looks, second, paid = recorded.trace.entries
    assert [e.arguments for e in (*looks, paid)] == [
        {"number": 101},
        {"number": 7},
        {"number": 101, "amount": 2.5},
    ]
    assert (first.api, first.stream) == ("workbench", kind is Streamed)
    assert (first.usage or {})["input_tokens"] == 7
    assert first.text.strip() == CODE
    assert [e.asked_by for e in (*looks, paid)] == [first.id, first.id, second.id]
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", "refunded 2.5", [])
    edits = recorded.trace.edit().reply(wb.turn(2), text='<code>final_answer("no")</code>')
    assert wb.replay(agent, recorded.trace, edits=edits).output == "no"
    faults = [HttpError(429).at(wb.turn(1))]
    failed = wb.replay(agent, recorded.trace, faults=faults)
    assert "AgentGenerationError" in type(failed.error).__name__


def test_calls_read_off_a_text_have_the_same_ids_in_a_replay() -> None:
    """Random ids would be in the next request, which then would not be the recorded one."""
    texts = (
        'Action: {"name": "get_order", "arguments": {"number": 101}}',
        'Action: {"name": "final_answer", "arguments": {"answer": "fine"}}',
    )

    def agent(*texts: str) -> Any:
        return ToolCallingAgent([tool(get_order)], Scripted(*texts), **QUIET).run("hi")

    recorded = wb.record(agent, *texts)
    assert recorded.output == "fine", recorded.error
    assert wb.replay(agent, recorded.trace).status == "ok"


def test_managed_agents_are_steps_by_name(server: ChatServer) -> None:
    """A team: its manager, who has no name, and a member with one."""
    server.answer = lambda asked: (
        call("final_answer", answer="told")
        if "Here is the final answer" in json.dumps(asked) or "149.99" in json.dumps(asked)
        else call("get_order", number=101)
        if "named 'clerk'" in json.dumps(asked)
        else call("clerk", task="look it up", additional_args={})
    )

    def agent() -> Any:
        clerk = ToolCallingAgent(
            [tool(get_order)], served(server), name="clerk", description="Looks up", **QUIET
        )
        manager = ToolCallingAgent([], served(server), managed_agents=[clerk], **QUIET)
        return manager.run("hi")

    recorded = wb.record(agent)
    assert recorded.output == "told", recorded.error
    assert [(e.kind, e.step) for e in recorded.trace.entries] == [
        ("model", ""),
        ("model", "clerk"),
        ("tool", "clerk"),
        ("model", "clerk"),
        ("model", ""),
    ]
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", "told", [])


def test_a_named_agent_that_is_read_step_by_step_is_a_step(server: ChatServer) -> None:
    """What its reader does between the pieces is not in the step."""

    def agent() -> Any:
        made = ToolCallingAgent(
            [tool(get_order), tool(refund)], served(server), name="till", description="d", **QUIET
        )
        for piece in made.run("hi", stream=True):
            wb.write_event(type(piece).__name__)
        return piece.output

    recorded = wb.record(agent)
    assert recorded.output == "Done: 149.99", recorded.error
    steps = {(e.kind, e.step) for e in recorded.trace.entries}
    assert steps == {("model", "till"), ("tool", "till"), ("event", "")}
    assert wb.replay(agent, recorded.trace).status == "ok"


def test_tools_with_a_setup_and_with_pictures(server: ChatServer) -> None:
    """A tool is set up only where it runs; a picture comes back as it was."""
    from PIL import Image

    class Camera(Tool):  # type: ignore[misc] # it has no types
        name = "camera"
        description = "Takes a picture."
        inputs = {"width": {"type": "integer", "description": "How wide."}}  # noqa: RUF012
        output_type = "image"

        def setup(self) -> None:
            ran.append("setup")
            self.is_initialized = True

        def forward(self, width: int) -> Any:
            ran.append(width)
            return Image.new("RGB", (width, 1), (1, 2, 3))

    def agent() -> Any:
        picture: Any = Camera()(3)
        return [picture.size, picture.mode, picture.getpixel((2, 0))]

    recorded = wb.record(agent)
    assert recorded.output == [(3, 1), "RGB", (1, 2, 3)]
    assert recorded.trace.entries[0].arguments == {"width": 3}
    assert ran == ["setup", 3]
    assert wb.replay(agent, recorded.trace).output == recorded.output
    assert ran == ["setup", 3]


class Lookalike:
    """A model that is no class of the framework's, and has its methods."""

    model_id = "lookalike-1"

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        """Answer at once."""
        ran.append("asked")
        return ChatMessage(MessageRole.ASSISTANT, "<code>final_answer(shout('hi'))</code>")


def test_models_and_tools_written_in_ways_of_their_own_are_answered() -> None:
    """A model that only looks like one, and a tool with a call of its own."""
    ran.clear()

    class Shout(Tool):  # type: ignore[misc] # it has no types
        name = "shout"
        description = "Shouts."
        inputs = {"text": {"type": "string", "description": "What."}}  # noqa: RUF012
        output_type = "string"

        def __call__(self, text: str, **kwargs: Any) -> str:
            ran.append(text)
            return str(super().__call__(text, **kwargs))

        def forward(self, text: str) -> str:
            return text.upper()

    def agent() -> Any:
        return CodeAgent([Shout()], Lookalike(), **QUIET).run("hi")

    recorded = wb.record(agent)
    assert recorded.output == "HI", recorded.error
    asked, shouted = recorded.trace.entries
    assert (asked.model, shouted.name, shouted.arguments) == (
        "lookalike-1",
        "shout",
        {"text": "hi"},
    )
    assert wb.replay(agent, recorded.trace).output == "HI"
    assert ran == ["asked", "hi"]
