"""The parts of an io: scripts, tools, people, errors, replies."""

import asyncio
import datetime as dt
import time
from decimal import Decimal
from typing import Any

import pytest
from iostore import Shop, said

import workbench as wb
from workbench.seam.agentio.errors import to_error, to_info
from workbench.trace.entries import ErrorInfo


def ask(io: wb.SyncAgentIO, text: str = "hi", **params: Any) -> wb.Reply:
    """One question."""
    return io.call_model(model="m", messages=said(text), **params)


def test_a_script_says_everything_that_a_model_can() -> None:
    """Text, one call, several, a whole body, an error, and what a function makes of the request."""
    io = wb.scripted_io(
        [
            "text",
            ("one", {"n": 1}),
            [("one", {}), ("two", "not json")],
            {"content": "body", "usage": {"input_tokens": 3}},
            wb.RateLimitError("slow down", status=429),
            lambda body: f"{body['temperature']} degrees",
        ]
    ).sync
    text, one, several, body = (ask(io) for _ in range(4))
    assert (text.text, text.finish_reason, text.tool_calls) == ("text", "stop", ())
    assert [(c.id, c.name, c.arguments) for c in one.tool_calls] == [("call_2_1", "one", {"n": 1})]
    assert one.finish_reason == "tool_calls"
    assert [call.id for call in several.tool_calls] == ["call_3_1", "call_3_2"]
    assert several.tool_calls[1].arguments is None
    assert several.tool_calls[1].raw == "not json"
    assert body.usage is not None
    assert (body.text, body.usage.input_tokens, body.usage.output_tokens) == ("body", 3, None)
    with pytest.raises(wb.RateLimitError, match="slow down"):
        ask(io)
    assert ask(io, temperature=30).text == "30 degrees"


def test_asking_beyond_a_script_names_the_call() -> None:
    """The model, each tool and the person have scripts of their own."""
    io = wb.scripted_io(["only one"], tools={"look": [1, KeyError("gone")]}, human=["yes"]).sync
    ask(io)
    with pytest.raises(
        wb.ScriptEndedError, match=r"the model was asked for the 2nd time, .* 1 answer "
    ):
        ask(io)
    assert io.call_tool("look", {"at": "it"}) == 1
    with pytest.raises(KeyError, match="gone"):
        io.call_tool("look")
    with pytest.raises(wb.ScriptEndedError, match=r"the tool look .* 3rd time"):
        io.call_tool("look")
    assert io.ask_human("sure?") == "yes"
    with pytest.raises(wb.ScriptEndedError, match=r"the human .* 2nd time"):
        io.ask_human("sure?")
    with pytest.raises(wb.UsageError, match="answer 1 of the script is 7"):
        ask(wb.scripted_io([7]).sync)


def test_a_script_does_not_wait() -> None:
    """An hour of backoff passes at once, and the clock of the script says that it passed."""
    io = wb.scripted_io()
    began, before = time.monotonic(), io.now()
    asyncio.run(io.sleep(1800))
    io.sync.sleep(1800)
    assert time.monotonic() - began < 5
    assert io.now() - before >= dt.timedelta(hours=1)
    with pytest.raises(wb.UsageError, match="not negative"):
        io.sync.sleep(-1)


def test_tools_are_found_by_name() -> None:
    """Plain functions, decorated ones, methods, async ones from both twins, and by other names;
    their results are data, the same that a replay would give."""
    shop = Shop()

    def double(n: int) -> int:
        return 2 * n

    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    io = wb.live_io(tools=[double, later, *shop.tools])
    assert io.sync.call_tool("double", {"n": 4}) == 8
    assert io.sync.call_tool("later", {"n": 4}) == 5
    assert asyncio.run(io.call_tool("later", {"n": 4})) == 5
    assert io.sync.call_tool("get_order", {"number": 1}) == {
        "number": 1,
        "total": Decimal("149.90"),
        "items": ("cup",),
    }
    assert wb.live_io(tools={"twice": double}).sync.call_tool("twice", {"n": 1}) == 2
    with pytest.raises(
        wb.UnknownToolError, match=r"no tool is named 'doubl'. Did you mean 'double'"
    ):
        io.sync.call_tool("doubl", {})
    with pytest.raises(wb.UnknownToolError, match="this io has no tools"):
        wb.live_io().sync.call_tool("double")
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        io.sync.call_tool("double", {"m": 1})
    with pytest.raises(wb.UsageError, match="two tools are named 'double'"):
        wb.live_io(tools=[double, double])

    async def inside() -> None:
        io.sync.call_tool("later", {"n": 1})

    with pytest.raises(wb.UsageError, match="await the async io instead"):
        asyncio.run(inside())


