"""A fork reduced to what it was made from, and made sure of."""

import json
from pathlib import Path

import pytest
from runmaker import RunMaker, order, refund

import workbench as wb
from workbench.errors import TraceFormatError, TraceNotFoundError, UsageError
from workbench.faults import HttpError
from workbench.trace.entries import TraceLine
from workbench.trace.header import HashInfo, ParentInfo
from workbench.trace.journal import Journal
from workbench.trace.recipe import Recipe
from workbench.trace.trace import Trace, load


def parent(path: Path) -> Trace:
    """A run in a file."""
    RunMaker("shop", path=path).turn("", order()).turn("", refund()).turn("Done.").end()
    return load(path)


def forked(trace: Trace) -> Trace:
    """A fork of it, as its header says."""
    edits = trace.edit().reply(wb.turn(2), text="No.", tool_calls=[]).fault(HttpError(429))
    info = ParentInfo(
        id=trace.id, name=trace.name, path=str(trace.path), digest=trace.digest, cut="turn:3",
        edits=edits.to_json(), options={"on_miss": "live", "force_live": ["turn:1"]},
    )  # fmt: skip
    given = {"args": ["refund it"], "kwargs": {}}
    rules = HashInfo(ignore={"tool": ["/arguments/when"]})
    return Journal.in_memory(TraceLine(id="f", parent=info, input=given, hash=rules)).trace()


def test_a_fork_is_its_parent_edits_cut_and_options(tmp_path: Path) -> None:
    """All that is needed to make it again, and the very trace that it was made from."""
    trace = parent(tmp_path / "shop.trace.jsonl")
    recipe = forked(trace).recipe()
    assert (recipe.id, recipe.name, recipe.digest) == (trace.id, "shop", trace.digest)
    assert recipe.cut == wb.turn(3)
    assert recipe.options == {"on_miss": "live", "force_live": ["turn:1"]}
    assert recipe.ignore == {"tool": ["/arguments/when"]}
    assert recipe.input == {"args": ["refund it"], "kwargs": {}}
    opened = recipe.open_parent()
    assert opened.digest == trace.digest
    edits = recipe.edits_on(opened)
    assert edits == trace.edit().reply(wb.turn(2), text="No.", tool_calls=[]).fault(HttpError(429))


def test_data_and_back(tmp_path: Path) -> None:
    """Through the bytes of a file; an input of None and an empty one stay apart."""
    recipe = forked(parent(tmp_path / "shop.trace.jsonl")).recipe()
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    bare = Recipe(id="p")
    assert bare.to_json() == {"id": "p"}
    assert Recipe.from_json({"id": "p"}) == bare
    empty = Recipe(id="p", input={})
    assert empty.to_json() == {"id": "p", "input": {}}
    assert Recipe.from_json(empty.to_json()) == empty != bare


def test_another_trace_is_not_taken_for_the_parent(tmp_path: Path) -> None:
    """The same edits on a changed run would make another fork, and nobody would see it."""
    path = tmp_path / "shop.trace.jsonl"
    recipe = forked(parent(path)).recipe()
    other = RunMaker("other").turn("Done.").end()
    with pytest.raises(UsageError, match=r"the trace id-other, and the fork was made from id-shop"):
        recipe.edits_on(other)
    path.write_bytes(path.read_bytes().replace(b"Order 101 arrived", b"Order 102 arrived"))
    with pytest.raises(UsageError, match="has changed since the fork was made from it"):
        recipe.open_parent()
    path.unlink()
    with pytest.raises(TraceNotFoundError):
        recipe.open_parent()
    with pytest.raises(TraceNotFoundError, match="was in no file when the fork was made"):
        Recipe(id="p").open_parent()


def test_a_recording_has_no_recipe() -> None:
    """It was made from nothing but the world."""
    with pytest.raises(UsageError, match="run has no parent: it was recorded"):
        RunMaker().turn("Done.").end().recipe()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], 'a recipe is an object with the parent\'s "id"'),
        ({"id": 7}, "a recipe is an object"),
        ({"id": "p", "cutt": "turn:1"}, "a recipe has no key 'cutt'"),
        ({"id": "p", "edits": {}}, "a recipe's 'edits' is a list"),
        ({"id": "p", "input": None}, "a recipe's 'input' is a dict"),
    ],
)
def test_what_is_no_recipe(data: object, words: str) -> None:
    """Said, not guessed."""
    with pytest.raises(TraceFormatError, match=words):
        Recipe.from_json(data)
