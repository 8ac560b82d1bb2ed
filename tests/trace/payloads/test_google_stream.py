"""Streams of Google's generateContent: assembling chunks, cutting a response into chunks."""

import copy
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from workbench.trace.payloads import view

GOOGLE = view("google.generate_content")


def _chunk(*parts: Any, **candidate: Any) -> dict[str, Any]:
    said = {"content": {"role": "model", "parts": list(parts)}, **candidate}
    return {"candidates": [said], "modelVersion": "m", "responseId": "r"}


def _parts(*chunks: dict[str, Any]) -> list[Any]:
    found: list[Any] = GOOGLE.assemble(chunks)["candidates"][0]["content"]["parts"]
    return found


def test_text_of_one_kind_grows_and_thinking_stays_apart() -> None:
    """Thinking, text and thinking again are three parts, whatever chunks they came in."""
    think = {"thought": True}
    assert _parts(
        _chunk({"text": "Hm", **think}),
        _chunk({"text": "m.", **think}),
        _chunk({"text": "It "}),
        _chunk({"text": "is."}),
        _chunk({"text": "Or?", **think}),
    ) == [{"text": "Hmm.", **think}, {"text": "It is."}, {"text": "Or?", **think}]


def test_parts_never_merge_by_their_position() -> None:
    """A call between two texts keeps them apart, and calls stay whole and in order."""
    call = {"functionCall": {"name": "f", "args": {"a": 1}}}
    other = {"functionCall": {"name": "f", "args": {"a": 2}}}
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert _parts(
        _chunk({"text": "a"}), _chunk(call, other), _chunk(code), _chunk({"text": "b"})
    ) == [{"text": "a"}, call, other, code, {"text": "b"}]


def test_a_signature_stays_byte_for_byte_with_its_part() -> None:
    """A signed part joins with nothing, an empty one that only carries a signature included."""
    signed = {"text": "", "thoughtSignature": "c2/+nA=="}
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "eA=="}
    assert _parts(_chunk({"text": "a"}), _chunk(signed), _chunk({"text": "b"}), _chunk(call)) == [
        {"text": "a"},
        signed,
        {"text": "b"},
        call,
    ]


def test_what_stands_beside_the_parts() -> None:
    """Finish reason, citations, usage and the model come together; the last word counts."""
    first = {
        **_chunk({"text": "a"}, citationMetadata={"citations": [{"uri": "1"}]}),
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1},
    }
    last = {
        **_chunk({"text": ""}, finishReason="STOP", citationMetadata={"citations": [{"uri": "2"}]}),
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3},
        "x": 1,
    }
    assert GOOGLE.assemble([first, last]) == {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "a"}]},
                "finishReason": "STOP",
                "citationMetadata": {"citations": [{"uri": "1"}, {"uri": "2"}]},
            }
        ],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3},
        "modelVersion": "m",
        "responseId": "r",
        "x": 1,
    }


def test_a_cut_stream_keeps_its_missing_end() -> None:
    """No finish reason is made up, and a stream without any chunk says nothing."""
    assert GOOGLE.reply(GOOGLE.assemble([_chunk({"text": "a"})])).finish_reason is None
    assert GOOGLE.assemble([]) == {"candidates": []}
    assert GOOGLE.split({}) == []
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}
    assert GOOGLE.assemble([blocked]) == blocked
    assert GOOGLE.split(blocked) == [blocked]


def test_candidates_merge_by_their_index() -> None:
    """Interleaved candidates stay apart, in order, each with its own end."""
    chunks = [
        _chunk({"text": "b"}, index=1),
        _chunk({"text": "a"}, index=0),
        _chunk({"text": "B"}, index=1, finishReason="MAX_TOKENS"),
    ]
    body = GOOGLE.assemble(chunks)
    assert [
        (c["index"], c["content"]["parts"], c.get("finishReason")) for c in body["candidates"]
    ] == [(0, [{"text": "a"}], None), (1, [{"text": "bB"}], "MAX_TOKENS")]


