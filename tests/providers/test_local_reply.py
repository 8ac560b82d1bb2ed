"""The parts of the local model's front that need no model: reading replies, writing requests."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.providers.local.api import ApiError
from workbench.providers.local.chat import plan
from workbench.providers.local.front import parse_json
from workbench.providers.local.reply import Arguments, Name, Piece, ReplyReader, Text
from workbench.providers.local.schema import MAX_STRING, reply_schema

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FORMS = st.sampled_from([{"ensure_ascii": True}, {"ensure_ascii": False}])
USER = {"role": "user", "content": "hello"}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """A tool in OpenAI's shape."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def read(text: str, size: int, stops: tuple[str, ...] = ()) -> list[Piece]:
    """Read a reply that arrives in pieces of ``size`` characters."""
    reader = ReplyReader(stops)
    pieces = [p for at in range(0, len(text), size) for p in reader.feed(text[at : at + size])]
    return pieces + reader.end()


def joined(pieces: list[Piece], kind: type[Piece]) -> str:
    """The text of all pieces of one kind."""
    return "".join(piece.text for piece in pieces if isinstance(piece, kind))


@given(st.text(min_size=1), st.dictionaries(st.text(), JSON), st.integers(1, 9), FORMS)
def test_a_call_is_read_the_same_however_it_is_cut(
    name: str, arguments: dict[str, Any], size: int, form: dict[str, Any]
) -> None:
    """A streamed call has the name and the arguments of the plain one, wherever chunks end."""
    raw = json.dumps({"tool": name, "arguments": arguments}, indent=1, **form)
    pieces = read(raw, size)
    assert joined(pieces, Name) == name
    assert json.loads(joined(pieces, Arguments)) == arguments
    assert joined(pieces, Text) == ""


@given(st.text(), st.integers(1, 9), FORMS)
def test_an_answer_is_read_the_same_however_it_is_cut(
    answer: str, size: int, form: dict[str, Any]
) -> None:
    """No chunk boundary may split an escape or a surrogate pair of the answer."""
    raw = json.dumps({"answer": answer}, **form)
    pieces = read(raw, size)
    assert joined(pieces, Text) == answer
    assert [piece for piece in pieces if not isinstance(piece, Text)] == []


@given(st.text("ab.\n", max_size=30), st.lists(st.text("ab.\n", min_size=1), max_size=3))
def test_an_answer_ends_before_its_first_stop(answer: str, stops: list[str]) -> None:
    """A stop text never shows, nor what follows it, even when chunks cut it in two."""
    ends = [
        end - len(stop)
        for end in range(len(answer) + 1)
        for stop in sorted(stops, key=len, reverse=True)
        if answer[:end].endswith(stop)
    ]
    cut = ends[0] if ends else len(answer)
    for size in (1, 2, 100):
        pieces = read(json.dumps({"answer": answer}), size, tuple(stops))
        assert joined(pieces, Text) == answer[:cut]


def test_a_stop_never_cuts_arguments() -> None:
    """A newline as stop text must not leave a call with half of its arguments."""
    pieces = read('{"tool": "t",\n "arguments": {\n"a": "x y"}}', 3, ("\n", "x", "}"))
    assert joined(pieces, Arguments) == '{"a":"x y"}'


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    """The model may write what is no character; it must not make a reply that cannot be sent."""
    for size in (1, 4, 100):
        pieces = read(r'{"answer": "a\ud83dz\ude00"}', size)
        assert joined(pieces, Text) == "a\ufffdz\ufffd"


def test_a_reply_cut_by_max_tokens_gives_what_there_is() -> None:
    """A truncated call keeps its name and the part of its arguments that came."""
    pieces = read('{"tool": "pay", "arguments": {"amount": 12', 5)
    assert (joined(pieces, Name), joined(pieces, Arguments)) == ("pay", '{"amount":12')
    assert read('{"tool": "pa', 5) == []


