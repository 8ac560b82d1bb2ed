"""What can be a tool of one's own, and how its calls are told apart."""

import functools
import inspect
import pickle
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, cast, overload

import pytest
from pydantic import BaseModel, Field

import workbench as wb

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass
class Account:
    """An object with methods that are tools."""

    number: int
    log: list[str] = field(default_factory=list)

    @wb.tool(effect="write")
    def pay(self, amount: float, note: str = "-") -> str:
        """Pay an amount.

        Not to be said to a model.
        """
        return f"{self.number} paid {amount} {note}"

    @wb.tool(effect="read")
    async def look(self) -> int:
        """The number, later."""
        return self.number

    @wb.tool(effect="read")
    @staticmethod
    def rate(currency: str) -> float:
        """A rate, for nobody in particular."""
        return len(currency) / 10

    @staticmethod
    @wb.tool(effect="read")
    def outer_rate(currency: str) -> float:
        """The same, decorated the other way round."""
        return len(currency) / 10

    @wb.tool(effect="read")
    @classmethod
    def named(cls, name: str) -> str:
        """What the class is called."""
        return f"{cls.__name__} {name}"

    @classmethod
    @wb.tool(effect="read")
    def outer_named(cls, name: str) -> str:
        """The same, decorated the other way round."""
        return f"{cls.__name__} {name}"


class Order(BaseModel):
    """A model as an argument."""

    id: int
    tags: list[str] = []


class Adder:
    """An object that is called."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.schema = "not a tool's"

    def __call__(self, value: int) -> int:
        """Add the step."""
        return value + self.step


class Later(Adder):
    """One that is awaited."""

    async def __call__(self, value: int) -> int:  # type: ignore[override]
        """Add the step, later."""
        return value + self.step


def plus(left: int, right: int = 1) -> int:
    """Add two numbers."""
    return left + right


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator, as there are many."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2

    return wrapped


@wb.tool(effect="read")
def all_kinds(
    first: int, /, second: str = "b", *rest: int, only: bool = False, **more: float
) -> Any:
    """Every kind of parameter."""
    return [first, second, rest, only, more]


def same(agent: Callable[..., Any], *args: Any) -> Any:
    """Record, replay, and give the recorded result, once the replay gave the same."""
    recorded = wb.record(agent, *args)
    assert recorded.status == "ok", recorded.error
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
    assert {call.how for call in replayed.calls} == {"replayed"}
    return recorded


def test_methods_static_and_class_methods() -> None:
    """Bound or not, decorated outside or inside: one call, with the object in its request."""

    async def agent() -> list[Any]:
        one = Account(1)
        return [
            one.pay(2.5),
            Account.pay(one, 2.5),
            await one.look(),
            one.rate("eur"),
            Account.rate("eur"),
            one.outer_rate("eur"),
            one.named("x"),
            Account.named("x"),
            Account.outer_named("x"),
        ]

    recorded = same(agent)
    assert recorded.output[:3] == ["1 paid 2.5 -", "1 paid 2.5 -", 1]
    assert recorded.output[3:] == [0.3, 0.3, 0.3, "Account x", "Account x", "Account x"]
    paid = recorded.trace.tools("pay")
    assert paid[0].request == paid[1].request
    assert paid[0].request["self"] == {"Account": {"number": 1, "log": []}}
    assert paid[0].arguments == {"amount": 2.5, "note": "-"}


def test_two_objects_are_told_apart() -> None:
    """The same arguments to another object are another call."""
    recorded = wb.record(lambda: Account(1).pay(5))
    other = wb.replay(lambda: Account(2).pay(5), recorded.trace)
    assert other.status == "drifted"


def test_a_bound_method_can_be_made_a_tool() -> None:
    """`tool(object.method)` is the object's own."""

    def agent() -> list[str]:
        tools = [wb.tool(Box(each).open) for each in (1, 2)]
        return [tool() for tool in tools]

    recorded = same(agent)
    assert recorded.output == ["box 1", "box 2"]
    assert [call.request["self"] for call in recorded.trace.tools("open")] == [
        {"Box": {"number": 1}},
        {"Box": {"number": 2}},
    ]


@dataclass
class Box:
    """Something that can be opened."""

    number: int

    def open(self) -> str:
        """Open it."""
        return f"box {self.number}"


def test_objects_partials_and_decorated_functions() -> None:
    """Whatever can be called can be a tool, with its name, signature and description."""
    tools: dict[str, Any] = {
        "Adder": wb.tool(Adder(5)),
        "plus": wb.tool(functools.partial(plus, 10)),
        "add": wb.tool(name="add")(functools.partial(plus, right=3)),
        "later": wb.tool(name="later")(Later(7)),
        "doubled": wb.tool(name="doubled")(twice(plus)),
    }

    async def agent() -> list[Any]:
        now = [tools["Adder"](1), tools["plus"](1), tools["add"](1), tools["doubled"](1, 2)]
        return [*now, await tools["later"](1)]

    assert same(agent).output == [6, 11, 4, 6, 8]
    assert {name: tool.name for name, tool in tools.items()} == {name: name for name in tools}
    assert list(tools["plus"].schema["properties"]) == ["right"]
    assert tools["add"].schema["properties"]["right"] == {"default": 3, "type": "integer"}
    assert tools["Adder"].schema["properties"] == {"value": {"type": "integer"}}
    assert [tools[name].description for name in ("Adder", "plus", "doubled")] == [
        "Add the step.",
        "Add two numbers.",
        "Add two numbers.",
    ]


