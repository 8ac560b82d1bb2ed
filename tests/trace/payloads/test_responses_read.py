"""Reading OpenAI's Responses: requests, replies, tools and usage."""

import json
from typing import Any

import pytest
from responses_bodies import SEALED, answered, called, response, said

from workbench.trace.payloads import Message, ToolCall, Usage, check_pairs, compare, view

VIEW = view("openai.responses")


def _request() -> dict[str, Any]:
    return {
        "model": "gpt-5",
        "instructions": "Be kind.",
        "input": [
            {"role": "developer", "content": "Use tools."},
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look at"},
                {"type": "input_image", "image_url": "data:,"},
                {"type": "input_text", "text": "this."},
            ]},
            SEALED,
            said("I look."),
            called("lookup", '{"order": 101}', "call_a"),
            called("lookup", '{"order": 102}', "call_b", "fc_2"),
            answered("call_b", [{"type": "input_text", "text": "two"}, {"type": "input_file"}]),
            answered("call_a", "one"),
        ],
        "tools": [
            {"type": "function", "name": "lookup", "description": "Find", "strict": True,
             "parameters": {"type": "object"}},
            {"type": "custom", "name": "sql", "format": {"type": "grammar"}},
            {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}},
            {"type": "mcp", "server_label": "tills", "server_url": "https://m.example"},
            {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}]},
        ],
        "previous_response_id": "resp_0",
        "text": {"format": {"type": "text"}},
        "stream": True,
    }  # fmt: skip


def test_a_request_is_read_item_by_item() -> None:
    """The instructions come first; each item has its role, its words, its place and its calls."""
    found = VIEW.messages(_request())
    assert [(m.role, m.text, m.at) for m in found] == [
        ("system", "Be kind.", ("instructions",)),
        ("system", "Use tools.", ("input", 0)),
        ("user", "Look at\nthis.", ("input", 1)),
        ("assistant", "", ("input", 2)),
        ("assistant", "I look.", ("input", 3)),
        ("assistant", "", ("input", 4)),
        ("assistant", "", ("input", 5)),
        ("tool", "two", ("input", 6)),
        ("tool", "one", ("input", 7)),
    ]
    assert (found[2].images, found[7].images) == (1, 1)
    assert (found[3].reasoning, found[3].signed) == ("I look it up.", ("reasoning",))
    assert found[5].tool_calls == (ToolCall("call_a", "lookup", {"order": 101}, '{"order": 101}'),)
    assert [m.tool_call_id for m in found[7:]] == ["call_b", "call_a"]
    assert [m.continues for m in found] == [False] * 4 + [True] * 3 + [False] * 2


def test_an_input_that_is_a_text_is_one_message() -> None:
    """And a request without any input has none."""
    asked = {"input": "Hello"}
    assert VIEW.messages(asked) == [Message(role="user", text="Hello", raw="Hello")]
    assert VIEW.messages(asked)[0].at == ("input",)
    assert VIEW.messages({"prompt": {"id": "p"}}) == []


def test_the_rest_of_a_request() -> None:
    """Tools of all kinds have a name; what is neither words nor tools is a parameter."""
    asked = _request()
    tools = VIEW.tools(asked)
    assert [t.name for t in tools] == ["lookup", "sql", "web_search", "mcp tills", "find"]
    assert (tools[0].description, tools[0].parameters) == ("Find", {"type": "object"})
    assert tools[2].raw is asked["tools"][2]
    assert VIEW.parameters(asked) == {
        "model": "gpt-5",
        "previous_response_id": "resp_0",
        "text": {"format": {"type": "text"}},
        "stream": True,
    }
    assert (VIEW.model(asked), VIEW.streams(asked), VIEW.wants_usage(asked)) == (
        "gpt-5", True, True,
    )  # fmt: skip


def test_calls_of_one_turn_wait_together_for_their_results() -> None:
    """Two calls in two items, then two results in any order, are what a provider takes."""
    said_ = VIEW.messages(_request())
    assert check_pairs(said_) == []
    (problem,) = check_pairs(said_[:-1])
    assert problem.startswith("message 6: the call 'call_a' (lookup) has no result before the end")
    assert check_pairs([*said_[:6], *said_[7:]])[0].startswith(
        "message 7: the result for the call 'call_b' has no call directly before it"
    )
    twice = [*said_[:7], said_[6]]
    assert "two tool calls have the id 'call_b'" in check_pairs(twice)[0]