def test_a_tools_error_replays_as_itself() -> None:
    """What a tool raised, an unknown name and wrong arguments come again from the recording, where
    there is no tool at all."""
    shop = Shop()

    def errors(io: wb.SyncAgentIO) -> list[str]:
        seen = []
        for name, arguments in (("get_order", {"number": 404}), ("get", {}), ("get_order", {})):
            try:
                io.call_tool(name, arguments)
            except (LookupError, TypeError, wb.UsageError) as error:
                seen.append(f"{type(error).__name__}: {error}")
        return seen

    live = wb.record(errors, io=wb.live_io(tools=shop.tools).sync)
    assert [text.split(":")[0] for text in live.output] == [
        "KeyError",
        "UnknownToolError",
        "TypeError",
    ]
    assert wb.replay(errors, live.trace).output == live.output


def test_a_person_answers_with_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function stands for the person, sync or async; what is none of the choices is refused, and
    where nobody can be asked that is said, by the io and by the plain function."""

    async def slow(prompt: str, choices: Any) -> str:
        await asyncio.sleep(0)
        return f"{prompt} {choices}"

    assert asyncio.run(wb.live_io(human=slow).ask_human("why?")) == "why? None"
    assert wb.live_io(human=slow).sync.ask_human("why?") == "why? None"
    with pytest.raises(wb.UsageError, match="'maybe', which is none of 'yes', 'no'"):
        wb.live_io(human=lambda *_: "maybe").sync.ask_human("sure?", ["yes", "no"])
    with pytest.raises(wb.UsageError, match="with int: an answer is text"):
        wb.live_io(human=lambda *_: 3).sync.ask_human("sure?")  # type: ignore[arg-type]
    for asking in (wb.live_io().sync.ask_human, wb.ask_human):
        with pytest.raises(wb.NobodyToAskError, match="nobody can be asked 'sure\\?' here"):
            asking("sure?")
    said_in_turn = iter(["maybe", " yes "])
    monkeypatch.setattr("workbench.seam.agentio.human.can_ask", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(said_in_turn))
    assert wb.ask_human("sure?", ["yes", "no"]) == "yes"


def test_ask_human_without_an_io_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that knows no io asks the person at its terminal once; the replay does not."""
    asked: list[str] = []
    monkeypatch.setattr("workbench.seam.agentio.human.can_ask", lambda: True)

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "blue"

    monkeypatch.setattr("builtins.input", answer)

    def agent() -> str:
        return wb.ask_human("Which colour?")

    live = wb.record(agent)
    again = wb.replay(agent, live.trace)
    assert (live.output, again.output, asked) == ("blue", "blue", ["Which colour? "])
    assert [entry.kind for entry in again.trace.entries] == ["input"]


def test_messages_for_the_model() -> None:
    """A reply and a tool's result go back as the messages of the neutral shape."""
    reply = ask(wb.scripted_io([("look", {"n": 1})]).sync)
    assert reply.message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1_1", "name": "look", "arguments": {"n": 1}}],
    }
    result = {"on": dt.date(2025, 11, 3), "total": Decimal("1.50"), "items": (1, 2)}
    assert wb.tool_message(reply.tool_calls[0], result) == {
        "role": "tool",
        "tool_call_id": "call_1_1",
        "content": '{"on":"2025-11-03","total":"1.50","items":[1,2]}',
    }
    assert wb.tool_message(reply.tool_calls[0], "é")["content"] == "é"
    with pytest.raises(wb.UnencodableError, match="the result of look cannot be given to a model"):
        wb.tool_message(reply.tool_calls[0], object())
    with pytest.raises(wb.UsageError, match="messages= is a list of messages"):
        wb.scripted_io(["x"]).sync.call_model(model="m", messages="hi")  # type: ignore[arg-type]


