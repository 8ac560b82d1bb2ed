"""Faults of what a model says. They need an answer, recorded or live, which they spoil."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from workbench.trace.faults.base import BaseFault, Phase

Mutation = Literal["bad_json", "unknown_tool", "missing_argument", "extra_argument", "wrong_type"]
"""How a tool call is broken."""


class _ReplyFault(BaseFault):
    not_tools: ClassVar[str] = "a tool is no model"
    _phase: ClassVar[Phase] = "outcome"


class MalformedResponse(_ReplyFault):
    """The answer is not valid JSON; the SDK's own parser says so.

    In a stream half of the chunks come first, then one that cannot be read.
    """

    type: Literal["malformed_response"] = "malformed_response"
    text: str | None = None
    """What comes instead; by default the real answer, broken off in the middle."""

    @field_validator("text")
    @classmethod
    def _is_broken(cls, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            json.loads(text)
        except ValueError:
            return text
        raise ValueError("this text is valid JSON, so an answer with it would not be malformed")

    @property
    def words(self) -> str:
        """``gets an answer that is not valid JSON``."""
        return "gets an answer that is not valid JSON"


class Refusal(_ReplyFault):
    """The model declines, in the provider's own way."""

    short: ClassVar[str | None] = "text"

    type: Literal["refusal"] = "refusal"
    text: str = "I'm sorry, but I can't help with that."
    """What it says."""

    def __init__(self, text: str | None = None, /, **data: Any) -> None:
        if text is not None:
            data["text"] = text
        super().__init__(**data)

    @property
    def words(self) -> str:
        """``is refused by the model``."""
        return "is refused by the model"


class MalformedToolCall(_ReplyFault):
    """The reply's first tool call is broken. A reply without one gets one, from the offered tools.

    An answer that calls no tool, to a request that offers none, cannot be broken so.
    """

    short: ClassVar[str | None] = "mutate"

    type: Literal["malformed_tool_call"] = "malformed_tool_call"
    mutate: Mutation = "bad_json"
    """How: arguments that are not JSON, a tool that does not exist, a needed argument left out,
    one that the tool does not know, or a value of the wrong type."""

    def __init__(self, mutate: Mutation | None = None, /, **data: Any) -> None:
        if mutate is not None:
            data["mutate"] = mutate
        super().__init__(**data)

    @property
    def label(self) -> str:
        """Such as ``tool call with bad json``."""
        return f"tool call with {self.mutate.replace('_', ' ')}"

    @property
    def words(self) -> str:
        """Such as ``gets a tool call with a missing argument``."""
        article = "" if self.mutate == "bad_json" else "an " if self.mutate[0] in "ue" else "a "
        return f"gets a tool call with {article}{self.mutate.replace('_', ' ')}"


class CutOff(_ReplyFault):
    """The reply ends at a token limit, with the finish reason for that.

    Tokens are counted roughly, four characters each: first the text, then the arguments of each
    tool call. A call that the limit falls into keeps the first part of its arguments; later
    calls are gone. Reasoning does not count, and the usage stays as it was.
    """

    short: ClassVar[str | None] = "after_tokens"

    type: Literal["cut_off"] = "cut_off"
    after_tokens: int | None = Field(default=None, ge=0)
    """How many tokens of the reply are left; by default half of them. A reply that is not longer
    is not cut off."""

    def __init__(self, after_tokens: int | None = None, /, **data: Any) -> None:
        if after_tokens is not None:
            data["after_tokens"] = after_tokens
        super().__init__(**data)

    @property
    def label(self) -> str:
        """Such as ``cut off after 20 tokens``."""
        if self.after_tokens is None:
            return "cut off"
        return f"cut off after {self.after_tokens} token{'' if self.after_tokens == 1 else 's'}"

    @property
    def words(self) -> str:
        """Such as ``is cut off after 20 tokens``."""
        return f"is {self.label}" if self.after_tokens is not None else "is cut off half-way"
