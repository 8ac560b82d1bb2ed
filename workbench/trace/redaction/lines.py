"""Cleaning a trace's lines: what somebody said, not what the journal itself made."""

from __future__ import annotations

from typing import Any, Final

from workbench.trace.entries import TraceLine
from workbench.trace.redaction.names import each_word
from workbench.trace.redaction.redactor import Redactor

_OWN: Final = each_word(
    "line format version id of kind at created_at started_at pid hash redact salt seed sha256 "
    "base in asked_by origin attempt reason source ended effect status usage counts runtime "
    "nth offset_s duration_s first_s held_s stream"
)
"""Fields that hold numbers, ids, hashes, times, or words of the format."""


def clean_fields(redactor: Redactor, fields: dict[str, Any]) -> dict[str, Any]:
    """A line's fields, as :meth:`BaseLine.as_dict` gives them, without secrets; the order stays.

    Each field is a value of its own, so that a rule's path begins at a request, a response or an
    output.
    """
    if not redactor.on:
        return fields
    return {
        name: value if name in _OWN or value is None else redactor.clean(value)
        for name, value in fields.items()
    }


def clean_header(redactor: Redactor, header: TraceLine) -> TraceLine:
    """A trace's first line without secrets, and with the names and the salt of the rules."""
    if not redactor.on:
        return header
    fields = clean_fields(redactor, header.as_dict())
    heavy = fields.pop("input", None)
    fields |= {"redact": redactor.names, "salt": redactor.salt}
    if "input" in header.model_fields_set:
        fields["input"] = heavy
    if header.hash is not None:
        fields["hash"] = header.hash
    return TraceLine.model_validate(fields)