def test_every_kind_of_parameter() -> None:
    """Defaults, further positions and names are part of the request, and edits give them back."""
    recorded = same(lambda: all_kinds(1, "c", 3, 4, only=True, size=2.5))
    (call,) = recorded.trace.tools()
    assert call.arguments == {
        "first": 1,
        "second": "c",
        "rest": (3, 4),
        "only": True,
        "more": {"size": 2.5},
    }
    assert same(lambda: all_kinds(1)).trace.tools()[0].arguments["second"] == "b"
    edits = recorded.trace.edit().tool_arguments(wb.entry(call.id), {**call.arguments, "first": 9})
    edited = wb.fork(
        lambda: all_kinds(1, "c", 3, 4, only=True, size=2.5), recorded.trace, edits=edits
    )
    assert edited.output == [9, "c", (3, 4), True, {"size": 2.5}]
    schema = all_kinds.schema
    assert list(schema["properties"]) == ["first", "second", "only"]
    assert schema["additionalProperties"] == {"title": "P", "type": "number"} or schema[
        "additionalProperties"
    ] == {"type": "number"}


def test_dataclasses_and_models_as_arguments() -> None:
    """They stand in the request as data, and an edit of them arrives as the declared type."""
    seen: list[Any] = []

    @wb.tool(effect="read")
    def check(order: Order, box: Box | None = None, when: date = date(2026, 1, 2)) -> Order:
        seen.append((order, box, when))
        return order

    def agent() -> Any:
        return check(Order(id=3, tags=["a"]), Box(1))

    recorded = same(agent)
    (call,) = recorded.trace.tools()
    assert call.arguments["order"] == {"id": 3, "tags": ["a"]}
    given = {**call.arguments, "order": {"id": 4, "tags": []}}
    edits = recorded.trace.edit().tool_arguments(wb.entry(call.id), given)
    forked = wb.fork(agent, recorded.trace, edits=edits)
    assert forked.output == Order(id=4)
    assert seen[-1] == (Order(id=4), Box(1), date(2026, 1, 2))


def test_the_schema_of_modern_annotations() -> None:
    """Unions, Annotated, names that pydantic uses itself, and defaults that JSON does not have."""

    @wb.tool
    def search(
        query: Annotated[str, Field(description="What to look for", min_length=2)],
        json: dict[str, int] | None = None,
        copy: typing.Literal["a", "b"] = "a",
        _limit: int = 5,
        when: Any = sys,
    ) -> None:
        """Look for something."""

    schema = search.schema
    assert schema["required"] == ["query"]
    assert schema["properties"]["query"] == {
        "description": "What to look for",
        "minLength": 2,
        "type": "string",
    }
    assert schema["properties"]["json"]["anyOf"][1] == {"type": "null"}
    assert schema["properties"]["copy"]["enum"] == ["a", "b"]
    assert schema["properties"]["_limit"] == {"default": 5, "type": "integer"}
    assert "default" not in schema["properties"]["when"]
    assert schema["additionalProperties"] is False


def test_a_schema_that_cannot_be_made_is_named() -> None:
    """A type that JSON has no form for is refused with the tool's name, only when it is asked."""

    @wb.tool
    def query(connection: Callable[[], int]) -> None:
        """Needs something that no model can give."""

    with pytest.raises(wb.UsageError, match="tool query: no JSON Schema can be made"):
        _ = query.schema


def test_annotations_for_type_checking_only_do_not_stop_a_replay() -> None:
    """A result annotation that does not exist at run time is of no use, and does no harm."""

    @wb.tool(effect="read")
    def total() -> "Decimal":
        from decimal import Decimal

        return Decimal("1.50")

    assert str(same(total).output) == "1.50"
    with pytest.raises(wb.UsageError, match="not only for type checking"):
        _ = total.hints


def test_overloads_are_their_implementation() -> None:
    """What type checkers see of a function does not matter when it is called."""

    @overload
    def half(value: int) -> int: ...
    @overload
    def half(value: str) -> str: ...
    def half(value: int | str) -> int | str:
        return value // 2 if isinstance(value, int) else value[: len(value) // 2]

    tool = wb.tool(effect="read")(half)
    assert same(lambda: [tool(8), cast("Any", tool)("four")]).output == [4, "fo"]
    assert tool.schema["properties"]["value"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]


def test_a_tool_looks_like_its_function() -> None:
    """What inspects a function finds the same on the tool, a method without `self`."""
    tool = wb.tool(plus)
    assert inspect.signature(tool) == inspect.signature(plus)
    assert typing.get_type_hints(tool) == typing.get_type_hints(plus)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__code__"):
        assert getattr(tool, name) == getattr(plus, name)
    assert inspect.unwrap(tool) is plus
    bound = Account(1).look
    assert inspect.iscoroutinefunction(bound)
    assert not inspect.iscoroutinefunction(Account(1).pay)
    assert str(inspect.signature(Account(1).pay)) == "(amount: float, note: str = '-') -> str"
    assert str(inspect.signature(Account.rate)) == "(currency: str) -> float"
    assert str(inspect.signature(Account.named)) == "(name: str) -> str"
    assert list(Account(1).pay.schema["properties"]) == ["amount", "note"]
    assert Account(1).pay.description == "Pay an amount."
    assert wb.tool(name="other")(plus).__name__ == "other"


MODULE_TOOL = wb.tool(effect="read")(len)


def test_functions_written_in_c_and_pickling() -> None:
    """A builtin can be a tool; a tool is pickled by its name, for pools of processes."""
    assert same(lambda: MODULE_TOOL([1, 2])).output == 2
    assert pickle.loads(pickle.dumps(all_kinds)) is all_kinds  # noqa: S301 - our own bytes
    unknown = wb.record(wb.tool(cast("Any", vars)), Box(1))
    assert "tool vars: Python knows no signature" in str(unknown.error)
