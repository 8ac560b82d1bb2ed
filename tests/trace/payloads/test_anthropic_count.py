"""What a trace can say of Anthropic's counts of tokens."""

from typing import Any

import pytest

from workbench.errors import EditError
from workbench.trace.payloads import view

VIEW = view("anthropic.count_tokens")
ASKED: Any = {
    "model": "m",
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
}


def test_a_count_is_read_in_words_and_uses_nothing() -> None:
    """The conversation that is counted is read as any other; the answer is its number."""
    assert [(m.role, m.text) for m in VIEW.messages(ASKED)] == [
        ("system", "Be brief."),
        ("user", "hello"),
    ]
    assert [tool.name for tool in VIEW.tools(ASKED)] == ["f"]
    body = {"input_tokens": 12}
    assert VIEW.reply(body).text == "12 tokens"
    assert VIEW.usage(body) is None
    assert VIEW.assemble(VIEW.split(body)) == body
    odd: list[Any] = [None, [], {"input_tokens": "many"}, {}]
    for broken in odd:
        assert VIEW.reply(broken).text == ""
    assert (VIEW.split(None), VIEW.assemble([]), VIEW.streams({"stream": True})) == ([], {}, False)


def test_a_number_is_not_made_of_words() -> None:
    """A text cannot be written into it; the error says what can."""
    body = {"input_tokens": 12}
    assert VIEW.with_reply(body) is body
    with pytest.raises(EditError, match="give the whole body instead"):
        VIEW.with_reply(body, text="13 tokens")
    asked = VIEW.with_request(ASKED, model="n")
    assert (asked["model"], asked["messages"]) == ("n", ASKED["messages"])
