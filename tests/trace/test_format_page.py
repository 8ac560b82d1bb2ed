"""The page on the trace format names all that a trace can hold, and nothing that it cannot."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from workbench.seam.calls import Reason
from workbench.trace import entries, recognising, scan, versions
from workbench.trace.blobs import MAX_EXPANDED
from workbench.trace.payloads import known_apis, view
from workbench.trace.scan import MAX_LINE
from workbench.trace.sources import MAX_UNPACKED
from workbench.trace.tags import READERS

SECTIONS: dict[type[BaseModel], str] = {
    entries.TraceLine: "### `trace`",
    entries.WriterLine: "### `writer`",
    entries.CallLine: "### `call`",
    entries.ChunkLine: "### `chunk`",
    entries.ResultLine: "### `result`",
    entries.ErrorInfo: "### `result`",
    entries.EventLine: "### `event`",
    entries.ValueLine: "### `event`",
    entries.InputLine: "### `event`",
    entries.BlobLine: "### `blob`",
    entries.EndLine: "### `end`",
    entries.AgentInfo: "### `trace`",
    entries.HashInfo: "### `trace`",
    entries.ParentInfo: "### `trace`",
}
EXTRAS: dict[type[BaseModel], tuple[str, ...]] = {
    entries.CallLine: ("path", "query", "headers", "body", "arguments"),
    entries.ResultLine: ("status", "headers", "body", "rest"),
    entries.ErrorInfo: ("event", "after_s"),
}
"""What the adapters and drivers write beyond the models' own fields."""
ELSEWHERE = {"line"}
"""Said once for all lines."""


@pytest.fixture(scope="module")
def page() -> str:
    """The page's text."""
    root = Path(__file__).parents[2]
    return (root / "docs" / "trace-format.md").read_text(encoding="utf-8")


def _section(page: str, begin: str) -> str:
    start = page.index(begin)
    end = re.search(r"^##", page[start + 3 :], re.MULTILINE)
    return page[start : start + 3 + end.start()] if end is not None else page[start:]


def _words(text: str) -> set[str]:
    """The words that stand in code."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", code)}


@pytest.mark.parametrize("model", SECTIONS, ids=lambda model: model.__name__)
def test_every_field_of_a_line_is_on_the_page(page: str, model: type[BaseModel]) -> None:
    """Who writes a trace after the page, or reads one with it, meets no field that it hides."""
    fields = {field.alias or name for name, field in model.model_fields.items()} - ELSEWHERE
    missing = (fields | set(EXTRAS.get(model, ()))) - _words(_section(page, SECTIONS[model]))
    assert missing == set()


@pytest.mark.parametrize(
    ("values", "section"),
    [
        (set(get_args(Reason)) - {"record"}, "### `call`"),
        (get_args(entries.Source), "### `result`"),
        (get_args(entries.Ended), "### `result`"),
        (get_args(entries.Status), "### `end`"),
        (get_args(entries.Effect), "### `call`"),
        (set(READERS) | {"blob"}, "## Values"),
        (known_apis(), "## Conversations"),
    ],
)
def test_every_value_of_a_choice_is_on_the_page(page: str, values: Any, section: str) -> None:
    """Reasons, sources, endings, tags: each word that a trace can hold is explained."""
    text = _section(page, section)
    assert [value for value in values if f"`{value}`" not in text] == []


def test_the_page_invents_no_reason_and_no_conversation(page: str) -> None:
    """The tables hold what the code knows, and nothing else."""
    reasons = _section(page, "### `call`").split("| reason |")[1]
    table = re.findall(r"^\| `(\w+)` \|", reasons, re.MULTILINE)
    assert set(table) == set(get_args(Reason)) - {"record"}
    section = _section(page, "## Conv")
    rows = re.findall(r"^\| (`\w.*?`.*?) \| `?(\w[\w.]*)", section, re.MULTILINE)
    told = {api: path for apis, path in rows for api in re.findall(r"`(.*?)`", apis)}
    paths = {api: ".".join(view(api).conversation_path) or "none" for api in known_apis()}
    assert told == paths


def test_the_limits_on_the_page_are_those_of_the_code(page: str) -> None:
    """Sizes beyond which something is not read are said as they are."""
    mib = 1024**2
    assert f"into memory, up to {MAX_UNPACKED // mib} MiB" in page
    assert f"a line longer than {MAX_LINE // mib} MiB" in page
    assert f"make larger than {MAX_EXPANDED // mib} MiB" in page
    said = re.search(r"in a file of more than (\d+) MiB, its first (\d+) calls\s+show", page)
    assert said is not None
    assert (int(said[1]), int(said[2])) == (scan._PARSE_ALL // mib, recognising._SAMPLES)
    assert f"the format's version, {versions.CURRENT}." in page