def test_arguments_that_are_streamed_are_put_together() -> None:
    """Pieces of a call's arguments land where their paths say; text grows, nothing is lost."""

    def piece(path: str, **value: Any) -> dict[str, Any]:
        return {"jsonPath": path, **value}

    first = {
        "name": "book", "id": "c1", "willContinue": True,
        "partialArgs": [piece("$.city", stringValue="New ", willContinue=True)],
    }  # fmt: skip
    more = {
        "willContinue": True,
        "partialArgs": [
            piece("$.city", stringValue="Delhi"),
            piece("$.guests[1].name", stringValue="Bo"),
            piece("$['guests'][0]", nullValue="NULL_VALUE"),
            piece("$.nights", numberValue=2),
            piece("$.late", boolValue=False),
        ],
    }
    chunks = [
        _chunk({"functionCall": first, "thoughtSignature": "eA=="}),
        _chunk({"functionCall": more}),
        _chunk({"functionCall": {}}),
        _chunk({"functionCall": {"name": "f", "args": {}}}),
    ]
    whole = {"city": "New Delhi", "guests": [None, {"name": "Bo"}], "nights": 2, "late": False}
    assert _parts(*chunks) == [
        {"functionCall": {"name": "book", "id": "c1", "args": whole}, "thoughtSignature": "eA=="},
        {"functionCall": {"name": "f", "args": {}}},
    ]
    cut = GOOGLE.reply(GOOGLE.assemble(chunks[:1])).tool_calls
    assert [(call.name, call.arguments) for call in cut] == [("book", {"city": "New "})]


TEXT = st.text(max_size=60)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
CALL = st.builds(
    lambda name, args, more, sign: {"functionCall": {"name": name, "args": args, **more}, **sign},
    st.text(min_size=1, max_size=6),
    st.dictionaries(st.text(max_size=4), JSON_VALUE, max_size=3),
    st.sampled_from([{}, {"id": "c1"}]),
    st.sampled_from([{}, {"thoughtSignature": "c2ln"}]),
)
PART = st.one_of(
    st.builds(lambda text: {"text": text}, TEXT),
    st.builds(lambda text: {"text": text, "thought": True}, TEXT),
    st.builds(lambda text: {"text": text, "thoughtSignature": "c2ln"}, TEXT),
    CALL,
    st.just({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
)
CANDIDATE = st.fixed_dictionaries(
    {"content": st.builds(lambda parts: {"role": "model", "parts": parts}, st.lists(PART))},
    optional={
        "finishReason": st.sampled_from(["STOP", "MAX_TOKENS"]),
        "safetyRatings": st.just([{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}]),
        "avgLogprobs": st.just(-0.5),
        "citationMetadata": st.just({"citationSources": [{"uri": "u", "startIndex": 1}]}),
    },
)
BODY = st.builds(
    lambda candidates, rest: {
        "candidates": [{**each, "index": n} for n, each in enumerate(candidates)],
        **rest,
    },
    st.lists(CANDIDATE, max_size=2),
    st.fixed_dictionaries(
        {},
        optional={
            "usageMetadata": st.just({"promptTokenCount": 1, "totalTokenCount": 2}),
            "modelVersion": st.just("m"),
            "responseId": st.just("r"),
            "promptFeedback": st.just({"safetyRatings": []}),
        },
    ),
)


@given(BODY)
def test_split_and_assemble_are_inverse(body: dict[str, Any]) -> None:
    """Cut into chunks and put together again, a response is what it was, untouched itself."""
    before = copy.deepcopy(body)
    assert GOOGLE.assemble(GOOGLE.split(body)) == body == before


@given(BODY)
def test_the_sdk_reads_every_chunk(body: dict[str, Any]) -> None:
    """The SDK's own type takes each chunk, and hears the same words in them as in the whole."""
    whole = types.GenerateContentResponse.model_validate(body)
    chunks = [types.GenerateContentResponse.model_validate(each) for each in GOOGLE.split(body)]
    for place, candidate in enumerate(whole.candidates or ()):
        said: list[str] = []
        for chunk in chunks:
            for each in chunk.candidates or ():
                if each.index == place and each.content is not None:
                    said += [p.text or "" for p in each.content.parts or ()]
        assert candidate.content is not None
        assert "".join(said) == "".join(p.text or "" for p in candidate.content.parts or ())


@pytest.mark.parametrize("text", ["", "one", "many words " * 40])
def test_text_is_cut_at_words_and_the_end_comes_last(text: str) -> None:
    """Only the last chunk has the finish reason and the usage, as on the wire."""
    body = {**_chunk({"text": text}, finishReason="STOP"), "usageMetadata": {"totalTokenCount": 3}}
    chunks = GOOGLE.split(body)
    assert len(chunks) >= (10 if len(text) > 100 else 1)
    assert [c for c in chunks if "usageMetadata" in c] == [chunks[-1]]
    assert [c for c in chunks if "finishReason" in c["candidates"][0]] == [chunks[-1]]
    assert all(c["responseId"] == "r" for c in chunks)