def test_definitions_of_two_tools_do_not_clash() -> None:
    """Two tools may each define a type of the same name; each keeps its own."""
    tools = [
        {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"item": {"$ref": "#/$defs/Item"}},
                "$defs": {"Item": {"type": kind}},
            },
        }
        for name, kind in (("a", "string"), ("b", "integer"))
    ]
    schema = reply_schema(tools, answer=None)
    types = []
    for option in schema["anyOf"]:
        reference = option["properties"]["arguments"]["properties"]["item"]["$ref"]
        types.append(schema["$defs"][reference.removeprefix("#/$defs/")])
    assert types == [{"type": "string", "maxLength": MAX_STRING}, {"type": "integer"}]


def test_history_is_written_as_text_and_ids_find_their_tool() -> None:
    """The model sees each call in the form it is asked for, and which tool each result is of."""
    call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"n":1}'}}
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "Be exact."}]},
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
    ]
    body = plan({"messages": messages, "tools": [tool("pay", n={"type": "integer"})]}).upstream
    system, *rest = body["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith("Be exact.\n\nYou can use tools.")
    assert "- pay(n: integer)" in system["content"]
    assert rest == [
        USER,
        {"role": "assistant", "content": '{"tool": "pay", "arguments": {"n":1}}'},
        {"role": "user", "content": "Result of pay: paid"},
    ]


@pytest.mark.parametrize(
    ("choice", "names", "answers"),
    [
        (None, ["a", "b"], 1),
        ("auto", ["a", "b"], 1),
        ("required", ["a", "b"], 0),
        ({"type": "function", "function": {"name": "b"}}, ["b"], 0),
    ],
)
def test_tool_choice_decides_the_alternatives(choice: Any, names: list[str], answers: int) -> None:
    """The grammar offers exactly the tools that the request allows, and an answer only then."""
    body = {"messages": [USER], "tools": [tool("a"), tool("b")], "tool_choice": choice}
    schema = plan(body).upstream["response_format"]["json_schema"]["schema"]
    options = [option["properties"] for option in schema["anyOf"]]
    assert [option["tool"]["const"] for option in options if "tool" in option] == names
    assert sum("answer" in option for option in options) == answers


def test_only_repeatable_requests_give_up_the_prompt_cache() -> None:
    """Temperature 0 or a seed asks for the same reply again, which the cache does not keep."""
    reuse = [
        plan({"messages": [USER], **more}).upstream["cache_prompt"]
        for more in ({}, {"temperature": 0.7}, {"temperature": 0}, {"seed": 0})
    ]
    assert reuse == [True, True, False, False]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "wizard"}]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0]"),
        ({"tools": "x"}, "tools"),
        ({"tools": [tool("")]}, "tools[0].function.name"),
        ({"tools": [tool("a")], "tool_choice": "b"}, "tool_choice"),
        ({"tools": [tool("a")], "n": 2}, "n"),
        ({"tools": [tool("a")], "logprobs": True}, "logprobs"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"functions": [{}]}, "functions"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": [1]}, "stop"),
    ],
)
def test_a_bad_request_names_its_parameter(change: dict[str, Any], param: str) -> None:
    """What is wrong in a request is refused by name, never left out in silence."""
    with pytest.raises(ApiError) as caught:
        plan({"messages": [USER], **change})
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b'{"a": NaN}', b'{"a": "\\ud800"}'])
def test_what_is_not_json_is_refused_as_such(raw: bytes) -> None:
    """Broken, endless or unsendable JSON is the sender's error and harms nobody else."""
    with pytest.raises(ApiError, match=r"^The body is not valid JSON: "):
        parse_json(raw)


def test_deep_nesting_is_refused() -> None:
    """A schema that would exhaust llama.cpp's stack, and end the process, does not reach it."""
    with pytest.raises(ApiError, match="nested more than 64 levels"):
        parse_json(b"[" * 65 + b"]" * 65)
