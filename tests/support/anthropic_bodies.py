"""Bodies of Anthropic's messages for the tests of the payload views, made and generated."""

from typing import Any

from hypothesis import strategies as st

THOUGHT = {"type": "thinking", "thinking": "I look it up.", "signature": "c2lnbmVk"}
HIDDEN = {"type": "redacted_thinking", "data": "aGlkZGVu"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "web_search_result", "url": "u", "encrypted_content": "c2VhbGVk"}],
}


def words(text: str, **more: Any) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": text, **more}


def use(name: str, given: Any, call_id: str = "toolu_a", **more: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given, **more}


def result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    """The result of a call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def message(*content: Any, **more: Any) -> dict[str, Any]:
    """A whole reply."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-20250514",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 9,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 300,
            "output_tokens": 7,
            "service_tier": "standard",
        },
        "x_vendor": [1],
        **more,
    }


TEXT = st.text(max_size=60)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)  # fmt: skip
INPUT = st.dictionaries(st.text(max_size=5), _JSON, max_size=3)
_CITED = st.fixed_dictionaries({"type": st.just("char_location"), "cited_text": TEXT})
_BLOCK: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(words, TEXT),
    st.builds(lambda text, cited: words(text, citations=cited),
              TEXT, st.none() | st.lists(_CITED, max_size=2)),
    st.builds(lambda text, signed: {**THOUGHT, "thinking": text, "signature": signed}, TEXT, TEXT),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, TEXT),
    st.builds(use, st.text(min_size=1, max_size=6), INPUT),
    st.just(HIDDEN),
    st.just(SEARCH),
    st.just(FOUND),
)  # fmt: skip


def _numbered(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each call with an id of its own, as a provider gives them."""
    return [
        {**block, "id": f"toolu_{n}"} if block["type"] == "tool_use" else block
        for n, block in enumerate(blocks)
    ]


CONTENT = st.lists(_BLOCK, max_size=4).map(_numbered)
BODY: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda content, reason, more, usage: {
        **message(*content, stop_reason=reason, **more),
        "usage": {**message()["usage"], **usage},
    },
    CONTENT,
    st.sampled_from(["end_turn", "tool_use", "max_tokens", None]),
    st.sampled_from([{}, {"container": {"id": "c"}}, {"stop_details": None}]),
    st.sampled_from([{}, {"server_tool_use": {"web_search_requests": 2}}, {"output_tokens": 0},
                     {"output_tokens_details": {"thinking_tokens": 3}}, {"server_tool_use": None}]),
)  # fmt: skip
