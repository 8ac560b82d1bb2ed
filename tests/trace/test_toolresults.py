"""Results of MCP servers' tools, in words."""

from typing import Any

import pytest

from workbench.trace.toolresults import failure, in_words

TEXT = {"type": "text", "text": "two lamps"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"content": [TEXT], "isError": False}, "two lamps"),
        ({"content": [TEXT, {"type": "image", "data": "AA==", "mimeType": "image/png"}]},
         "two lamps\n[image image/png]"),
        ({"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "x"}},
                      {"type": "resource", "resource": {"uri": "a://b", "blob": "AA=="}},
                      {"type": "resource_link", "uri": "a://c"}, {"type": "odd"}]},
         "x\n[resource a://b]\n[resource_link a://c]\n[odd]"),
        ({"content": [], "notifications": [{"progress": 1}]}, ""),
        ({"content": [TEXT], "total": 3}, {"content": [TEXT], "total": 3}),
        ({"content": "text"}, {"content": "text"}),
        ({"content": [3]}, {"content": [3]}),
        ({"id": 7}, {"id": 7}),
        (None, None),
        ("text", "text"),
    ],
)  # fmt: skip
def test_a_result_is_what_it_says(value: Any, said: Any) -> None:
    """Text stands as it is, what is none is named and never shown as data, and what is no such
    result is left alone."""
    assert in_words(value) == said


def test_only_a_result_that_says_so_has_failed() -> None:
    """The flag counts, and not that a text looks like an error."""
    assert failure({"content": [TEXT], "isError": True}) == "two lamps"
    assert failure({"content": [], "isError": True}) == "error"
    assert failure({"content": [TEXT], "isError": False}) is None
    assert failure({"isError": True}) is None
    assert failure("error") is None
