"""Recordings as people write them, made up for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXT = st.text(LETTERS, max_size=12) | st.sampled_from(
    ["0E0", "1e5", "12:30", "no", "~", ".5", "+1"]
)
NAMES = st.text(st.sampled_from("abcxyz/:#_-. é"), min_size=1, max_size=8)
STEPS = NAMES.filter(lambda name: not name.startswith("_"))
NUMBERS = st.integers(0, 2**40) | st.integers(0, 10**6).map(lambda n: n / 1000)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([0.5, -1e-7, 1e300]) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, PLAIN, max_size=3)
TOKENS = st.sampled_from(
    ["prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "audio_tokens"]
)


def _object(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


MODEL_FAULTS = st.one_of(
    _object(
        {"type": st.just("http_error"), "status_code": st.integers(400, 599)},
        {"retry_after_s": NUMBERS, "body": TEXT},
    ),
    _object({"type": st.just("timeout")}, {"after_ms": NUMBERS}),
    st.just({"type": "connection_reset"}),
    st.just({"type": "connection_refused"}),
    st.just({"type": "crash", "when": "before"}),
)
"""Faults that come instead of an answer."""

SPOILING = st.one_of(
    _object({"type": st.just("stream_truncate"), "after_chunks": st.integers(0, 5)}, {}),
    _object({"type": st.just("cut_off"), "after_tokens": st.integers(0, 9)}, {}),
)
"""Faults of an answer."""

CALLS = st.lists(
    _object({"name": NAMES, "arguments": OBJECTS}, {}), min_size=1, max_size=2
) | NAMES.map(lambda name: [{"id": "call_1", "name": name, "arguments": {}}])

ABOUT = {
    "model": TEXT,
    "provider": TEXT,
    "usage": st.dictionaries(TOKENS, st.integers(0, 10**9)),
    "cost_usd": NUMBERS,
    "latency_ms": NUMBERS,
    "finish_reason": TEXT,
    "request_hash": TEXT | st.just("a" * 64),
    "meta": OBJECTS,
}

TURNS = st.one_of(
    _object({"content": TEXT}, {**ABOUT, "tool_calls": CALLS}),
    _object({"content": TEXT, "fault": SPOILING}, {"model": TEXT}),
    _object({"tool_calls": CALLS}, ABOUT),
    _object({"embeddings": st.lists(st.lists(NUMBERS, min_size=2, max_size=2))}, ABOUT),
    _object({"fault": MODEL_FAULTS}, {}),
)

RESULTS = _object(
    {"name": NAMES, "arguments": OBJECTS, "result": PLAIN}, {"success": st.booleans()}
) | _object({"name": NAMES, "fault": st.just({"type": "timeout"})}, {"arguments": OBJECTS})

EVENTS = _object(
    {"type": NAMES},
    {"step_id": NAMES, "event_id": TEXT, "timestamp_ns": st.integers(), "payload": PLAIN},
)

RECORDINGS = _object(
    {"_version": st.just(2)},
    {
        "_tools": st.dictionaries(STEPS, st.lists(RESULTS, min_size=1, max_size=3), min_size=1),
        "_inter_agent_events": st.lists(EVENTS, min_size=1, max_size=3),
        "_note": PLAIN,
    },
).flatmap(
    lambda about: st.dictionaries(
        STEPS, TURNS | st.lists(TURNS, min_size=1, max_size=4), max_size=4
    ).map(lambda steps: {**about, **steps})
)
"""Well-formed recordings."""

KEYS = (
    *("draft", "content", "tool_calls", "fault", "type", "usage", "embeddings", "name", "meta"),
    *("_tools", "_version", "_inter_agent_events", "arguments", "id", "status_code", "step_id"),
    *("prompt_tokens", "after_chunks", "$wb", "v", "self"),
)

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from([2, 429, "http_error", "timeout", "crash", "stream_truncate", "cut_off"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)
"""JSON that is seldom a recording, and often nearly one."""
