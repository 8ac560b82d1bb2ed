"""Streams of OpenAI chat: assembling chunks, cutting a reply into chunks."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from workbench.trace.payloads import view

OPENAI = view("openai.chat")
Chunk = dict[str, Any]


def _chunk(delta: Chunk, finish: str | None = None, **rest: Any) -> Chunk:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **rest}


def _call(**fields: Any) -> Chunk:
    function = {k: fields.pop(k) for k in ("name", "arguments") if k in fields}
    return {**fields, "function": function} if function else fields


def _message(chunks: list[Chunk]) -> Chunk:
    message: Chunk = OPENAI.assemble(chunks)["choices"][0]["message"]
    return message


def _sdk(chunks: list[Chunk]) -> Any:
    """What the SDK's own accumulator makes of the chunks."""
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for chunk in copy.deepcopy(chunks):
        state.handle_chunk(ChatCompletionChunk.construct(**chunk))
    return state.current_completion_snapshot.choices[0].message


def test_fragments_of_one_index_in_the_first_chunk_merge() -> None:
    """Two fragments of one call in the very first chunk are one call, nothing lost (S1)."""
    chunks = [
        _chunk({"tool_calls": [_call(index=0, id="c", name="f"), _call(index=0, arguments='{"')]}),
        _chunk({"tool_calls": [_call(index=0, arguments='p":1}')]}, "tool_calls"),
    ]
    expected = [{"id": "c", "function": {"name": "f", "arguments": '{"p":1}'}}]
    assert _message(chunks)["tool_calls"] == expected


def test_calls_merge_by_index_not_by_position() -> None:
    """A chunk that holds only the second call's fragment does not touch the first call."""
    chunks = [
        _chunk({"tool_calls": [_call(index=1, id="b", name="search", arguments="")]}),
        _chunk({"tool_calls": [_call(index=0, id="a", name="search", arguments="")]}),
        _chunk({"tool_calls": [_call(index=1, arguments="[2]")]}),
        _chunk({"tool_calls": [_call(index=0, arguments="[1]")]}),
    ]
    calls = OPENAI.reply(OPENAI.assemble(chunks)).tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [
        ("a", "search", [1]),
        ("b", "search", [2]),
    ]


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        (
            [_call(index=0, id="a", name="f", arguments="{}"), _call(index=0, id="b", name="f")],
            [("a", "{}"), ("b", "")],
        ),
        (
            [_call(id="a", name="f", arguments="["), _call(arguments="]"), _call(id="b", name="f")],
            [("a", "[]"), ("b", "")],
        ),
        (
            [_call(index=0, id="a", name="f"), _call(index=0, id="z", arguments="{}")],
            [("a", "{}")],
        ),
        (
            [_call(index=0, id="a", name="f"), _call(index=0, id="", name="f", arguments="{}")],
            [("a", "{}")],
        ),
    ],
    ids=["one index for all", "no index", "a new id per fragment", "the name repeated"],
)
def test_servers_that_bend_the_format_are_understood(
    fragments: list[Chunk], expected: list[tuple[str, str]]
) -> None:
    """Calls stay apart, and whole, with servers that give indexes or ids of their own making."""
    calls = OPENAI.reply(
        OPENAI.assemble([_chunk({"tool_calls": [fragment]}) for fragment in fragments])
    ).tool_calls
    assert [(call.id, call.raw) for call in calls] == expected
    assert {call.name for call in calls} == {"f"}


