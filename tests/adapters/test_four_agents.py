"""The same agent on OpenAI's SDK, pydantic-ai, LangGraph and the agents SDK: the same three lines
record it, replay it, and fork it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import ChatServer
from four_agents import SENT, TOOLS, WAYS, Agent, decide

import workbench as wb
from workbench.faults import HttpError, MalformedToolCall
from workbench.providers.local import local_model, stop

QUESTION = "Where is my order 101?"
DONE = "I wrote to the customer: sent."
OVER = {"RuntimeError", "UsageLimitExceeded", "GraphRecursionError", "MaxTurnsExceeded"}
"""How the four end when the model goes round in circles."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server that plays :func:`decide`."""
    SENT.clear()
    with ChatServer(decide) as running:
        yield running


@pytest.fixture(params=list(WAYS))
def agent(request: pytest.FixtureRequest, server: ChatServer) -> Agent:
    """The agent, in one of the four ways."""
    made: Agent = WAYS[request.param](server.url, TOOLS)
    return made


def test_it_is_recorded_and_replayed_with_the_server_stopped(
    agent: Agent, server: ChatServer, connections: list[object]
) -> None:
    """The same entries in the same order from each of them, and a strict replay without a
    connection that writes to nobody."""
    recorded = wb.record(agent, QUESTION)
    assert (recorded.status, recorded.output) == ("ok", DONE), recorded.error
    assert [(e.kind, e.name or e.api, e.effect, e.key) for e in recorded.trace.entries] == [
        ("model", "openai.chat", None, None),
        ("tool", "find_order", "read", None),
        ("model", "openai.chat", None, None),
        ("tool", "send_email", "write", "email:ada@example.com"),
        ("model", "openai.chat", None, None),
    ]
    assert SENT == ["ada@example.com: Your two lamps will come."]
    server.stop()
    connections.clear()
    replayed = wb.replay(agent, recorded.trace, QUESTION)
    assert (replayed.status, replayed.output) == ("ok", DONE)
    assert (len(SENT), connections) == (1, [])
    assert wb.replay(agent, recorded.trace, "Where is order 7?").status == "drifted"


def test_an_edited_reply_changes_what_it_does(agent: Agent) -> None:
    """Another call in the model's mouth is made, and what follows from it runs live."""
    recorded = wb.record(agent, QUESTION)
    letter = {"to": "bob@example.com", "text": "Sorry!"}
    edits = recorded.trace.edit().reply(wb.turn(2), tool_call=("send_email", letter))
    denied = wb.fork(agent, recorded.trace, QUESTION, edits=edits)
    assert (denied.status, len(SENT)) == ("blocked", 1)
    forked = wb.fork(agent, recorded.trace, QUESTION, edits=edits, tools_after="allow")
    assert (forked.status, forked.output) == ("ok", DONE), forked.error
    assert SENT[1:] == ["bob@example.com: Sorry!"]
    assert [(c.kind, c.how) for c in forked.calls] == [
        ("model", "replayed"),
        ("tool", "replayed"),
        ("model", "edited"),
        ("tool", "live"),
        ("model", "live"),
    ]


def test_a_refused_call_is_survived_by_its_own_retry(agent: Agent, server: ChatServer) -> None:
    """An injected 429 below the SDK's retries is tried again, and the run ends as it did."""
    recorded = wb.record(agent, QUESTION)
    server.stop()
    faults = [HttpError(429).at(wb.turn(2), layer="below")]
    survived = wb.replay(agent, recorded.trace, QUESTION, faults=faults)
    assert (survived.status, survived.output) == ("ok", DONE), survived.error
    assert [str(kind.type) for kind, _ in survived.fired] == ["http_error"]
    failed = wb.replay(agent, recorded.trace, QUESTION, faults=[HttpError(429).at(wb.turn(2))])
    assert failed.status == "failed"
    assert "429" in f"{failed.error} {getattr(failed.error, 'status_code', '')}"


def test_a_broken_call_drifts_by_what_was_sent_for_it(server: ChatServer) -> None:
    """A library makes up an id that was not recorded: the drift tells what is asked for it, and
    not that the library made up one more."""
    made = WAYS["pydantic-ai"](server.url, TOOLS)
    recorded = wb.record(made, QUESTION)
    for mutate in ("bad_json", "unknown_tool", "missing_argument", "extra_argument", "wrong_type"):
        faults = [MalformedToolCall(mutate).at(wb.turn(1))]
        replayed = wb.replay(made, recorded.trace, QUESTION, faults=faults)
        assert replayed.status == "drifted"
        assert str(replayed.drift).startswith("drift at turn 2 · model call"), mutate


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A local model of the tests' own."""
    folder: Path = tmp_path_factory.mktemp("local")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_LOCAL_THREADS", "1")
        patch.setenv("WORKBENCH_LOCAL_DIR", str(folder))
        with local_model(idle_s=1) as url:
            yield url
        stop()


@pytest.mark.model
@pytest.mark.parametrize("way", list(WAYS))
def test_it_goes_on_with_a_live_model(way: str, server: ChatServer, live: str) -> None:
    """From the third turn on a real model answers; what was before comes from the recording, and
    what it wants to write is simulated."""
    recorded = wb.record(WAYS[way](server.url, TOOLS), QUESTION)
    server.stop()
    forked = wb.fork(
        WAYS[way](live, TOOLS),
        recorded.trace,
        QUESTION,
        live_from=wb.turn(3),
        tools_after="simulate",
        simulate={"send_email": lambda to, text: f"not sent to {to}"},
    )
    assert forked.status == "ok" or type(forked.error).__name__ in OVER, forked.error
    hows = [(c.kind, c.how) for c in forked.calls]
    assert hows[:5] == [
        ("model", "replayed"),
        ("tool", "replayed"),
        ("model", "replayed"),
        ("tool", "replayed"),
        ("model", "live"),
    ]
    answered = forked.trace.models()[2]
    assert (answered.source, answered.provider) == ("live", "local")
    assert len(SENT) == 1
