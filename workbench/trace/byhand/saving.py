"""Writing a trace as a recording that people read: JSON or YAML.

A recording holds what a replay serves: answers, tool results, faults, the event log. By design it
does not hold how they came about: requests (it has their hash), times, ids, code lines, and how a
stream was cut into chunks. What a replay would serve and the short form cannot hold is refused, or
left out when the caller says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import MissingExtraError, UnencodableError
from workbench.trace.byhand.model import VERSION
from workbench.trace.byhand.turning import Lost, event_of, tool_of, turn_of
from workbench.trace.byhand.yamltext import is_plain_text
from workbench.trace.saving import save_bytes
from workbench.trace.values import decode

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

_SHOWN = 8


def save_recording(trace: Trace, path: Path, *, replace: bool, lossy: bool) -> Path:
    """Write a trace as a recording; JSON, or YAML by the path's ending. Gives the path.

    Raises:
        UnencodableError: the short form cannot hold all of it, and ``lossy`` was not given; the
            text says what, and nothing is written.
        MissingExtraError: it is to be YAML, and PyYAML is not installed.
        TraceExistsError: the file exists, and ``replace`` was not given.
        TraceWriteError: it cannot be written.
    """
    data, lost = recording_of(trace)
    if lost and not lossy:
        more = f"\n  and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
        listed = "".join(f"\n  {each}" for each in lost[:_SHOWN])
        raise UnencodableError(
            f"{path}: the short form cannot hold all of this trace:{listed}{more}\n"
            "Save it as NAME.trace.jsonl, which holds everything, or pass lossy=True to leave "
            "these out"
        )
    text = as_json(data) if path.suffix.lower() == ".json" else as_yaml(data)
    return save_bytes(path, [text.encode()], replace=replace)


def recording_of(trace: Trace) -> tuple[dict[str, Any], list[str]]:
    """A trace as plain data of a recording, and a sentence for each thing that it cannot hold."""
    kept = decode((trace.header.hand or {}).get("kept"))
    data: dict[str, Any] = {"_version": VERSION, **(kept if isinstance(kept, dict) else {})}
    steps: dict[str, list[dict[str, Any]]] = {}
    repeats: dict[str, bool] = {}
    tools: dict[str, list[dict[str, Any]]] = {}
    events: list[dict[str, Any]] = []
    lost = Lost()
    lost.lines += _about_the_run(trace)
    for entry in trace.entries:
        key = entry.hand_key or entry.step
        if entry.kind == "model" and key.startswith("_"):
            lost.add(entry, f"the step {key!r} begins with _, so its name would mean no step")
        elif entry.kind == "model":
            steps.setdefault(key, []).append(turn_of(entry, lost))
            repeats[key] = entry.repeat and len(steps[key]) == 1
        elif entry.kind == "tool":
            tools.setdefault(key, []).append(tool_of(entry, lost))
        elif entry.kind == "event":
            events += event_of(entry, lost)
        else:
            lost.add(entry, f"a recorded {entry.kind} has no place in a recording")
    data.update({key: turns[0] if repeats[key] else turns for key, turns in steps.items()})
    if tools:
        data["_tools"] = tools
    if events:
        data["_inter_agent_events"] = events
    return data, lost.lines


def _about_the_run(trace: Trace) -> Iterator[str]:
    if trace.parent is not None:
        edits = len(trace.parent.edits)
        yield f"it is a fork: its parent and {edits} edit{'' if edits == 1 else 's'} are not kept"
    if trace.error is not None:
        yield f"the run ended with {trace.error.type}: how a run ended is not kept"


def as_json(data: dict[str, Any]) -> str:
    """A recording as JSON text."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: only an escape can hold it
        text = json.dumps(data, indent=2)
    return f"{text}\n"


def as_yaml(data: dict[str, Any]) -> str:
    """A recording as YAML text. Raises MissingExtraError without PyYAML."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("yaml", "PyYAML") from error

    class Dumper(yaml.SafeDumper):
        """Writes plain values only: no anchors, long texts in blocks."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as PyYAML has it
            return True

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    Dumper.add_representer(str, text)
    return str(yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100))


def _style(text: str) -> str | None:
    """How a text is written: as a block, in quotes with escapes, or as PyYAML thinks best."""
    lines = text.split("\n")
    if not is_plain_text(text):
        return "'"
    if not all(line.isprintable() for line in lines):
        return '"'  # in other quotes PyYAML loses rare line breaks such as U+0085
    if len(lines) > 1 and lines[0] and all(line == line.strip() for line in lines):
        return "|"
    return None