def test_text_and_calls_and_vendor_fields_survive() -> None:
    """Text beside calls, reasoning, refusal, logprobs and unknown fields all reach the body."""
    chunks = [
        _chunk({"role": "assistant", "content": ""}, x_vendor_extra=1, service_tier=None),
        _chunk({"role": "assistant", "reasoning_content": "hm"}, obfuscation="xx"),
        _chunk({"content": "Let me", "reasoning_content": "m"}, system_fingerprint="fp"),
        _chunk({"content": " look", "refusal": "n"}, x_vendor_extra={"b": 2}),
        _chunk({"refusal": "o", "x_delta": "old"}),
        _chunk(
            {"tool_calls": [_call(index=0, id="c", name="f", arguments="{}")], "x_delta": "new"}
        ),
    ]
    for number, chunk in enumerate(chunks[2:4]):
        chunk["choices"][0]["logprobs"] = {"content": [{"token": number}], "refusal": None}
    body = OPENAI.assemble(chunks)
    assert body == {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "x_vendor_extra": {"b": 2},
        "service_tier": None,
        "system_fingerprint": "fp",
        "choices": [
            {
                "index": 0,
                "finish_reason": None,
                "logprobs": {"content": [{"token": 0}, {"token": 1}], "refusal": None},
                "message": {
                    "role": "assistant",
                    "content": "Let me look",
                    "reasoning_content": "hmm",
                    "refusal": "no",
                    "x_delta": "new",
                    "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
                },
            }
        ],
    }


def test_a_cut_stream_keeps_its_missing_end() -> None:
    """Bad tool JSON at the end of a cut stream gets no finish reason and no repair (S6, S7)."""
    chunks = [_chunk({"tool_calls": [_call(index=0, id="c", name="f", arguments="{")]})]
    reply = OPENAI.reply(OPENAI.assemble(chunks))
    assert reply.finish_reason is None
    assert reply.tool_calls[0].raw == "{"
    assert reply.tool_calls[0].arguments is None


def test_usage_comes_from_the_last_chunk_that_has_it() -> None:
    """The usage chunk has no choices; nulls before it don't count."""
    chunks = [
        _chunk({"content": "a"}, usage=None),
        _chunk({"content": "b"}, "stop", usage={"prompt_tokens": 1, "completion_tokens": 1}),
        {"id": "r1", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]
    usage = OPENAI.usage(OPENAI.assemble(chunks))
    assert usage is not None
    assert usage.output_tokens == 2


def test_choices_merge_by_their_index() -> None:
    """With n=2 the interleaved choices stay apart, in order, and all raw."""
    chunks = [
        _chunk({"content": "b"}),
        _chunk({"content": "a"}),
        _chunk({"content": "B"}, "length"),
    ]
    chunks[0]["choices"][0]["index"] = chunks[2]["choices"][0]["index"] = 1
    body = OPENAI.assemble(chunks)
    assert [(c["index"], c["message"]["content"], c["finish_reason"]) for c in body["choices"]] == [
        (0, "a", None),
        (1, "bB", "length"),
    ]


def test_no_chunks_give_an_empty_reply() -> None:
    """A stream that was cut before its first chunk assembles to nothing said."""
    assert OPENAI.assemble([]) == {"object": "chat.completion", "choices": []}
    assert OPENAI.reply(OPENAI.assemble([])).text == ""
    assert OPENAI.split({}) == []


def test_reasoning_details_merge_by_index() -> None:
    """Pieces of one reasoning block become one block; another type at that index stays apart."""
    text = {"type": "reasoning.text", "index": 0}
    chunks = [
        _chunk({"reasoning_details": [{**text, "text": "a"}]}),
        _chunk({"reasoning_details": [{**text, "text": "b", "signature": "s"}]}),
        _chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "d"}]}),
    ]
    assert _message(chunks)["reasoning_details"] == [
        {**text, "text": "ab", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 0, "data": "d"},
    ]


def test_split_leaves_usage_out_unless_asked() -> None:
    """As on the wire, a stream carries usage in a last chunk without choices, when asked for."""
    body = _completion("Hello there, how are you doing today?", [])
    plain = OPENAI.split(body)
    assert all("usage" not in chunk for chunk in plain)
    assert len(plain) > 3
    asked = OPENAI.split(body, include_usage=True)
    assert asked[-1] == {
        "id": "r1",
        "created": 1,
        "model": "m",
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": body["usage"],
    }
    assert all(chunk["usage"] is None for chunk in asked[:-1])


def _completion(text: str | None, calls: list[Chunk]) -> Chunk:
    message: Chunk = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }


