"""The view of Google's `generateContent`, of the Gemini API and of Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import JSON, Message, MessageChange, Reply, ToolCallLike, ToolSpec, Usage
from .google_parts import field, key_of, read_content, read_units
from .google_reply import first_candidate, with_reply
from .google_request import with_request
from .google_stream import assemble, split
from .reading import as_count, as_dict, as_list, as_text, as_text_or_none

_REFUSING = frozenset(
    {
        "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
        "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR",
    }
)  # fmt: skip
"""The finish reasons of an answer that was withheld."""


class GoogleView:
    """Reads and edits bodies of `:generateContent` and `:streamGenerateContent`.

    Of several candidates it reads the first. A request names its model in the path; a body's
    `model`, which the API knows too, stands for another one.
    """

    api = "google.generate_content"
    conversation_path = ("body", "contents")
    roles = ("user", "model", "function")

    def messages(self, body: JSON) -> list[Message]:
        """The system instruction and the `contents` of a request, each answer by itself."""
        return [unit.message for unit in read_units(body)]

    def message(self, raw: JSON) -> Message:
        """One item of `contents`, or a part that answers a call."""
        return read_content(raw)

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The functions that are declared, and the tools on Google's side by their names."""
        found: list[ToolSpec] = []
        for tool in as_list(as_dict(body).get("tools")):
            source = as_dict(tool)
            declared = key_of(source, "functionDeclarations")
            found += [_spec(as_dict(each)) for each in as_list(source.get(declared))]
            found += [ToolSpec(name, "", {}, tool) for name in source if name != declared]
        return found

    def model(self, body: JSON) -> str | None:
        """The model that answered, or that a request's body names."""
        found = field(body, "modelVersion")
        return as_text_or_none(as_dict(body).get("model") if found is None else found)

    def parameters(self, body: JSON) -> dict[str, Any]:
        """All fields of a request but `contents`, `systemInstruction` and `tools`."""
        source = as_dict(body)
        beside = {"contents", "tools", key_of(source, "systemInstruction")}
        return {key: value for key, value in source.items() if key not in beside}

    def streams(self, body: JSON) -> bool:  # noqa: ARG002 - the path tells, and not the body
        """Never: whether an answer is streamed is asked for by the path."""
        return False

    def wants_usage(self, body: JSON) -> bool:  # noqa: ARG002
        """Always: a stream carries the usage without being asked."""
        return True

    def reply(self, body: JSON) -> Reply:
        """What the first candidate says."""
        candidate = first_candidate(body)
        content = as_dict(candidate.get("content"))
        said = read_content({"role": "model", "parts": as_list(content.get("parts"))})
        return Reply(
            text=said.text,
            tool_calls=said.tool_calls,
            reasoning=said.reasoning,
            finish_reason=as_text_or_none(field(candidate, "finishReason")),
            refusal=_refusal(body, candidate),
            signed=said.signed,
        )

    def usage(self, body: JSON) -> Usage | None:
        """`usageMetadata`; the prompt's tokens include the cached ones already, and the
        candidates' do not include those of thoughts."""
        raw = field(body, "usageMetadata")
        if not isinstance(raw, dict):
            return None
        thoughts = as_count(field(raw, "thoughtsTokenCount"))
        return Usage(
            input_tokens=_sum(raw, "promptTokenCount", "toolUsePromptTokenCount"),
            output_tokens=_sum(raw, "candidatesTokenCount", "thoughtsTokenCount"),
            cache_read_tokens=as_count(field(raw, "cachedContentTokenCount")),
            reasoning_tokens=thoughts,
            raw=raw,
        )

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The chunks of a stream as one response: texts of one kind that follow each other are
        one part, every other part stays as it came."""
        return assemble(chunks)

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """A response as chunks; the usage is always in the last one."""
        return split(body)

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """A response in which the first candidate says this instead. See `PayloadView`.

        Calls get ids only where the reply has any already, or where two call one tool. Raises
        EditError also for arguments that are no JSON object: here a call cannot hold others.
        """
        return with_reply(
            body, text=text, tool_calls=tool_calls, refusal=refusal, finish_reason=finish_reason
        )

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
        """A request that asks this instead. See `PayloadView`."""
        return with_request(
            body, system=system, messages=messages, model=model, set=set, unset=unset
        )


def _spec(source: dict[str, Any]) -> ToolSpec:
    schema = field(source, "parameters")
    if not isinstance(schema, dict):
        schema = field(source, "parametersJsonSchema")
    return ToolSpec(
        name=as_text(source.get("name")),
        description=as_text(source.get("description")),
        parameters=as_dict(schema),
        raw=source,
    )


def _sum(raw: dict[str, Any], *names: str) -> int | None:
    counts = [count for name in names if (count := as_count(field(raw, name))) is not None]
    return sum(counts) if counts else None


def _refusal(body: JSON, candidate: dict[str, Any]) -> str | None:
    feedback = field(body, "promptFeedback")
    blocked = as_text(field(feedback, "blockReason"))
    if blocked:
        return as_text(field(feedback, "blockReasonMessage")) or blocked
    why = as_text(field(candidate, "finishReason"))
    told = as_text_or_none(field(candidate, "finishMessage"))
    if why in _REFUSING:
        return why if told is None else told
    return told if why in ("", "STOP") else None
