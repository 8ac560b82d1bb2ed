"""Google's SDK answered by what a person wrote, and by what a lenient replay makes up."""

from typing import Any

import pytest
from google.genai import types
from ways_google import City, client

import workbench
from workbench.trace.byhand.shapes import as_api, chunks_as_api
from workbench.trace.payloads import view

NOWHERE = "http://127.0.0.1:9"
SAID = {
    "content": "Done.",
    "tool_calls": [{"id": "c1", "name": "refund", "arguments": {"order": 101}}],
    "finish_reason": "length",
    "model": "m-1",
    "usage": {"input_tokens": 9, "output_tokens": 5, "cache_read_tokens": 4, "reasoning_tokens": 2},
}


def test_a_neutral_reply_is_one_of_googles() -> None:
    """Text, calls with their ids, finish reason, model and tokens come over, and back again."""
    body = as_api(SAID, "workbench", "google.generate_content")
    response = types.GenerateContentResponse.model_validate(body)
    assert response.candidates is not None
    assert response.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS
    assert [(c.id, c.name, c.args) for c in response.function_calls or ()] == [
        ("c1", "refund", {"order": 101})
    ]
    assert body["usageMetadata"] == {
        "promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2, "totalTokenCount": 14,
    }  # fmt: skip
    back = as_api(body, "google.generate_content", "workbench")
    assert {**back, "finish_reason": "length"} == SAID
    filtered = as_api({"refusal": "No.", "content": None}, "workbench", "google.generate_content")
    assert view("google.generate_content").reply(filtered).refusal == "No."


def test_the_beginning_of_a_stream_keeps_its_pieces() -> None:
    """Three words that arrived before it broke are three pieces, and no end is made up."""
    words = [{"text": each} for each in ("one ", "two ", "three")]
    chunks = chunks_as_api(words, "workbench", "google.generate_content")
    assert [c["candidates"][0]["content"]["parts"] for c in chunks] == [
        [{"text": each["text"]}] for each in words
    ]
    assert all("finishReason" not in c["candidates"][0] for c in chunks)


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        ({"requests": [{}, {}]}, {"embeddings": [{"values": [1]}, {"values": [2]}]}),
        ({"instances": [{}, {}]},
         {"predictions": [{"embeddings": {"values": [1]}}, {"embeddings": {"values": [2]}}]}),
    ],
)  # fmt: skip
def test_vectors_come_in_the_form_that_was_asked_for(asked: Any, body: Any) -> None:
    """Neutral vectors, OpenAI's and Google's say the same; another number of them is refused."""
    neutral = {"embeddings": [[1], [2]], "model": None}
    assert as_api(neutral, "workbench.embeddings", "google.embed_content", asked) == body
    assert as_api(body, "google.embed_content", "workbench.embeddings", asked) == neutral
    with pytest.raises(workbench.DriftError, match="embeds 2 inputs, and the recorded entry"):
        as_api({"embeddings": [[1]]}, "workbench.embeddings", "google.embed_content", asked)


def test_a_lenient_replay_answers_all_that_is_asked() -> None:
    """What fits nothing recorded gets an answer of the right kind, of the SDK's own types."""
    with workbench.recording() as recorded:
        pass
    made = client(NOWHERE, "key", 0)
    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_schema=City
    )
    sized = types.EmbedContentConfig(output_dimensionality=3)
    texts: Any = ["a", "b"]
    with workbench.replaying(recorded.trace, on_miss="placeholder"):
        said = made.models.generate_content(model="m", contents="hello")
        read = "".join(
            chunk.text or ""
            for chunk in made.models.generate_content_stream(model="m", contents="a")
        )
        as_json = made.models.generate_content(model="m", contents="hello", config=config)
        found = made.models.embed_content(model="m", contents=texts, config=sized)
        count = made.models.count_tokens(model="m", contents="hello")
    made.close()
    assert (said.text, read, as_json.text) == ("Mock response", "Mock response", "{}")
    assert [each.values for each in found.embeddings or ()] == [[0.0] * 3] * 2
    assert count.total_tokens is None