def test_ids_of_another_run_make_no_difference() -> None:
    """Calls that are several items are told by their place in the turn, not by their ids."""
    first = _request()
    text = json.dumps(first).replace('"call_a"', '"call_x"').replace('"call_b"', '"call_y"')
    second = json.loads(text.replace('"fc_', '"fc_other_'))
    changes = compare(VIEW.messages(first), VIEW.messages(second))
    assert {change.kind for change in changes} == {"same"}
    second["input"][6], second["input"][7] = second["input"][7], second["input"][6]
    changes = compare(VIEW.messages(first), VIEW.messages(second))
    assert any(change.kind != "same" for change in changes)


def test_the_output_is_a_reply() -> None:
    """Words of several messages, calls in order, the summary of the reasoning, the usage."""
    body = response(
        SEALED,
        said("Let me "),
        said("look.", "msg_2"),
        called("lookup", '{ "order": 101 }', "call_a"),
        {"type": "custom_tool_call", "call_id": "call_c", "name": "sql", "input": "select 1"},
    )
    reply = VIEW.reply(body)
    assert (reply.text, reply.reasoning) == ("Let me look.", "I look it up.")
    assert (reply.finish_reason, reply.refusal, reply.signed) == ("completed", None, ("reasoning",))
    assert [(c.id, c.name, c.raw) for c in reply.tool_calls] == [
        ("call_a", "lookup", '{ "order": 101 }'),
        ("call_c", "sql", "select 1"),
    ]
    assert VIEW.usage(body) == Usage(9, 7, 4, 0, 2, raw=body["usage"])
    assert VIEW.usage({"usage": None}) is None
    assert VIEW.model(body) == "gpt-5-2025-08-07"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
         "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
        ({"status": "failed"}, "failed"),
        ({"status": "in_progress"}, "in_progress"),
        ({"status": None}, None),
    ],
)  # fmt: skip
def test_the_finish_reason_is_never_guessed(fields: dict[str, Any], reason: str | None) -> None:
    """It is why the reply is incomplete, or its status, or nothing."""
    assert VIEW.reply(response(said("Hi"), **fields)).finish_reason == reason


def test_a_refusal_is_no_text() -> None:
    """A part that refuses is told apart from the words."""
    part = {"type": "refusal", "refusal": "I may not."}
    reply = VIEW.reply(response({**said(""), "content": [part]}))
    assert (reply.refusal, reply.text) == ("I may not.", "")


def test_a_call_that_the_provider_answered_itself_is_not_asked_of_the_agent() -> None:
    """A hosted shell's call has its result beside it; a local one's is the agent's to make."""
    shell = {"type": "shell_call", "call_id": "call_s", "action": {"commands": ["ls"]}}
    done = {"type": "shell_call_output", "call_id": "call_s", "output": [{"stdout": "a"}]}
    assert VIEW.reply(response(shell, done)).tool_calls == ()
    (call,) = VIEW.reply(response(shell)).tool_calls
    assert (call.id, call.name, call.arguments) == ("call_s", "shell", {"commands": ["ls"]})
    assert check_pairs(VIEW.messages({"input": [shell, done]})) == []
    assert VIEW.message(done).text == '[{"stdout":"a"}]'


def test_what_the_provider_did_itself_is_kept_as_it_is() -> None:
    """Searches, code and references are the model's, no text, and told from one another."""
    searches = [
        {"type": "web_search_call", "id": f"ws_{n}", "action": {"query": query}}
        for n, query in enumerate(("cats", "dogs"))
    ]
    found = VIEW.messages({"input": [*searches, {"type": "item_reference", "id": "msg_1"}]})
    assert [(m.role, m.images, m.tool_calls) for m in found] == [("assistant", 1, ())] * 3
    other = VIEW.messages({"input": [{**searches[0], "id": "ws_9"}, searches[0]]})
    kinds = [change.kind for change in compare(found[:2], other)]
    assert kinds == ["same", "changed"]
