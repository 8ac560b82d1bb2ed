"""DSPy over a model server on loopback, on engines and on models of one's own."""

import asyncio
import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from chat_server import ChatServer
from dspy import lm15

import workbench as wb
from workbench.faults import HttpError, ToolError

# DSPy's own transition from one release to the next.
pytestmark = pytest.mark.filterwarnings("ignore:Implementing custom LMs:DeprecationWarning")

ran: list[Any] = []


@wb.tool(effect="read")
def get_order(number: int) -> dict[str, Any]:
    """Look up an order."""
    ran.append(("get_order", number))
    if number == 13:
        raise ValueError("no such order")
    return {"number": number, "total": 149.99}


@wb.tool(effect="write", idempotency_key=lambda number, **_: f"refund:{number}")
async def refund(number: int, amount: float) -> str:
    """Pay an order back."""
    ran.append(("refund", number, amount))
    return f"refunded {amount}"


def fields(**values: Any) -> str:
    """An answer in the form that DSPy asks for."""
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def shop(asked: dict[str, Any]) -> str:
    """The model: looks the order up, pays it back if it costs what it did, and says so."""
    text = str(asked["messages"][-1]["content"])
    if "next_thought" not in text:
        found = re.findall(r"refunded [\d.]+|no such order|149.99", text) or ["nothing"]
        return fields(reasoning="as seen", answer=found[-1])
    number = 13 if "13" in text else 101
    step = "get_order", {"number": number}
    if '"total"' in text or "no such order" in text:
        step = "finish", {}
    return fields(next_thought="go on", next_tool_name=step[0], next_tool_args=json.dumps(step[1]))


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache on the disk, and nothing looked up on the network outside of sessions."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    dspy.configure_cache(enable_disk_cache=False)
    ran.clear()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server."""
    with ChatServer(shop) as running:
        yield running


def model(server: ChatServer, **settings: Any) -> dspy.LM:
    """A model on the server."""
    return dspy.LM("openai/m", api_base=server.url, api_key="k", **settings)


def ask(lm: Any, question: str, tools: Any = (get_order,)) -> Any:
    """An agent on a model; gives its answer, and what it knows of its calls."""
    with dspy.context(lm=lm):
        found = dspy.ReAct("question -> answer", tools=list(tools))(question=question)
    usage = [each["usage"].get("prompt_tokens") for each in lm.history]
    return [found.answer, len(lm.history), usage]


def aask(lm: Any, question: str, tools: Any = (get_order,)) -> Any:
    """The same by async code."""

    async def run() -> Any:
        with dspy.context(lm=lm):
            return await dspy.ReAct("question -> answer", tools=list(tools)).acall(
                question=question
            )

    return [asyncio.run(run()).answer, len(lm.history)]


@pytest.mark.parametrize("way", [ask, aask])
def test_an_agent_is_replayed_with_its_server_stopped(
    server: ChatServer, connections: list[object], way: Any
) -> None:
    """Calls and tools are answered, DSPy's own history and usage are as they were."""

    def agent() -> Any:
        return way(model(server), "What did order 101 cost?")

    recorded = wb.record(agent)
    assert recorded.output[:2] == ["149.99", 3], recorded.error
    assert [(e.kind, e.name or e.api, e.effect) for e in recorded.trace.entries] == [
        ("model", "workbench", None),
        ("tool", "get_order", "read"),
        ("model", "workbench", None),
        ("model", "workbench", None),
    ]
    first, look, *_ = recorded.trace.entries
    assert look.arguments == {"number": 101}
    assert ran == [("get_order", 101)]
    assert look.asked_by == first.id
    assert (first.usage or {})["input_tokens"] == 12
    assert "k" not in json.dumps(first.request).split('"')
    server.stop()
    connections.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.error
    assert (len(ran), connections) == (1, [])


def test_edits_forks_and_faults_are_as_for_any_agent(server: ChatServer) -> None:
    """A rate limit is tried again by DSPy itself; an edit changes what comes after."""

    def agent(question: str) -> Any:
        return ask(model(server), question)[0]

    recorded = wb.record(agent, "order 101")
    limited = [HttpError(429, retry_after_s=0).at(wb.turn(2))]
    survived = wb.replay(agent, recorded.trace, "order 101", faults=limited)
    assert (survived.status, survived.output) == ("ok", "149.99")
    often = [HttpError(429, times=9, retry_after_s=0).at(wb.turn(2))]
    failed = wb.replay(agent, recorded.trace, "order 101", faults=often)
    assert isinstance(failed.error, dspy.utils.exceptions.LMRateLimitError)
    edits = recorded.trace.edit().reply(wb.turn(3), text=fields(reasoning="r", answer="free"))
    assert wb.replay(agent, recorded.trace, "order 101", edits=edits).output == "free"
    assert wb.replay(agent, recorded.trace, "order 7").status == "drifted"
    edits = recorded.trace.edit().tool_result(wb.turn(1), {"number": 101, "total": 7})
    forked = wb.fork(agent, recorded.trace, "order 101", edits=edits)
    assert forked.output == "nothing"
    assert [c.how for c in forked.calls] == ["replayed", "edited", "live", "live"]
    edits = recorded.trace.edit().request(wb.turn(3), system="Say nothing else.")
    asked = wb.fork(agent, recorded.trace, "order 101", edits=edits)
    assert asked.status == "ok", asked.error
    assert server.seen[-1][2]["messages"][0]["content"] == "Say nothing else."


