"""What reaches the live world: stand-ins, pauses, secrets, and responses that nobody gave."""

from typing import Any

import pytest
from scripted import World, ask

import workbench as wb
from workbench.seam.calls import Call, Question

KEY = "sk-proj-Zt9QmW3xLk7RbV2yNc8HsDf4GjP6aUeT"


@wb.tool(effect="read")
def look_up(order_id: int) -> dict[str, Any]:
    """Look an order up."""
    return {"order_id": order_id, "paid": 149.99}


@wb.tool(effect="write")
def refund(order_id: int, amount: float) -> dict[str, Any]:
    """Pay money back."""
    REFUNDS.append((order_id, amount, wb.idempotency_key()))
    return {"id": f"RF-{len(REFUNDS)}"}


REFUNDS: list[tuple[int, float, str | None]] = []


@pytest.fixture(autouse=True)
def _no_refunds() -> None:
    REFUNDS.clear()


def agent() -> dict[str, Any]:
    """Look up, ask, pay."""
    order = look_up(101)
    ask("shall I?")
    return refund(101, order["paid"])


def test_simulate_runs_a_stand_in_instead_of_the_tool() -> None:
    """The live write does not happen; the agent gets what the function gives."""
    recorded = wb.record(agent)
    REFUNDS.clear()
    fork = wb.fork(
        agent,
        recorded.trace,
        live_from=wb.turn(1),
        tools_after="simulate",
        simulate={"refund": lambda order_id, amount: {"id": "SIM", "of": (order_id, amount)}},
    )
    assert (fork.status, fork.output) == ("ok", {"id": "SIM", "of": (101, 149.99)})
    assert REFUNDS == []
    last = fork.calls[-1]
    assert (last.name, last.how, last.reason) == ("refund", "simulated", "cut")
    entry = fork.trace.tools("refund")[0]
    assert (entry.source, entry.result) == ("simulated", fork.output)


def test_simulate_without_a_stand_in_ends_the_run() -> None:
    """Nothing is made up: the error names what is missing."""
    recorded = wb.record(agent)
    REFUNDS.clear()
    fork = wb.fork(agent, recorded.trace, live_from=wb.turn(1), tools_after="simulate")
    assert fork.status == "blocked"
    assert "simulate={'refund': a function}" in str(fork.error)
    assert REFUNDS == []
    with pytest.raises(wb.UsageError, match='tools_after="simulate"'):
        wb.fork(agent, recorded.trace, simulate={"refund": print})
    with pytest.raises(wb.UsageError, match="give a function"):
        wb.fork(agent, recorded.trace, tools_after="simulate", simulate={"refund": 3})  # type: ignore[dict-item]


def test_a_stand_in_that_raises_raises_in_the_agent() -> None:
    """As the tool itself would."""
    recorded = wb.record(agent)

    def broke(**_: Any) -> None:
        raise LookupError("no such order")

    fork = wb.fork(
        agent,
        recorded.trace,
        live_from=wb.turn(1),
        tools_after="simulate",
        simulate={"refund": broke},
    )
    assert fork.status == "failed"
    assert isinstance(fork.error, LookupError)


class Clerk(wb.Controller):
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[Question] = []

    def on_question(self, question: Question) -> None:
        self.asked.append(question)
        self.answer(question)

    on_pause = on_question


def test_a_question_can_be_answered_with_a_result() -> None:
    """Whoever is asked may say what the tool is to have given."""
    recorded = wb.record(agent)
    REFUNDS.clear()
    clerk = Clerk(lambda question: question.simulate({"id": "by hand"}))
    fork = wb.fork(agent, recorded.trace, live_from=wb.turn(1), tools_after="ask", controller=clerk)
    assert (fork.status, fork.output) == ("ok", {"id": "by hand"})
    assert REFUNDS == []
    assert [question.kind for question in clerk.asked] == ["write"]
    assert fork.trace.tools("refund")[0].source == "simulated"


def test_breakpoints_pause_a_run() -> None:
    """At a turn, and at a condition; the run goes on when the controller says so."""
    recorded = wb.record(agent)
    clerk = Clerk(lambda question: question.allow())

    def is_refund(call: Call) -> bool:
        return call.name == "refund"

    fork = wb.fork(
        agent,
        recorded.trace,
        live_from=wb.turn(1),
        tools_after="allow",
        breakpoints=[wb.turn(1), is_refund],
        controller=clerk,
    )
    assert fork.status == "ok"
    assert [(q.kind, q.turn) for q in clerk.asked] == [("pause", 1), ("pause", 1)]
    assert "refund(order_id=101" in clerk.asked[1].text