ERRORS = [
    wb.RateLimitError("slow", status=429, headers={"Retry-After": "3"}, body={"error": "é"}),
    wb.RequestRefusedError("no", status=404),
    wb.ServerFailedError("busy", status=529, body="overloaded"),
    wb.ModelTimeoutError("late"),
    wb.ConnectionLostError("gone"),
    wb.BadReplyError("odd", body="<html>"),
    wb.ModelError("strange", body={"code": 1}),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_complete(error: wb.ModelError) -> None:
    """Type, text, status, headers, body and the seconds to wait survive the trace, so that an
    agent handles a replayed failure as it did the live one."""

    def agent(io: wb.SyncAgentIO) -> Any:
        try:
            ask(io)
        except wb.ModelError as caught:
            return [
                type(caught).__name__,
                str(caught),
                caught.status,
                caught.headers,
                caught.body,
                caught.retry_after_s,
            ]

    live = wb.record(agent, io=wb.scripted_io([error]).sync)
    assert live.output[:2] == [type(error).__name__, str(error)]
    assert wb.replay(agent, live.trace).output == live.output
    again = to_error(to_info(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)


def test_errors_that_others_recorded_are_understood() -> None:
    """An SDK's exception in a recording, and each injected failure, is the neutral one here."""
    seen = [
        to_error(info)
        for info in (
            ErrorInfo(type="RateLimitError", module="openai", message="m", status=429),
            ErrorInfo(type="APITimeoutError", module="openai", message="m"),
            ErrorInfo(type="APIConnectionError", module="openai", message="m"),
            ErrorInfo(type="connection_refused", message="m"),
            ErrorInfo(type="malformed_response", message="m", body="{"),
            ErrorInfo(type="stopped", module="workbench", message="m"),
        )
    ]
    assert [type(error).__name__ for error in seen] == [
        "RateLimitError",
        "ModelTimeoutError",
        "ConnectionLostError",
        "ConnectionLostError",
        "BadReplyError",
        "DriftError",
    ]
    assert isinstance(seen[1], TimeoutError)
    assert isinstance(seen[2], ConnectionError)


def test_embeddings_are_recorded_too() -> None:
    """Vectors by text, from both twins, replayed without a model; a model without any says so."""

    def agent(io: wb.SyncAgentIO) -> list[list[float]]:
        return io.embed(model="e", texts=["a", "bb"]).vectors

    live = wb.record(agent, io=wb.scripted_io(embeddings=lambda text: [len(text), 0.5]).sync)
    assert live.output == [[1, 0.5], [2, 0.5]]
    assert wb.replay(agent, live.trace).output == live.output
    assert live.trace.entries[0].api == "workbench.embeddings"
    io = wb.scripted_io(embeddings=[[[1.0]]])
    assert asyncio.run(io.embed(model="e", texts=["a"]))[0] == [1.0]
    with pytest.raises(wb.UsageError, match="has no embeddings"):
        wb.live_io(model=lambda _: "x").sync.embed(model="e", texts=["a"])
    with pytest.raises(wb.UsageError, match="texts= is a list"):
        io.sync.embed(model="e", texts="a")


def test_an_io_without_a_model_says_what_to_give() -> None:
    """So does one whose model is a class, or answers with what is no reply."""
    with pytest.raises(wb.UsageError, match=r"live_io\(model=workbench.OpenAIModel\(\)\)"):
        ask(wb.live_io().sync)
    with pytest.raises(wb.UsageError, match=r"give a model such as Model\(\)"):
        wb.live_io(model=wb.Model)  # type: ignore[arg-type]
    with pytest.raises(wb.UsageError, match="answered a request with int"):
        ask(wb.live_io(model=lambda _: 3).sync)

    class Silent(wb.Model):
        async def complete(self, request: dict[str, Any]) -> dict[str, Any]:
            return None  # type: ignore[return-value]

    with pytest.raises(wb.UsageError, match="Silent answered a request with NoneType"):
        ask(wb.live_io(model=Silent()).sync)
    with pytest.raises(wb.UsageError, match="what it goes around is an io"):
        wb.recording_io(wb.Model())  # type: ignore[arg-type]