def test_what_a_model_is_told_of_an_error_is_the_same_in_a_replay(server: ChatServer) -> None:
    """A failed tool's error goes into the next question, without lines of code from anywhere."""

    def agent(question: str) -> Any:
        return ask(model(server), question)[0]

    recorded = wb.record(agent, "order 13")
    assert recorded.output == "no such order", recorded.error
    told = str(server.seen[1][2]["messages"][-1]["content"])
    assert "Execution error in get_order: \nValueError: no such order" in told
    assert "File " not in told
    assert wb.replay(agent, recorded.trace, "order 13").output == "no such order"
    fine = wb.record(agent, "order 101")
    broken = [ToolError("no such order").at(tool="get_order")]
    failed = wb.fork(agent, fine.trace, "order 101", faults=broken, on_miss="live")
    assert failed.output == "no such order", failed.error


def test_caches_hide_no_call_from_a_session(server: ChatServer) -> None:
    """What DSPy has in its cache is not used in a session, nor kept, and is there after it."""

    def agent() -> Any:
        return model(server)("a question of the cache's test")

    first = agent()
    assert len(server.seen) == 1
    recorded = wb.record(lambda: [agent(), agent()])
    assert len(recorded.trace.models()) == 2
    assert len(server.seen) == 3
    assert wb.replay(lambda: [agent(), agent()], recorded.trace).output == [first, first]
    assert agent() == first
    assert len(server.seen) == 3


class Parrot(dspy.BaseLM):  # type: ignore[misc] # it has no types
    """A model of the user's own, in the older way."""

    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        ran.append("asked")
        said = f"You said: {(messages or [{'content': prompt}])[-1]['content']}"
        choice = SimpleNamespace(message=SimpleNamespace(content=said), finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={"prompt_tokens": 3}, model="parrot-1")


class Engine:
    """An engine of the user's own."""

    def complete(self, request: Any) -> Any:
        ran.append("asked")
        said = f"You said: {request.messages[-1].text}"
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text=said),))
        usage = lm15.Usage(input_tokens=3, output_tokens=1)
        return lm15.Response(
            id="r", model=request.model, message=message, finish_reason="stop", usage=usage
        )


@pytest.mark.parametrize("kind", ["parrot", "engine"])
def test_models_of_ones_own_are_answered(kind: str) -> None:
    """Whichever way a model is written, a replay does not ask it."""
    ran.clear()

    def agent(question: str) -> Any:
        made = Parrot("own") if kind == "parrot" else dspy.LM("own", engine=Engine())
        return made(question), [each["usage"]["prompt_tokens"] for each in made.history]

    recorded = wb.record(agent, "hi")
    assert recorded.output == (["You said: hi"], [3]), recorded.error
    assert recorded.trace.turn(1).model.text == "You said: hi"
    ran.clear()
    assert wb.replay(agent, recorded.trace, "hi").output == recorded.output
    edits = recorded.trace.edit().reply(wb.turn(1), text="never mind")
    edited = wb.replay(agent, recorded.trace, "hi", edits=edits)
    assert edited.output == (["never mind"], [3]), edited.error
    assert ran == []
    edits = recorded.trace.edit().request(wb.turn(1), replace={1: "ho"})
    assert wb.fork(agent, recorded.trace, "hi", edits=edits).output[0] == ["You said: ho"]


def test_streams_are_replayed_piece_by_piece(server: ChatServer) -> None:
    """A program that is read while it answers gives the same pieces again."""

    def agent() -> Any:
        async def run() -> list[Any]:
            listener = dspy.streaming.StreamListener(signature_field_name="answer")
            program = dspy.streamify(
                dspy.Predict("question -> answer"), stream_listeners=[listener]
            )
            with dspy.context(lm=model(server)):
                pieces = [each async for each in program(question="hi")]
            return [p.chunk if hasattr(p, "chunk") else p.answer for p in pieces]

        return asyncio.run(run())

    server.answer = lambda _: fields(answer="one two three four five six seven eight")
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert len(recorded.output) > 2
    assert recorded.output[-1] == "one two three four five six seven eight"
    assert recorded.trace.turn(1).model.stream
    server.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.error


def test_programs_beside_each_other_keep_their_steps(server: ChatServer) -> None:
    """Threads of ``dspy.Parallel`` know the step that they were begun in."""

    def agent() -> Any:
        ask_one = dspy.Predict("question -> answer")
        with wb.step("both"), dspy.context(lm=model(server)):
            pairs = [(ask_one, {"question": each}) for each in ("a", "b")]
            quiet = {"num_threads": 2, "disable_progress_bar": True}
            return [each.answer for each in dspy.Parallel(**quiet)(pairs)]

    server.answer = lambda asked: fields(answer=str(asked["messages"][-1]["content"])[-80:][:1])
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert [e.step for e in recorded.trace.entries] == ["both", "both"]
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_async_tools_that_write_are_guarded(server: ChatServer) -> None:
    """A write of an async tool is denied in a fork, and has its key."""

    async def agent(amount: float) -> Any:
        return await dspy.Tool(refund).acall(number=7, amount=amount)

    recorded = wb.record(agent, 2.5)
    assert recorded.output == "refunded 2.5", recorded.error
    (entry,) = recorded.trace.entries
    assert (entry.name, entry.effect) == ("refund", "write")
    assert str(entry.key).endswith("refund:7")
    ran.clear()
    assert wb.replay(agent, recorded.trace, 2.5).output == "refunded 2.5"
    assert wb.fork(agent, recorded.trace, 3.5, on_miss="live").status == "blocked"
    assert ran == []