def test_a_breakpoint_without_a_controller_is_ignored() -> None:
    """Nobody is there to let it go on."""
    recorded = wb.record(agent)
    fork = wb.fork(agent, recorded.trace, breakpoints=[wb.turn(1)])
    assert fork.status == "ok"


def test_stopped_at_a_breakpoint() -> None:
    """The run ends there, and says so."""
    recorded = wb.record(agent)
    clerk = Clerk(lambda question: question.deny("seen enough"))
    fork = wb.fork(agent, recorded.trace, breakpoints=[wb.turn(1)], controller=clerk)
    assert fork.status == "blocked"
    assert "seen enough" in str(fork.error)


def leaky() -> str:
    """A model that hands out a key, which the agent passes on."""
    token = ask("the key?")["content"]
    return str(ask(f"use {token}")["content"])


def _keys(world: World) -> None:
    world.answer = lambda body: {
        "content": KEY if "the key?" in body["messages"][-1]["content"] else "done"
    }


def test_a_placeholder_never_goes_live_unresolved(world: World) -> None:
    """A redacted secret in a live call is put back from secrets=, or the call is refused."""
    _keys(world)
    recorded = wb.record(leaky)
    assert KEY not in str(recorded.trace.turn(2).model.request)
    assert wb.replay(leaky, recorded.trace).status == "ok"
    world.ran.clear()
    refused = wb.fork(leaky, recorded.trace, live_from=wb.turn(2))
    assert refused.status == "blocked"
    assert "secrets=" in str(refused.error)
    assert world.ran == []
    fork = wb.fork(leaky, recorded.trace, live_from=wb.turn(2), secrets=[KEY])
    assert (fork.status, fork.output) == ("ok", "done")
    assert world.ran[0]["messages"][-1]["content"] == f"use {KEY}"
    assert KEY not in str(fork.trace.turn(2).model.request)


def test_a_rotated_secret_is_served_and_said(world: World) -> None:
    """A request that differs in nothing but a redacted secret is the same request."""

    def with_key(key: str) -> str:
        return str(ask(f"log in with {key}")["content"])

    world.answer = lambda body: {"content": "welcome"}
    recorded = wb.record(with_key, KEY)
    world.ran.clear()
    other = KEY.replace("Zt9", "bC5")
    replayed = wb.replay(with_key, recorded.trace, other)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert world.ran == []
    assert any("secret rotated" in notice for notice in replayed.notices)
    assert [call.reason for call in replayed.calls] == ["rotated"]


def test_an_async_stand_in_is_awaited() -> None:
    """For an async tool; for a plain one it is refused with the reason."""

    @wb.tool(effect="write")
    async def pay(order_id: int) -> str:
        return f"paid {order_id}"

    async def payer() -> str:
        ask("shall I?")
        return await pay(7)

    async def stand_in(order_id: int) -> str:
        return f"would pay {order_id}"

    recorded = wb.record(payer)
    options: dict[str, Any] = {"live_from": wb.turn(1), "tools_after": "simulate"}
    fork = wb.fork(payer, recorded.trace, simulate={"pay": stand_in}, **options)
    assert (fork.status, fork.output) == ("ok", "would pay 7")

    plain = wb.record(agent)

    async def too_late(order_id: int, amount: float) -> None:
        raise AssertionError

    refused = wb.fork(agent, plain.trace, simulate={"refund": too_late}, **options)
    assert refused.status == "failed"
    assert "give a plain function" in str(refused.error)


def test_a_paused_call_can_be_answered() -> None:
    """Before the cut too: a tool with a value, a model with a text; nothing is left over."""
    recorded = wb.record(agent)

    def answered(where: Any, result: Any) -> wb.RunResult:
        clerk = Clerk(lambda question: question.simulate(result))
        return wb.fork(
            agent,
            recorded.trace,
            breakpoints=[where],
            on_miss="live",
            tools_after="allow",
            controller=clerk,
        )

    tool = answered(lambda call: call.name == "look_up", {"order_id": 1, "paid": 2.5})
    assert (tool.status, tool.leftover[0].name) == ("ok", "refund")
    assert REFUNDS[-1][1] == 2.5
    assert [call.how for call in tool.calls] == ["simulated", "replayed", "live"]
    model = answered(wb.turn(1), "by all means")
    assert model.status == "ok"
    assert model.trace.turn(1).text == "by all means"
    assert model.leftover == []
    refused = answered(wb.turn(1), 3)
    assert refused.status == "blocked"
    assert any("a model cannot have answered 3" in notice for notice in refused.notices)
