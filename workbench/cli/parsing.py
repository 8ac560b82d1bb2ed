"""From the words of a command line to places and ignore rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.trace.places import Place


def with_places(data: Any) -> Any:
    """The same with places written as text turned into places."""
    from workbench.trace.places import parse_place

    if not isinstance(data, Mapping):
        return data
    out = dict(data)
    if "at" in out and not isinstance(out["at"], Mapping):
        out["at"] = parse_place(out["at"])
    if isinstance(out.get("fault"), Mapping):
        out["fault"] = with_places(out["fault"])
    aim = out.get("aim")
    if isinstance(aim, Mapping) and isinstance(aim.get("place"), str):
        out["aim"] = {**aim, "place": parse_place(aim["place"])}
    return out


def read_ignore(rules: Sequence[str]) -> dict[str, list[str]]:
    """``API:/json/pointer`` rules, per api.

    Raises:
        UsageError: one is not of that form.
    """
    out: dict[str, list[str]] = {}
    for rule in rules:
        api, colon, pointer = rule.partition(":")
        if not api or not colon or not pointer.startswith("/"):
            raise UsageError(
                f"--ignore {rule}: write API:/pointer, such as openai.chat:/body/messages/0 "
                "(for a tool's arguments: tool:/arguments/when)"
            )
        out.setdefault(api, []).append(pointer)
    return out


def read_place(text: str | None) -> Place | None:
    """A place as written on a command line, or none. Raises PlaceError."""
    from workbench.trace.places import parse_place

    return None if text is None else parse_place(text)


def read_file(name: str) -> str:
    """The text of a file with edits. Raises UsageError."""
    path = Path(name)
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"--edit {name}: there is no such file; give a JSON file, or JSON that begins with {{"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--edit {name}: the file cannot be read ({error})") from error


def json_of(text: str, what: str) -> Any:
    """What a JSON text says; ``what`` names it in the error. Raises UsageError."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{what}: this is not JSON ({error})") from error