TEXT = st.text(max_size=80)
CALL = st.builds(
    lambda call_id, name, arguments, extra: {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **extra,
    },
    st.text(min_size=1, max_size=6),
    st.text(min_size=1, max_size=6),
    TEXT,
    st.sampled_from([{}, {"extra_content": {"google": {"thought_signature": "s"}}}]),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.none() | TEXT},
    optional={
        "refusal": st.none() | TEXT,
        "reasoning_content": TEXT,
        "annotations": st.just([]),
        "tool_calls": st.none() | st.lists(CALL, max_size=3),
        "audio": st.just({"id": "a", "data": "AA==", "transcript": "hi", "expires_at": 1}),
        "x_vendor": st.integers(),
    },
)
CHOICE = st.fixed_dictionaries(
    {"message": MESSAGE, "finish_reason": st.none() | st.sampled_from(["stop", "length"])},
    optional={
        "logprobs": st.none() | st.just({"content": [{"token": "a"}], "refusal": None}),
        "content_filter_results": st.just({"hate": {"filtered": False}}),
    },
)
BODY = st.fixed_dictionaries(
    {
        "id": st.just("r1"),
        "created": st.integers(0),
        "model": st.text(max_size=5),
        "choices": st.lists(CHOICE, max_size=3).map(
            lambda choices: [{"index": n, **choice} for n, choice in enumerate(choices)]
        ),
    },
    optional={
        "object": st.just("chat.completion"),
        "usage": st.none() | st.just({"prompt_tokens": 1}),
        "system_fingerprint": st.none() | st.text(max_size=5),
        "x_vendor_extra": st.sampled_from([None, 0, "", [], {"a": [1]}]),
    },
)


@given(BODY)
def test_assemble_undoes_split(body: Chunk) -> None:
    """A reply cut into chunks and put together is the reply, field for field, nothing mutated."""
    before = copy.deepcopy(body)
    again = OPENAI.assemble(OPENAI.split(body, include_usage=True))
    assert body == before
    assert {**again, "object": 0} == {**body, "object": 0}
    assert OPENAI.reply(again) == OPENAI.reply(body)


@given(st.none() | TEXT, st.lists(CALL, max_size=3))
def test_the_sdk_reads_our_chunks_as_we_do(text: str | None, calls: list[Chunk]) -> None:
    """The openai SDK's own accumulator gets the same text and calls out of the chunks."""
    chunks = OPENAI.split(_completion(text, calls))
    ours, theirs = OPENAI.reply(OPENAI.assemble(chunks)), _sdk(chunks)
    assert (theirs.content or "") == ours.text == (text or "")
    assert [(c.id, c.function.name, c.function.arguments) for c in theirs.tool_calls or []] == [
        (c.id, c.name, c.raw) for c in ours.tool_calls
    ]
    assert len(ours.tool_calls) == len(calls)


def test_real_streams_read_as_the_sdk_reads_them(shared_data: Path) -> None:
    """Streams recorded from OpenAI, parallel calls included, agree with the SDK's accumulator."""
    yaml = pytest.importorskip("yaml")
    path = shared_data / "traces/vcr_pydantic_ai/test_multiple_agents.yaml"
    recorded = yaml.safe_load(path.read_text("utf-8"))["interactions"]
    streams = [entry["response"]["body"]["string"] for entry in recorded[1:]]
    calls = 0
    for stream in streams:
        lines = [line[6:] for line in stream.splitlines() if line.startswith("data: {")]
        chunks = [json.loads(line) for line in lines]
        body = OPENAI.assemble(chunks)
        ours, theirs = OPENAI.reply(body), _sdk(chunks)
        assert ours.finish_reason == "tool_calls"
        assert ours.text == (theirs.content or "")
        assert [(c.id, c.name, c.raw, c.error) for c in ours.tool_calls] == [
            (c.id, c.function.name, c.function.arguments, None) for c in theirs.tool_calls
        ]
        usage = OPENAI.usage(body)
        assert usage is not None
        assert usage.raw == chunks[-1]["usage"]
        assert "obfuscation" not in body
        calls += len(ours.tool_calls)
    assert calls == 4
