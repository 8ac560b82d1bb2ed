"""LangChain's tools: what they give is recorded where they do it, and comes back exactly."""

import asyncio
import threading
from decimal import Decimal
from typing import Annotated, Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.types import Command, Send
from pydantic import BaseModel, ValidationError

import workbench as wb
from workbench.faults import PartialSuccess, ToolError

ran: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


class Order(BaseModel):
    """What one tool gives."""

    number: int


@tool
def look(what: Any) -> Any:
    """Give back what one is asked for."""
    ran.append(what)
    return RESULTS[what]


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Find documents."""
    ran.append(query)
    return "one found", [Document("Bergen is wet", metadata={"page": 3}, id="d1")]


@tool
def picky(number: int, unit: str = "EUR") -> str:
    """Fail at odd numbers."""
    ran.append((number, unit))
    if number % 2:
        raise ToolException(f"{number} is odd")
    return f"{number} {unit}"


RESULTS: dict[str, Any] = {
    "text": "plain",
    "map": {"total": 149.99, "lc_class": "mine", "at": Decimal("1.50")},
    "pair": ("a", None),
    "message": ToolMessage("hi", tool_call_id="7", artifact={"x": (1, 2)}, status="error"),
    "documents": [Document("a", metadata={"k": Decimal(1)})],
    "command": Command(update={"messages": [HumanMessage("x", id="m")]}, goto=Send("n", {"a": 1})),
    "nothing": None,
}


def asked(name: str, call_id: str = "call_1", **arguments: Any) -> dict[str, Any]:
    """A model's call."""
    return {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}


@pytest.mark.parametrize("what", RESULTS)
@pytest.mark.parametrize("as_call", [False, True])
def test_every_kind_of_result_comes_back_exactly(what: str, as_call: bool) -> None:
    """A replay runs no tool, and gives what it gave: the same types, equal throughout."""
    given: Any = asked("look", what=what) if as_call else {"what": what}
    recorded = wb.record(lambda: [look.invoke(given)])
    assert ran == [what]
    (entry,) = recorded.trace.entries
    assert (entry.name, entry.arguments, entry.effect) == ("look", {"what": what}, None)
    got: list[Any] = []
    replayed = wb.replay(lambda: got.append(look.invoke(given)), recorded.trace)
    assert (replayed.status, ran) == ("ok", [what])
    again = look.invoke(given)
    assert type(got[0]) is type(again)
    assert got[0] == again


def test_async_tools_and_sync_tools_in_threads_are_answered() -> None:
    """A sync tool of an async agent runs in a worker thread, an async one in the loop."""

    @tool
    async def wait(seconds: float) -> str:
        """Wait."""
        ran.append(threading.current_thread())
        await asyncio.sleep(0)
        return f"waited {seconds}"

    async def agent() -> list[Any]:
        both = wait.ainvoke({"seconds": 1}), look.ainvoke({"what": "text"})
        return list(await asyncio.gather(*both))

    recorded = wb.record(agent)
    assert recorded.output == ["waited 1.0", "plain"]
    asked_for = {e.name: e.arguments for e in recorded.trace.entries}
    assert asked_for == {"wait": {"seconds": 1}, "look": {"what": "text"}}
    ran.clear()
    assert wb.replay(agent, recorded.trace).output == ["waited 1.0", "plain"]
    assert ran == []


def test_arguments_are_recorded_as_given_and_validated_by_the_framework() -> None:
    """The model's own text is what is recorded; a replay still validates, and refuses, it."""

    def agent(number: str) -> Any:
        return picky.invoke({"number": number})

    recorded = wb.record(agent, "4")
    assert recorded.output == "4 EUR"
    assert ran == [(4, "EUR")]
    assert recorded.trace.entries[0].arguments == {"number": "4"}
    assert wb.replay(agent, recorded.trace, "4").output == "4 EUR"
    drifted = wb.replay(agent, recorded.trace, "6")
    assert drifted.status == "drifted"
    assert '"6"' in str(drifted.drift)
    refused = wb.record(agent, "four")
    assert isinstance(refused.error, ValidationError)
    assert list(refused.trace.entries) == []


