"""Embeddings through their views: a summary, the usage, and no conversation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import EditError
from workbench.trace.payloads import view

OPENAI, GOOGLE = view("openai.embeddings"), view("google.embed_content")
BOTH = pytest.mark.parametrize("api", ["openai.embeddings", "google.embed_content"])


@pytest.mark.parametrize(
    ("api", "body", "text", "tokens"),
    [
        ("openai.embeddings",
         {"data": [{"embedding": [0.5, 1]}, {"embedding": [1, 2]}], "model": "m",
          "usage": {"prompt_tokens": 7, "total_tokens": 7}}, "2 vectors of 2 numbers", 7),
        ("openai.embeddings", {"data": [{"embedding": "AACAPwAAAEA="}]},
         "1 vector of 2 numbers", None),
        ("openai.embeddings", {"data": [{"embedding": "?"}]}, "1 vector", None),
        ("google.embed_content", {"embedding": {"values": [1]}}, "1 vector of 1 number", None),
        ("google.embed_content",
         {"embeddings": [{"values": [1, 2]}, {"values": [1]}],
          "usageMetadata": {"promptTokenCount": 4}}, "2 vectors", 4),
        ("google.embed_content",
         {"predictions": [{"embeddings": {"values": [1] * 3, "statistics": {"token_count": 2}}},
                          {"embeddings": {"values": [1] * 3, "statistics": {"token_count": 3}}}]},
         "2 vectors of 3 numbers", 5),
    ],
)  # fmt: skip
def test_vectors_are_counted_and_not_listed(
    api: str, body: Any, text: str, tokens: int | None
) -> None:
    """However they travel: how many, how long, and what they cost; no output tokens."""
    assert view(api).reply(body).text == text
    usage = view(api).usage(body)
    assert (None if usage is None else usage.input_tokens) == tokens
    assert usage is None or usage.output_tokens == 0


@BOTH
def test_there_is_no_conversation_to_edit(api: str) -> None:
    """Words cannot be put into vectors, nor messages into what is embedded; fields can."""
    shape = view(api)
    body = {"input": ["a"], "model": "m", "dimensions": 8}
    assert shape.messages(body) == []
    assert shape.conversation_path == ()
    assert shape.with_request(body, set={"dimensions": 8}) is body
    assert shape.with_request(body, model="n", unset=["dimensions"]) == {
        "input": ["a"],
        "model": "n",
    }
    with pytest.raises(EditError, match="vectors, and neither text nor tool calls"):
        shape.with_reply({"data": []}, text="words")
    with pytest.raises(EditError, match="has no messages: change its fields"):
        shape.with_request(body, system="Be kind.")
    assert shape.with_reply(body) is body


@BOTH
@given(body=st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner)
       | st.dictionaries(st.sampled_from(["data", "embedding", "embeddings", "values", "usage",
       "predictions", "statistics", "usageMetadata"]), inner), max_leaves=12))  # fmt: skip
def test_no_reading_ever_raises(api: str, body: Any) -> None:
    """Whatever stands in a body, each reading gives its type."""
    shape = view(api)
    assert isinstance(shape.reply(body).text, str)
    usage = shape.usage(body)
    assert usage is None or usage.raw is not None
    assert isinstance(shape.parameters(body), dict)
    assert shape.assemble(shape.split(body)) == (body if isinstance(body, dict) else {})
