"""DSPy over a model server on loopback: programs, tools, models of one's own."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from chat_server import ChatServer
from dspy_shop import aask, ask, fields, model, ran, refund, shop

import workbench as wb
from workbench.faults import ToolError

pytestmark = [
    # DSPy's own transition from one release to the next.
    pytest.mark.filterwarnings("ignore:Implementing custom LMs:DeprecationWarning"),
    # LiteLLM, which older releases ask through, leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


@pytest.fixture(autouse=True)
def _alone() -> None:
    """No cache on the disk."""
    dspy.configure_cache(enable_disk_cache=False)
    ran.clear()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server."""
    with ChatServer(shop) as running:
        yield running


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


def test_edits_and_forks_are_as_for_any_agent(server: ChatServer) -> None:
    """An edit changes what comes after it, and only that is asked live."""

    def agent(question: str) -> Any:
        return ask(model(server), question)[0]

    recorded = wb.record(agent, "order 101")
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


def test_a_model_of_ones_own_is_answered() -> None:
    """A replay does not ask it, and its edited replies are what it said."""

    def agent(question: str) -> Any:
        made = Parrot("own")
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
