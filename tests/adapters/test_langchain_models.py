"""LangChain's chat models that no hooked SDK sends: recorded at the framework's own seam."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from chat_server import ChatServer
from langchain.agents import create_agent
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import workbench as wb
from workbench.faults import HttpError, StreamTruncate

asked: list[Any] = []
USAGE = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
CALLS = [
    {"name": "look", "args": {"what": w}, "id": f"c_{w}", "type": "tool_call"} for w in ("a", "b")
]


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    asked.clear()


class Rude(BaseChatModel):
    """A model of the user's own: calls both tools, then says what they gave, with a mark."""

    mark: str = "!"

    @property
    def _llm_type(self) -> str:
        return "rude-1"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)

    def _message(self, messages: Any, options: Any) -> AIMessage:
        asked.append([m.content for m in messages])
        known = {
            "usage_metadata": USAGE,
            "response_metadata": {"finish_reason": "stop", "x": (1, 2)},
        }
        results = [m.content for m in messages if m.type == "tool"]
        if options.get("tools") and not results:
            return AIMessage(content="", tool_calls=CALLS, **known)
        text = " ".join(results) or f"You said: {messages[-1].content}"
        return AIMessage(content=text + self.mark, additional_kwargs={"k": 1}, **known)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        message = self._message(messages, kwargs)
        generation = ChatGeneration(message=message, generation_info={"seed": 3})
        return ChatResult(generations=[generation], llm_output={"model_name": "rude-1.1"})

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = self._message(messages, kwargs)
        pieces = [
            tool_call_chunk(name=c["name"], args='{"what":', id=c["id"], index=n)
            for n, c in enumerate(message.tool_calls)
        ]
        rests = [
            tool_call_chunk(args=f'"{c["args"]["what"]}"}}', index=n)
            for n, c in enumerate(message.tool_calls)
        ]
        for each in filter(None, (pieces, rests)):
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=each))
        for word in str(message.content).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        last = AIMessageChunk(content="", usage_metadata=message.usage_metadata)
        yield ChatGenerationChunk(message=last, generation_info={"finish_reason": "stop"})


class AsyncRude(Rude):
    """The same, with async methods of its own."""

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        await asyncio.sleep(0)
        return self._generate(messages, stop, None, **kwargs)

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, None, **kwargs):
            await asyncio.sleep(0)
            yield chunk


def seen(message: Any) -> dict[str, Any]:
    """All of a message but the id that the framework gives each run."""
    data: dict[str, Any] = message.model_dump()
    if str(data["id"]).startswith(("run-", "lc_run-")):
        del data["id"]
    return data


def whole(model: Any, question: str) -> Any:
    """The whole answer."""
    return seen(model.invoke(question))


def awhole(model: Any, question: str) -> Any:
    """The whole answer, by async code."""
    return seen(asyncio.run(model.ainvoke(question)))


def pieces(model: Any, question: str) -> Any:
    """Piece by piece."""
    return [seen(each) for each in model.stream(question)]


def apieces(model: Any, question: str) -> Any:
    """Piece by piece, by async code."""

    async def read() -> list[Any]:
        return [seen(each) async for each in model.astream(question)]

    return asyncio.run(read())


def both_at_once(model: Any, question: str) -> Any:
    """Two questions, asked in threads."""
    return sorted((seen(each) for each in model.batch([question, "and?"])), key=str)


def events(model: Any, question: str) -> Any:
    """What the framework tells of itself while it runs."""

    async def read() -> list[Any]:
        found = [e async for e in model.astream_events(question, version="v2")]
        return [(e["event"], str(e["data"].get("chunk", ""))[:20]) for e in found]

    return asyncio.run(read())


@pytest.mark.parametrize("kind", [Rude, AsyncRude])
@pytest.mark.parametrize("way", [whole, awhole, pieces, apieces, both_at_once, events])
def test_every_way_to_ask_is_replayed_without_the_model(
    kind: type[Rude], way: Callable[[Any, str], Any]
) -> None:
    """The same messages, chunk by chunk, with usage and metadata; the model is not asked."""

    def agent() -> Any:
        return way(kind(), "hi there")

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    (first, *_) = recorded.trace.models()
    assert (first.api, first.model) == ("workbench", "rude-1")
    assert first.stream is (way in (pieces, apieces, events))
    assert first.text.strip() in ("You said: hi there!", "You said: and?!")
    assert first.reply is not None
    assert first.reply.finish_reason == "stop"
    usage = first.usage or {}
    assert (usage["input_tokens"], usage["output_tokens"]) == (7, 2)
    times = len(asked)
    assert times == (2 if way is both_at_once else 1)
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(asked) == times


@tool
def look(what: str) -> str:
    """Look."""
    asked.append(what)
    return f"<{what}>"


def run(model: Any, mode: str) -> list[str]:
    """An agent on a model, read to its end."""
    graph: Any = create_agent(model, [look])
    state = {"messages": [("user", "hi")]}
    if mode == "invoke":
        return [str(m.content) for m in graph.invoke(state)["messages"]]
    return [str(m.content) for m, _ in graph.stream(state, stream_mode=mode)]


