"""Results of tools in the shapes of MCP servers and of programs, in a few words.

An MCP server's result is a list of blocks, a text or a picture each, and whether the tool failed; a
program's an exit code, with what it wrote to each of its streams.
"""

from __future__ import annotations

from typing import Any

_KEYS = frozenset(
    {"content", "structuredContent", "isError", "_meta", "resultType", "notifications"}
)

_EXIT_CODES = ("exit_code", "exitCode", "returncode", "return_code")


def in_words(value: Any) -> Any:
    """What such a result says: its text, with what is none in brackets; any other value itself."""
    blocks = _blocks(value)
    if blocks is None:
        return value
    return "\n".join(map(_block, blocks))


def failure(value: Any) -> str | None:
    """What such a result says went wrong; None where it says that nothing did, or is none."""
    if isinstance(value, dict) and any(name in value for name in _EXIT_CODES):
        return _exited(value)
    if _blocks(value) is None or value.get("isError") is not True:
        return None
    return str(in_words(value)) or "error"


def _exited(value: dict[str, Any]) -> str | None:
    """A program's failure. A code alone may be an answer, as that of a search without a match."""
    code = next(value[name] for name in _EXIT_CODES if name in value)
    said = value.get("stderr")
    if type(code) is not int or code == 0 or not isinstance(said, str) or not said.strip():
        return None
    return f"exit code {code}: {said.strip().splitlines()[-1]}"


def _blocks(value: Any) -> list[dict[str, Any]] | None:
    if not isinstance(value, dict) or not _KEYS.issuperset(value):
        return None
    blocks = value.get("content")
    if not isinstance(blocks, list):
        return None
    return blocks if all(isinstance(each, dict) and "type" in each for each in blocks) else None


def _block(block: dict[str, Any]) -> str:
    if isinstance(block.get("text"), str):
        return str(block["text"])
    found = block.get("resource")
    resource: dict[str, Any] = found if isinstance(found, dict) else {}
    if isinstance(resource.get("text"), str):
        return str(resource["text"])
    of = block.get("mimeType") or block.get("uri") or resource.get("uri")
    return f"[{block['type']} {of}]" if of else f"[{block['type']}]"
