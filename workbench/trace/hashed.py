"""Traces that hold the hashes of requests in place of the requests: ``requests="hash"``."""

from __future__ import annotations

from typing import Any

from workbench.trace.canonical import DEFAULT_IGNORE, request_hash
from workbench.trace.header import TraceLine
from workbench.trace.values import decode

_ASKED = {"call": ("request", "sent"), "input": ("prompt", "choices")}
"""The fields of a line that say what was asked."""


def hash_only(fields: dict[str, Any], header: TraceLine) -> dict[str, Any]:
    """A line without what was asked in it, but with its hash.

    Prompts, tool arguments and questions to a human go; replies, results and answers stay. Any
    other line is given back itself.

    Args:
        fields: the line as :meth:`BaseLine.as_dict` gives it. It is not changed.
        header: the trace's header, whose ignore rules apply.

    Raises:
        UnencodableError: what was asked cannot be hashed.
    """
    asked = _ASKED.get(fields["line"], ())
    if not any(name in fields for name in asked):
        return fields
    kept = {name: value for name, value in fields.items() if name not in asked}
    if not kept.get("hash"):
        kept["hash"] = _hash(fields, header)
    return kept


def _hash(fields: dict[str, Any], header: TraceLine) -> str:
    kind, api = fields.get("kind", "input"), fields.get("api")
    if fields["line"] == "input":
        request: Any = {name: fields[name] for name in _ASKED["input"] if name in fields}
    else:
        request = fields.get("request")
    if kind == "model":
        rules = DEFAULT_IGNORE if header.hash is None else header.hash.ignore
        return request_hash(kind, api, request, rules.get(str(api), ()))
    rules = {} if header.hash is None else header.hash.ignore
    return request_hash(kind, None, decode(request), rules.get(kind, ()))
