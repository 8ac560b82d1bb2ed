"""Two lists of tools, and what is said of how they differ."""

import pytest

from workbench.trace.payloads import ToolSpec
from workbench.trace.toollists import (
    keeps_session,
    list_changed,
    specs,
    tool_changes,
    tools_in,
    without_heard,
)


def _tool(name: str = "get_order", needs: tuple[str, ...] = (), **arguments: object) -> dict:  # type: ignore[type-arg]
    schema = {"type": "object", "properties": arguments, "required": list(needs)}
    return {"name": name, "description": "Look up.", "inputSchema": schema}


WAS = _tool(order_id={"type": "integer"})


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (WAS, []),
        (_tool(order_id={"type": "integer", "title": "Order"}),
         ["get_order: argument 'order_id' described differently"]),
        (_tool(order_id={"type": "string"}), ["get_order: argument 'order_id' integer → string"]),
        (_tool(order_id={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
         ["get_order: argument 'order_id' integer → integer or null"]),
        (_tool(order_id={"enum": [7, 8]}),
         ["get_order: argument 'order_id' integer → one of 7, 8"]),
        (_tool(order_id={"type": "array", "items": {"type": "integer"}}),
         ["get_order: argument 'order_id' integer → list of integer"]),
        (_tool(needs=("order_id",), order_id={"type": "integer"}),
         ["get_order: argument 'order_id' required now"]),
        (_tool(id={"type": "integer"}, needs=("id",)),
         ["get_order: argument 'order_id' removed",
          "get_order: argument 'id' added (integer, required)"]),
        ({**WAS, "description": "Find."}, ["get_order: description “Look up.” → “Find.”"]),
        ({**WAS, "annotations": {"readOnlyHint": True}},
         ["get_order: readOnlyHint (none) → true"]),
        ({**WAS, "outputSchema": {"type": "object"}}, ["get_order: result changed"]),
        ({**WAS, "inputSchema": {**WAS["inputSchema"], "additionalProperties": False}},
         ["get_order: arguments described differently"]),
        ({**WAS, "name": "find"}, ["find added", "get_order removed"]),
    ],
)  # fmt: skip
def test_a_change_of_one_tool_is_said_in_a_few_words(now: dict, said: list[str]) -> None:  # type: ignore[type-arg]
    """Each kind of change has its own words, and nothing is said where nothing changed."""
    assert tool_changes([WAS], [now]) == said


def test_another_order_is_a_change() -> None:
    """A model reads the tools in their order, so another order is said, alone."""
    a, b = _tool("a"), _tool("b")
    assert tool_changes([a, b], [b, a]) == ["the same tools in another order"]
    assert tool_changes([a, b], [b]) == ["a removed"]


def test_long_descriptions_are_clipped_and_odd_tools_are_read() -> None:
    """One change is one short line; a schema that is none breaks nothing."""
    long = {**WAS, "description": "word " * 100}
    (said,) = tool_changes([WAS], [long])
    assert len(said) < 120
    assert said.endswith("…”")
    odd = [{"name": "x", "inputSchema": None, "annotations": None}]
    assert tool_changes(odd, [{"name": "x", "inputSchema": {"properties": 3}}]) == [
        "x: arguments described differently"
    ]
    assert tool_changes([{}], [{}]) == []


def test_a_model_s_tools_are_compared_in_the_same_words() -> None:
    """What a model is offered and what a server has differ by the same text."""
    old = ToolSpec("f", "", {"properties": {"x": {"type": "integer"}}})
    new = ToolSpec("f", "", {"properties": {"x": {"$ref": "#/$defs/Size"}}})
    assert tool_changes(specs([old]), specs([new])) == ["f: argument 'x' integer → Size"]


def test_the_sentence_names_the_server_where_it_is_known() -> None:
    """The name stands in it once it is known, and nothing stands in for it."""
    assert list_changed("shop", ["a added", "b removed"]) == (
        "the tool list of server 'shop' changed: a added; b removed"
    )
    assert list_changed(None, ["a added"]) == "the tool list changed: a added"


def test_answers_and_names_are_told_apart() -> None:
    """Only a list of tools is one, only a session's own requests keep it up, and only a list of
    what was heard is taken from an answer."""
    assert tools_in({"tools": [{"name": "a"}, 3]}) == [{"name": "a"}]
    assert tools_in({"tools": "a"}) is None
    assert tools_in(None) is None
    assert [keeps_session(each) for each in ("mcp:ping", "refund", None)] == [True, False, False]
    assert without_heard({"content": [], "notifications": [{"progress": 1}]}) == {"content": []}
    assert without_heard({"notifications": 3}) == {"notifications": 3}
    assert without_heard("text") == "text"