@pytest.mark.parametrize("mode", ["invoke", "messages"])
def test_an_agent_on_such_a_model_is_recorded_and_edited(mode: str) -> None:
    """Tools are offered, called at once, and answered; an edited reply is what the agent gets."""
    recorded = wb.record(run, Rude(), mode)
    assert recorded.status == "ok", recorded.error
    assert [e.kind for e in recorded.trace.entries] == ["model", "tool", "tool", "model"]
    first = recorded.trace.turn(1)
    assert [(c.name, c.arguments, c.id) for c in first.model.tool_calls] == [
        ("look", {"what": "a"}, "c_a"),
        ("look", {"what": "b"}, "c_b"),
    ]
    assert [e.asked_by for e in first.tools] == [first.model.id] * 2
    (offered,) = first.model.request["body"]["tools"]
    assert (offered["name"], offered["description"]) == ("look", "Look.")
    asked.clear()
    replayed = wb.replay(run, recorded.trace, Rude(), mode)
    # Two tools run in threads, whose messages come as they may.
    assert (replayed.status, sorted(replayed.output)) == ("ok", sorted(recorded.output))
    assert asked == []
    edits = recorded.trace.edit().reply(wb.turn(2), text="never mind, then")
    told = wb.replay(run, recorded.trace, Rude(), mode, edits=edits)
    assert "never mind, then" in "".join(told.output[-3:] if mode == "invoke" else told.output)
    edits = recorded.trace.edit().reply(wb.turn(1), tool_call=("look", {"what": "c"}))
    forked = wb.fork(run, recorded.trace, Rude(), mode, edits=edits, tools_after="allow")
    assert "c" in asked
    assert "<c>!" in "".join(forked.output)


def test_another_question_drifts_and_an_edited_request_is_asked() -> None:
    """A call is known by its messages, tools and settings, ids aside."""

    def agent(text: str, **settings: Any) -> Any:
        message = HumanMessage(text, id="from-a-database")
        return Rude().bind(**settings).invoke([message]).content

    recorded = wb.record(agent, "hi", stop=["\n"], top_k=3)
    body = recorded.trace.turn(1).model.request["body"]
    assert body == {
        "model": "rude-1",
        "messages": [{"role": "user", "content": "hi"}],
        "stop": ["\n"],
        "top_k": 3,
    }
    assert wb.replay(agent, recorded.trace, "ho", stop=["\n"], top_k=3).status == "drifted"
    assert wb.replay(agent, recorded.trace, "hi", stop=["\n"], top_k=4).status == "drifted"
    edits = recorded.trace.edit().request(wb.turn(1), system="Be kind.")
    forked = wb.fork(agent, recorded.trace, "hi", stop=["\n"], top_k=3, edits=edits)
    assert forked.output == "You said: hi!"
    assert asked[-1] == ["Be kind.", "hi"]


def test_injected_failures_meet_the_frameworks_own_retry() -> None:
    """A rate limit is survived by ``with_retry``, and breaks off a stream as a stream does."""

    def agent() -> Any:
        return Rude().with_retry(wait_exponential_jitter=False).invoke("hi").content

    recorded = wb.record(agent)
    survived = wb.replay(agent, recorded.trace, faults=[HttpError(429).at(wb.turn(1))])
    assert (survived.status, survived.output) == ("ok", "You said: hi!")
    bare = wb.replay(
        lambda: Rude().invoke("hi").content, recorded.trace, faults=[HttpError(429, times=5)]
    )
    assert isinstance(bare.error, wb.RateLimitError)
    streamed = wb.record(lambda: [c.content for c in Rude().stream("hi")])
    got: list[Any] = []

    def reader() -> None:
        for chunk in Rude().stream("hi"):
            got.append(chunk.content)

    cut = wb.replay(reader, streamed.trace, faults=[StreamTruncate(2).at(wb.turn(1))])
    assert isinstance(cut.error, wb.ConnectionLostError)
    assert got == ["You ", "said: "]


def test_an_sdk_inside_a_model_is_recorded_once() -> None:
    """Where a hooked SDK's client is held, its own wire data is what is recorded; a model around
    another model is recorded as what its user asked, and nothing inside it."""

    class Around(Rude):
        inner: Any

        def _message(self, messages: Any, options: Any) -> AIMessage:
            made: AIMessage = self.inner.invoke(messages)
            return made

    with ChatServer(lambda body: "from the server") as server:
        settings: dict[str, Any] = {"model": "m", "base_url": server.url, "api_key": "k"}
        direct = wb.record(lambda: ChatOpenAI(**settings).invoke("hi").content)
        around = wb.record(lambda: Around(inner=ChatOpenAI(**settings)).invoke("hi").content)
    assert direct.output == around.output == "from the server"
    assert [e.api for e in direct.trace.entries] == ["openai.chat"]
    assert [e.api for e in around.trace.entries] == ["workbench"]
    replayed = wb.replay(
        lambda: Around(inner=ChatOpenAI(**settings)).invoke("hi").content, around.trace
    )
    assert replayed.output == "from the server"


def test_a_cache_hides_no_call_from_a_session() -> None:
    """What a cache knows is neither used nor kept in a session, and serves again after it."""
    set_llm_cache(InMemoryCache())
    own = InMemoryCache()
    try:
        assert Rude().invoke("hi").content == "You said: hi!"
        recorded = wb.record(lambda: [Rude(cache=c).invoke("hi").content for c in (None, own, own)])
        assert len(recorded.trace.models()) == 3
        assert len(asked) == 4
        replayed = wb.replay(
            lambda: [Rude(cache=c).invoke("hi").content for c in (None, own, True)], recorded.trace
        )
        assert replayed.output == ["You said: hi!"] * 3
        assert len(asked) == 4
        assert Rude().invoke("hi").content == "You said: hi!"
        assert len(asked) == 4
    finally:
        set_llm_cache(None)


def test_the_frameworks_own_fake_is_a_model_like_any() -> None:
    """A scripted fake runs out of answers; its replay does not ask it."""

    def agent(words: list[str]) -> Any:
        model = GenericFakeChatModel(messages=iter(words))
        return [c.content for c in model.stream("hi")] + [model.invoke("again").content]

    recorded = wb.record(agent, ["one two", "three"])
    assert wb.replay(agent, recorded.trace, []).output == recorded.output
    assert recorded.output == ["one", " ", "two", "three"]
