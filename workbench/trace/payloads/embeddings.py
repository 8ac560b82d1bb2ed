"""The views of embeddings: texts go in, vectors come out, and there is no conversation.

A reply's text says how many vectors there are and how long they are; the numbers are in the body.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import EditError

from .base import JSON, Message, MessageChange, Reply, ToolSpec, Usage
from .google_parts import field, parts_of, text_of
from .reading import as_count, as_dict, as_list, as_text_or_none, stable_text
from .wordless import Wordless

_BYTES = 4
"""The length of one number in a vector that travels as base64."""


class _EmbeddingsView(Wordless):
    """What all embeddings have in common: no words, no tools, no streams."""

    conversation_path: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    refusal_to_write = (
        "embeddings hold vectors, and neither text nor tool calls: give the whole body "
        "instead, or edit the call that they are for"
    )

    def messages(self, body: JSON) -> list[Message]:  # noqa: ARG002
        """None: the texts that are embedded are no conversation."""
        return []

    def message(self, raw: JSON) -> Message:
        """One text that is embedded."""
        return Message(role="user", text=_words(raw), raw=raw)

    def tools(self, body: JSON) -> list[ToolSpec]:  # noqa: ARG002
        """None."""
        return []

    def model(self, body: JSON) -> str | None:
        """The `model` of a request or response."""
        return as_text_or_none(as_dict(body).get("model"))

    def parameters(self, body: JSON) -> dict[str, Any]:
        """Everything in a request."""
        return dict(as_dict(body))

    def with_request(
        self,
        body: JSON,
        *,
        system: str | None = None,
        messages: Sequence[MessageChange] = (),
        model: str | None = None,
        set: Mapping[str, JSON] | None = None,  # noqa: A002 - as in PayloadView
        unset: Sequence[str] = (),
    ) -> JSON:
        """A request with other fields, or for another model. See `PayloadView`."""
        if system is not None or messages:
            raise EditError("a request for embeddings has no messages: change its fields with set=")
        old = as_dict(body)
        changes = {**(set or {}), **({} if model is None else {"model": model})}
        kept = {
            key: old[key] if key in old and stable_text(old[key]) == stable_text(value) else value
            for key, value in {**old, **changes}.items()
            if key not in unset
        }
        same = kept.keys() == old.keys() and all(kept[key] is old[key] for key in kept)
        return body if same else kept


class OpenAIEmbeddingsView(_EmbeddingsView):
    """Reads and edits bodies of `POST /embeddings`."""

    api = "openai.embeddings"

    def reply(self, body: JSON) -> Reply:
        """How many vectors there are, and of how many numbers."""
        data = as_list(as_dict(body).get("data"))
        return Reply(text=_summary([_length(as_dict(each).get("embedding")) for each in data]))

    def usage(self, body: JSON) -> Usage | None:
        """`usage`; there is no output that would cost anything."""
        raw = as_dict(body).get("usage")
        if not isinstance(raw, dict):
            return None
        return Usage(input_tokens=as_count(raw.get("prompt_tokens")), output_tokens=0, raw=raw)


class GoogleEmbedContentView(_EmbeddingsView):
    """Reads and edits bodies of `:embedContent`, `:batchEmbedContents` and, on Vertex AI, of the
    `:predict` of models for embeddings."""

    api = "google.embed_content"

    def reply(self, body: JSON) -> Reply:
        """How many vectors there are, and of how many numbers."""
        return Reply(text=_summary([_length(each.get("values")) for each in _found(body)]))

    def usage(self, body: JSON) -> Usage | None:
        """`usageMetadata`, or what the vectors of Vertex AI say of themselves."""
        raw = field(body, "usageMetadata")
        if isinstance(raw, dict):
            count = as_count(field(raw, "promptTokenCount"))
            return Usage(input_tokens=count, output_tokens=0, raw=raw)
        told = [as_dict(each.get("statistics")) for each in _found(body)]
        counts = [as_count(field(each, "tokenCount")) for each in told]
        known = [count for count in counts if count is not None]
        if not known or len(known) < len(counts):
            return None
        return Usage(input_tokens=sum(known), output_tokens=0, raw=told)


def google_vectors(body: JSON) -> list[Any] | None:
    """The vectors of an answer of Google's; None where it holds none."""
    return [each.get("values") for each in _found(body)] or None


def google_inputs(asked: JSON) -> int | None:
    """How many texts a request of Google's embeds; None for another request."""
    whole = as_dict(asked)
    listed = [whole[name] for name in ("requests", "instances") if name in whole]
    if listed:
        return len(as_list(listed[0]))
    return 1 if "content" in whole else None


def google_size(asked: JSON) -> JSON:
    """How many numbers a request of Google's wants in a vector."""
    whole = as_dict(asked)
    first = next(iter(as_list(whole.get("requests"))), None)
    options = (whole, first, whole.get("parameters"))
    return next((size for o in options if (size := field(o, "outputDimensionality"))), None)


def google_body(vectors: Sequence[JSON], asked: JSON) -> JSON:
    """An answer with these vectors, as a request wants it."""
    listed = [{"values": vector} for vector in vectors]
    if "instances" in as_dict(asked):
        return {"predictions": [{"embeddings": each} for each in listed]}
    if "content" in as_dict(asked) and len(listed) == 1:
        return {"embedding": listed[0]}
    return {"embeddings": listed}


def _found(body: JSON) -> list[dict[str, Any]]:
    """The embeddings, in whichever of Google's forms."""
    source = as_dict(body)
    one = source.get("embedding")
    listed = [one] if one is not None else as_list(source.get("embeddings"))
    listed = listed or [as_dict(p).get("embeddings") for p in as_list(source.get("predictions"))]
    return [as_dict(each) for each in listed]


def _length(vector: JSON) -> int | None:
    if isinstance(vector, list):
        return len(vector)
    if not isinstance(vector, str):
        return None
    try:
        return len(base64.b64decode(vector, validate=True)) // _BYTES
    except (binascii.Error, ValueError):
        return None


def _summary(lengths: list[int | None]) -> str:
    """Such as ``3 vectors of 768 numbers``; empty where there are none."""
    if not lengths:
        return ""
    count = f"{len(lengths)} vector{'' if len(lengths) == 1 else 's'}"
    of = set(lengths)
    size = of.pop() if len(of) == 1 else None
    return count if size is None else f"{count} of {size} number{'' if size == 1 else 's'}"


def _words(raw: JSON) -> str:
    return raw if isinstance(raw, str) else "\n".join(text_of(part) for part in parts_of(raw))
