"""What pydantic-ai's tools return, raise and wait for, as a replay gives it."""

import asyncio
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ImageUrl,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturn
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_shop import ran
from shop_model import own_loop

import workbench as wb
from workbench.adapters.pydantic_ai.results import Results
from workbench.errors import UnencodableError


class Order(BaseModel):
    """An order."""

    number: int
    total: Decimal


@dataclass
class Parcel:
    """What was sent."""

    to: str
    at: dt.date


DAY = dt.date(2025, 11, 3)
PICTURE = BinaryContent(b"\x89PNG", media_type="image/png", identifier="pic")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    ran.clear()
    with own_loop():
        yield


def calls(*names: str) -> FunctionModel:
    """A model that calls these tools at once, and then is done."""

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(name, {}, f"id-{name}") for name in names])

    return FunctionModel(decide)


def contents(result: Any) -> dict[str, Any]:
    """What each tool gave, as the conversation holds it."""
    return {
        part.tool_name: (part.content, part.metadata)
        for message in result.all_messages()
        for part in message.parts
        if part.part_kind == "tool-return"
    }


def one_order() -> Order:
    """A model of pydantic's."""
    ran.append("one_order")
    return Order(number=101, total=Decimal("149.99"))


def many_parcels() -> list[Parcel]:
    """Dataclasses in a list."""
    ran.append("many_parcels")
    return [Parcel("Ada", DAY)]


def told() -> Any:
    """A result with more for the model, and something for the application alone."""
    ran.append("told")
    order: Any = Order(number=7, total=Decimal(1)) if TYPED else {"number": 7}
    made: Any = ToolReturn
    return made(order, content=["See:", PICTURE], metadata={"at": DAY, "pair": (1, 2)})


TYPED = hasattr(ToolReturn, "__class_getitem__")
"""Whether this release can say of what type a result's value is."""
if TYPED:
    told.__annotations__["return"] = ToolReturn[Order]


async def pictures() -> Any:
    """The library's own contents, in data."""
    ran.append("pictures")
    return {"first": PICTURE, "all": [PICTURE, ImageUrl("https://example.com/a.png"), "text"]}


def plain() -> Any:
    """What a trace has tags for."""
    ran.append("plain")
    return {"when": DAY, "sum": Decimal("0.10"), "$pydantic_ai": "mine"}


TOOLS: list[Any] = [one_order, many_parcels, told, pictures, plain]


def test_results_come_back_with_their_types() -> None:
    """Models and dataclasses by the function's annotation, the library's own types by name."""

    def agent() -> Any:
        names = [tool.__name__ for tool in TOOLS]
        return contents(Agent(calls(*names), tools=TOOLS).run_sync("go"))

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert recorded.output["one_order"] == (Order(number=101, total=Decimal("149.99")), None)
    count = len(ran)
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, len(ran)) == ("ok", count), replayed.drift
    assert replayed.output == recorded.output
    assert repr(replayed.output) == repr(recorded.output)
    (order,) = recorded.trace.tools("one_order")
    assert order.result == {"number": 101, "total": Decimal("149.99")}


def test_a_type_that_nobody_names_comes_back_as_data_and_the_run_says_so() -> None:
    """Without an annotation the result's data is all there is; what has none is refused."""

    def parcel():  # type: ignore[no-untyped-def] # noqa: ANN202 - that is the point
        return Parcel("Ada", DAY)

    def agent() -> Any:
        return contents(Agent(calls("parcel"), tools=[parcel]).run_sync("go"))["parcel"][0]

    recorded = wb.record(agent)
    assert recorded.output == Parcel("Ada", DAY)
    assert any("annotate what it returns" in each for each in recorded.notices)
    assert wb.replay(agent, recorded.trace).output == {"to": "Ada", "at": DAY}
    with pytest.raises(UnencodableError):
        Results().dump(object())


