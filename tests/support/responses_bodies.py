"""Bodies of OpenAI's Responses for the tests of the payload views, made and generated."""

from typing import Any

from hypothesis import strategies as st

SEALED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "I look it up."}],
    "encrypted_content": "c2VhbGVk",
}


def said(text: str, item_id: str = "msg_1", **more: Any) -> dict[str, Any]:
    """A message of the model."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
        **more,
    }


def called(name: str, arguments: str, call_id: str, item_id: str = "fc_1") -> dict[str, Any]:
    """A call of a function."""
    return {
        "id": item_id,
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def answered(call_id: str, output: Any) -> dict[str, Any]:
    """The result of a call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    """A whole reply."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 5,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": "gpt-5-2025-08-07",
        "output": list(output),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 16,
        },
        "x_vendor": [1],
        **more,
    }


TEXT = st.text(max_size=60)
_NOTE = st.fixed_dictionaries({"type": st.just("url_citation"), "url": TEXT})
_PART = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("output_text"),
            "text": TEXT,
            "annotations": st.lists(_NOTE, max_size=2),
        },
        optional={"logprobs": st.just([{"token": "a", "logprob": -0.5}])},
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": TEXT}),
)
_ITEM = st.one_of(
    st.lists(_PART, max_size=3).map(
        lambda parts: {**said(""), "content": parts, "phase": "final_answer"}
    ),
    st.builds(lambda name, text: called(name, text, "?"), st.text(min_size=1, max_size=6), TEXT),
    st.builds(
        lambda text: {"type": "custom_tool_call", "id": "ctc", "name": "sql", "input": text}, TEXT
    ),
    st.builds(
        lambda texts, sealed: {
            **SEALED,
            "summary": [{"type": "summary_text", "text": text} for text in texts],
            "encrypted_content": sealed,
        },
        st.lists(TEXT, max_size=2),
        st.none() | TEXT,
    ),
    st.builds(
        lambda text: {
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": text}],
        },
        TEXT,
    ),
    st.just({"type": "web_search_call", "status": "completed", "action": {"query": "x"}}),
    st.builds(
        lambda code: {"type": "code_interpreter_call", "code": code, "status": "completed"}, TEXT
    ),
    st.just({"type": "mcp_list_tools", "tools": [{"name": "x"}], "server_label": "s"}),
)


def _numbered(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each item with an id of its own, as a provider gives them."""
    calls = {"function_call", "custom_tool_call"}
    return [
        {**item, "id": f"it_{n}", **({"call_id": f"call_{n}"} if item["type"] in calls else {})}
        for n, item in enumerate(items)
    ]


OUTPUT: st.SearchStrategy[list[dict[str, Any]]] = st.lists(_ITEM, max_size=4).map(_numbered)
STATUS = st.sampled_from(["completed", "incomplete", "failed", "in_progress", "cancelled"])
BODY: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda output, status, usage: response(
        *output,
        status=status,
        incomplete_details={"reason": "max_output_tokens"} if status == "incomplete" else None,
        **usage,
    ),
    OUTPUT,
    STATUS,
    st.sampled_from([{}, {"usage": None}]),
)