def test_a_tool_exception_is_handled_by_the_framework_in_a_replay_too() -> None:
    """``handle_tool_error`` makes a message of a recorded exception, as of a real one."""
    handling = picky.model_copy(update={"handle_tool_error": lambda error: f"no: {error}"})

    def agent() -> Any:
        return [handling.invoke(asked("picky", number=number)) for number in (3, 4)]

    recorded = wb.record(agent)
    failed, fine = recorded.trace.entries
    assert failed.error is not None
    assert (failed.error.type, failed.error.message) == ("ToolException", "3 is odd")
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert ran == []
    assert replayed.output == recorded.output
    first = agent()[0]
    assert (first.content, first.status) == ("no: 3 is odd", "error")
    assert fine.result == "4 EUR"
    bare = wb.record(lambda: picky.invoke({"number": 3}))
    again = wb.replay(lambda: picky.invoke({"number": 3}), bare.trace)
    assert isinstance(again.error, ToolException)
    assert str(again.error) == "3 is odd"


def test_an_injected_failure_is_one_that_the_framework_handles() -> None:
    """A fault in a tool that has a handler becomes a message, and else is the fault's error."""
    handling = picky.model_copy(update={"handle_tool_error": True})

    def agent(used: BaseTool) -> str:
        return str(used.invoke({"number": 4}))

    recorded = wb.record(agent, picky)
    broken = [ToolError("stock is down").at(tool="picky")]
    assert wb.replay(agent, recorded.trace, handling, faults=broken).output == "stock is down"
    failed = wb.replay(agent, recorded.trace, picky, faults=broken)
    assert isinstance(failed.error, wb.ToolFaultError)
    assert str(failed.error) == "stock is down"
    half = wb.replay(agent, recorded.trace, picky, faults=[PartialSuccess().at(tool="picky")])
    assert isinstance(half.error, wb.ToolFaultError)
    assert half.error.result == "4 EUR"


def test_edited_results_and_arguments_reach_the_agent_and_the_tool() -> None:
    """An edited result is what the agent gets; edited arguments are validated and run live."""

    def agent() -> Any:
        return [picky.invoke({"number": "4"}), search.invoke(asked("search", query="wet")).content]

    recorded = wb.record(agent)
    edits = recorded.trace.edit()
    edits = edits.tool_result(wb.entry(recorded.trace.entries[1].id), "nothing found")
    assert wb.replay(agent, recorded.trace, edits=edits).output == ["4 EUR", "nothing found"]


def test_what_the_framework_injects_is_neither_recorded_nor_asked_for() -> None:
    """A call is known by what the model gave: user ids, call ids and such may differ."""

    @tool
    def mine(
        what: str,
        user: Annotated[str, InjectedToolArg],
        call_id: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Give what is the user's."""
        ran.append((user, call_id))
        return f"{what} of {user}"

    def agent(user: str, call_id: str) -> Any:
        return mine.invoke(asked("mine", call_id, what="order", user=user)).content

    recorded = wb.record(agent, "ada", "call_1")
    assert recorded.trace.entries[0].request == {"name": "mine", "arguments": {"what": "order"}}
    assert ran == [("ada", "call_1")]
    assert wb.replay(agent, recorded.trace, "bob", "call_2").output == "order of ada"
    assert ran == [("ada", "call_1")]


def test_a_model_is_told_the_text_of_objects_that_no_trace_holds() -> None:
    """What an agent's model reads of such an object comes back; the object itself is refused."""

    @tool
    def orders() -> Any:
        """All orders."""
        return [Order(number=1)]

    def agent() -> Any:
        return orders.invoke(asked("orders")).content

    recorded = wb.record(agent)
    assert recorded.output == "[Order(number=1)]"
    assert wb.replay(agent, recorded.trace).output == recorded.output
    refused = wb.record(lambda: orders.invoke({}))
    assert "the result of the tool orders cannot be kept in a trace" in str(refused.error)


def test_every_way_to_make_a_tool_is_recorded() -> None:
    """Classes with methods of their own, single-input tools, and tools with a JSON Schema."""

    class Counted(BaseTool):
        name: str = "counted"
        description: str = "Count"
        calls: int = 0

        def _run(self, word: str, run_manager: Any = None) -> str:
            assert run_manager is not None
            self.calls += 1
            return f"{word} {self.calls}"

    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "title": "t"}
    counted = Counted()
    single = Tool("single", lambda text: text.upper(), "Shout")
    loose = StructuredTool(
        name="loose", description="d", args_schema=schema, func=lambda **given: given
    )

    def agent() -> list[Any]:
        return [
            counted.invoke("tick"),
            counted.invoke({"word": "tock"}),
            single.invoke("hey"),
            single.invoke({"__arg1": "you"}),
            loose.invoke({"a": 1}),
        ]

    recorded = wb.record(agent)
    assert recorded.output == ["tick 1", "tock 2", "HEY", "YOU", {"a": 1}]
    assert [e.arguments for e in recorded.trace.entries] == [
        {"tool_input": "tick"},
        {"word": "tock"},
        {"tool_input": "hey"},
        {"__arg1": "you"},
        {"a": 1},
    ]
    assert wb.replay(agent, recorded.trace).output == recorded.output
    assert counted.calls == 2