def test_an_edited_result_may_be_any_value() -> None:
    """A result that a person wrote has no type but its own."""

    def agent() -> Any:
        return contents(Agent(calls("told"), tools=[told]).run_sync("go"))["told"]

    recorded = wb.record(agent)
    edits = recorded.trace.edit().tool_result(wb.turn(1), "nothing", tool="told")
    forked = wb.fork(agent, recorded.trace, edits=edits)
    assert forked.status == "ok", forked.error
    assert forked.output == ("nothing", None)


@wb.tool(effect="write", idempotency_key=lambda number: f"pay:{number}")
async def pay(number: int) -> str:
    """Pay."""
    await asyncio.sleep(0)
    ran.append((number, wb.idempotency_key()))
    return "paid"


def test_an_async_tool_of_the_workbench_is_awaited_and_recorded_once() -> None:
    """A function with ``@workbench.tool`` is a tool of the library like any other."""

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = ToolCallPart("pay", {"number": 7}) if len(messages) == 1 else TextPart("done")
        return ModelResponse([said])

    def agent() -> Any:
        return contents(Agent(FunctionModel(decide), tools=[pay]).run_sync("go"))

    recorded = wb.record(agent)
    assert recorded.output == {"pay": ("paid", None)}, recorded.error
    (entry,) = recorded.trace.tools()
    assert (entry.name, entry.effect, entry.arguments) == ("pay", "write", {"number": 7})
    assert ran == [(7, entry.key)]
    assert wb.replay(agent, recorded.trace).output == recorded.output
    assert len(ran) == 1


def test_what_needs_approval_is_not_called_before_it_has_it() -> None:
    """Deferred calls leave the run, and what was approved is recorded when it happens."""

    def plan(sure: bool) -> Any:
        agent: Agent[None, Any] = Agent(calls("wipe"), output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def wipe() -> str:
            ran.append("wipe")
            return "wiped"

        asked = agent.run_sync("go")
        assert isinstance(asked.output, DeferredToolRequests)
        (waiting,) = asked.output.approvals
        answers = DeferredToolResults(approvals={waiting.tool_call_id: sure})
        history = asked.all_messages()
        return contents(agent.run_sync(message_history=history, deferred_tool_results=answers))

    recorded = wb.record(plan, True)
    assert recorded.output == {"wipe": ("wiped", None)}, recorded.error
    assert [entry.name for entry in recorded.trace.tools()] == ["wipe"]
    replayed = wb.replay(plan, recorded.trace, True)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, ["wipe"])


def test_a_tool_that_asks_for_approval_itself_asks_again_in_a_replay() -> None:
    """What it raised is raised again, with what it said of it."""

    def plan() -> Any:
        agent: Agent[None, Any] = Agent(calls("wipe"), output_type=[str, DeferredToolRequests])

        @agent.tool_plain
        def wipe() -> str:
            ran.append("wipe")
            raise ApprovalRequired({"why": "it deletes"})

        output = agent.run_sync("go").output
        why = {"id-wipe": {"why": "it deletes"}}
        return output.approvals[0].tool_name, getattr(output, "metadata", why)  # since 1.11

    recorded = wb.record(plan)
    assert recorded.output == ("wipe", {"id-wipe": {"why": "it deletes"}}), recorded.error
    replayed = wb.replay(plan, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, ["wipe"])


def test_structured_output_is_no_call_to_the_world() -> None:
    """A tool that only carries the output is the model's reply, and not recorded as a tool."""

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        (output,) = info.output_tools
        return ModelResponse([ToolCallPart(output.name, {"number": 1, "total": "2.5"})])

    def agent() -> Any:
        return Agent(FunctionModel(decide), output_type=Order).run_sync("go").output

    recorded = wb.record(agent)
    assert recorded.output == Order(number=1, total=Decimal("2.5"))
    assert [entry.kind for entry in recorded.trace.entries] == ["model"]
    assert wb.replay(agent, recorded.trace).output == recorded.output