def test_a_workbench_tool_inside_is_the_same_call() -> None:
    """Its effect and its idempotency key count, and it is recorded once."""

    @wb.tool(effect="write", idempotency_key=lambda order_id, **_: f"refund:{order_id}")
    def refund(order_id: int, amount: float) -> str:
        """Pay back."""
        ran.append((order_id, wb.idempotency_key()))
        return f"refunded {amount}"

    wrapped = tool(refund)

    def agent(amount: float) -> Any:
        return wrapped.invoke({"order_id": 7, "amount": amount})

    recorded = wb.record(agent, 5.0)
    assert recorded.output == "refunded 5.0"
    (entry,) = recorded.trace.entries
    assert (entry.name, entry.effect) == ("refund", "write")
    assert str(entry.key).endswith("refund:7")
    assert ran == [(7, entry.key)]
    denied = wb.fork(agent, recorded.trace, 6.0, on_miss="live")
    assert denied.status == "blocked"
    assert ran == [(7, entry.key)]
    allowed = wb.fork(agent, recorded.trace, 6.0, on_miss="live", tools_after="allow")
    assert allowed.output == "refunded 6.0"
    assert len(ran) == 2


def test_tools_inside_tools_are_told_apart() -> None:
    """A tool that calls another has it inside; a replay answers the outer one only."""

    @tool
    def outer(number: int) -> str:
        """Ask the other one."""
        ran.append("outer")
        return f"<{picky.invoke({'number': number})}>"

    def agent() -> Any:
        return outer.invoke({"number": 4})

    recorded = wb.record(agent)
    around, inside = recorded.trace.entries
    assert (around.name, inside.name, inside.enclosing) == ("outer", "picky", around.id)
    ran.clear()
    assert wb.replay(agent, recorded.trace).output == "<4 EUR>"
    assert ran == []


def test_outside_a_session_and_after_it_tools_are_the_librarys_own() -> None:
    """Nothing is recorded, and the tool's class is as it was when the hooks are taken out."""
    from workbench.adapters.langchain import tool_adapter

    wb.record(lambda: picky.invoke({"number": 4}))
    hooked = BaseTool.run
    tool_adapter.uninstall()
    try:
        assert BaseTool.run is not hooked
        assert BaseTool.run.__module__ == "langchain_core.tools.base"
        assert not hasattr(BaseTool.run, "__wrapped__")
        assert picky.invoke({"number": 2}) == "2 EUR"
    finally:
        tool_adapter.install()


def test_two_tools_of_one_name_are_told_apart() -> None:
    """Another module's tool of the same name has no say: neither in the effect nor in the key."""

    @wb.tool(effect="write", idempotency_key=lambda number: f"mine:{number}")
    def close(number: int) -> str:
        """Close a ticket."""
        return f"closed {number}"

    @wb.tool(name="close", effect="read", idempotency_key=lambda path: f"theirs:{path}")
    def theirs(path: str) -> str:
        """Close a file."""
        return path

    by_itself = wb.record(lambda: tool(close).invoke({"number": 7})).trace.entries[0]
    assert (by_itself.effect, str(by_itself.key)[-6:]) == ("write", "mine:7")

    @tool("close")
    def around(number: int) -> str:
        """Close a ticket, by another's hand."""
        return close(number)

    by_name = wb.record(lambda: around.invoke({"number": 8})).trace.entries
    assert [(e.name, e.effect, str(e.key)[-6:]) for e in by_name] == [("close", "write", "mine:8")]
    assert theirs("x") == "x"
