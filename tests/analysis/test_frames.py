"""Frames: the same columns whatever is in the traces, and values as they were recorded."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from runmaker import Ran, RunMaker, email, order, refund

import workbench.analysis as wa
from workbench.analysis.columns import Column, frame
from workbench.errors import MissingExtraError, TraceError, UsageError
from workbench.trace.entries import ErrorInfo
from workbench.trace.trace import Trace

USAGE: dict[str, int | None] = {
    "input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 80,
}  # fmt: skip
AT = "2026-01-05T10:00:00.250000Z"
FRAMES = [
    (wa.runs, wa.RUN_COLUMNS),
    (wa.turns, wa.TURN_COLUMNS),
    (wa.calls, wa.CALL_COLUMNS),
    (wa.tools, wa.TOOL_COLUMNS),
    (wa.events, wa.EVENT_COLUMNS),
    (wa.entries, wa.ENTRY_COLUMNS),
]


def small() -> Trace:
    """A look-up that works, a refund that fails, and a reply of a model without a price."""
    failed = Ran("refund", {"order_id": 7, "amount": 1.5}, error=ErrorInfo(type="KeyError"))
    run = RunMaker("small").turn("", order(), usage=USAGE, at=AT, first_s=0.2)
    return run.turn("", failed, usage=USAGE, source="replayed", at=AT).turn(
        "Done.", model="new-x", usage=USAGE, duration_s=None, at=None
    ).event("answered", {"ok": True}).end({"status": "ok"})  # fmt: skip


@pytest.mark.parametrize(("read", "columns"), FRAMES)
@pytest.mark.parametrize("source", [[], [small()]], ids=["nothing", "a trace"])
def test_names_and_dtypes_are_those_declared(
    read: Callable[..., pd.DataFrame], columns: list[Column[object]], source: list[Trace]
) -> None:
    """Code that works on one frame works on all, the empty one included."""
    found = read(source)
    assert list(found.columns) == [column.name for column in columns]
    expected = [
        "object" if column.dtype == "object" else str(pd.Series([], dtype=column.dtype).dtype)
        for column in columns
    ]
    assert [str(dtype) for dtype in found.dtypes] == expected


@pytest.mark.parametrize(("read", "columns"), FRAMES)
def test_each_column_is_in_the_docstring(
    read: Callable[..., pd.DataFrame], columns: list[Column[object]]
) -> None:
    """`help()` says what a column holds, from the one place where it is declared."""
    for column in columns:
        assert f"{column.name} ({column.dtype}): {column.doc}" in str(read.__doc__)


def test_calls_exactly() -> None:
    """One row a call, unknown is NA, a replayed call is saved and not spent."""
    columns = ["seq", "kind", "turn", "model", "tool", "effect", "source", "outcome", "error",
               "duration_s", "input_tokens", "cache_read_tokens", "reasoning_tokens",
               "cost", "spent", "saved"]  # fmt: skip
    na = pd.NA
    paid = 0.000015
    expected = pd.DataFrame(
        [
            [1, "model", 1, "gpt-4o-mini", na, na, "live", "ok", na, 0.5, 100, 80, na,
             paid, paid, 0.0],
            [2, "tool", 1, na, "get_order", "read", "live", "ok", na, 0.1, na, na, na, na, na, na],
            [3, "model", 2, "gpt-4o-mini", na, na, "replayed", "ok", na, 0.5, 100, 80, na,
             paid, 0.0, paid],
            [4, "tool", 2, na, "refund", "write", "live", "error", "KeyError", 0.1, na, na, na,
             na, na, na],
            [5, "model", 3, "new-x", na, na, "live", "ok", na, na, 100, 80, na, na, na, 0.0],
        ],
        columns=columns,
    )  # fmt: skip
    dtypes = {column.name: column.dtype for column in wa.CALL_COLUMNS}
    expected = expected.astype({name: dtypes[name] for name in columns})
    pd.testing.assert_frame_equal(wa.calls(small())[columns], expected)


def test_times_are_utc_and_absent_ones_are_missing() -> None:
    """A time without a zone would be read as local by whoever plots it."""
    found = wa.calls(small())["started_at"]
    assert found[0] == pd.Timestamp("2026-01-05T10:00:00.25", tz="UTC")
    assert found[4] is pd.NaT


def test_turns_exactly() -> None:
    """A turn's row has the words, the tools and both costs of its model call."""
    found = wa.turns(small())
    assert found["turn"].tolist() == [1, 2, 3]
    assert found["text"].tolist() == ["", "", "Done."]
    assert found["tools"].tolist() == [["get_order"], ["refund"], []]
    assert found["tool_errors"].tolist() == [0, 1, 0]
    assert found["tools_s"].tolist() == [0.1, 0.1, 0.0]
    assert found["first_s"].tolist() == [0.2, pd.NA, pd.NA]
    assert found["cost"].tolist() == [0.000015, 0.000015, pd.NA]
    assert found["outcome"].tolist() == ["ok", "ok", "ok"]


def test_runs_exactly() -> None:
    """A run's row says how it ended and what it took; a sum with an unknown part is NA."""
    row = wa.runs([small()]).iloc[0]
    assert (row["run"], row["trace_id"], row["status"]) == ("small", "id-small", "ok")
    assert row["headline"] == "ok · refund failed"
    assert (row["turns"], row["model_calls"], row["tool_calls"]) == (3, 3, 2)
    assert row["cost"] is pd.NA
    assert row["cost_at_least"] == 0.00003
    assert row["saved"] == 0.000015
    assert row["output"] == {"status": "ok"}


def test_objects_stay_what_they_are() -> None:
    """None, nothing and {} stay three things, and a dotted key does not merge with a nested one."""
    dotted = {"a.b": 1, "a": {"b": 2}}
    run = RunMaker()
    run.turn("", Ran("x", dotted, None), Ran("x", {}, {}), Ran("x", {"n": None}, hanging=True))
    found = wa.tools(run.cut())
    assert found["arguments"].tolist() == [dotted, {}, {"n": None}]
    assert found["result"][0] is None
    assert found["result"][1] == {}
    assert found["result"][2] is pd.NA


def test_lists_and_tuples_are_cells_and_not_tables() -> None:
    """Equally long lists must not turn into columns, and a tuple stays a tuple."""
    run = RunMaker().turn("", Ran("x", {"n": 1}, [1, 2]), Ran("x", {"n": 2}, (3, 4)))
    found = wa.tools(run.end())
    assert found["result"].tolist() == [[1, 2], (3, 4)]
    assert found["outcome"].tolist() == ["ok", "ok"]


def test_events_carry_their_data() -> None:
    """What the agent wrote down comes back."""
    run = RunMaker().turn("Ok.").event("answered", {"n": [1]}).event("nothing", None)
    found = wa.events(run.end())
    assert found["type"].tolist() == ["answered", "nothing"]
    assert found["data"].tolist() == [{"n": [1]}, None]


def test_entries_hold_everything_in_order() -> None:
    """Whatever crossed the seam has a row."""
    found = wa.entries(small())
    assert found["kind"].tolist() == ["model", "tool", "model", "tool", "model", "event"]
    assert found["name"].tolist() == [
        "gpt-4o-mini", "get_order", "gpt-4o-mini", "refund", "new-x", "answered",
    ]  # fmt: skip


def test_half_a_character_does_not_break_a_frame() -> None:
    """A lone surrogate in a reply is shown as its escape."""
    assert wa.turns(RunMaker().turn("\ud83d!").end())["text"].tolist() == ["\\ud83d!"]


def write(folder: Path, name: str) -> Path:
    """A trace in a file."""
    path = folder / f"{name}.trace.jsonl"
    RunMaker(name, path=path).turn("", email()).turn("Done.").end()
    return path


def test_a_source_can_be_a_path_a_glob_a_folder_or_several(tmp_path: Path) -> None:
    """However the runs are named, the rows are the same, in the order of the files' names."""
    first, second = write(tmp_path, "a"), write(tmp_path / "deep", "b")
    assert wa.runs(first)["run"].tolist() == ["a"]
    assert wa.runs(tmp_path)["run"].tolist() == ["a", "b"]
    assert wa.runs(str(tmp_path / "**" / "*.trace.jsonl"))["run"].tolist() == ["a", "b"]
    assert wa.runs([second, RunMaker("c").end(), str(first)])["run"].tolist() == ["b", "c", "a"]
    assert wa.runs(first)["path"].tolist() == [str(first)]


def test_a_damaged_file_among_many_is_named_and_left_out(tmp_path: Path) -> None:
    """One broken recording does not hide the others, and does not vanish either."""
    write(tmp_path, "a")
    broken = tmp_path / "b.trace.jsonl"
    broken.write_bytes(b"\x00\x01 no trace")
    write(tmp_path, "c")
    with pytest.warns(wa.SkippedTraceWarning) as caught:
        found = wa.runs(str(tmp_path / "*.jsonl"))
    assert found["run"].tolist() == ["a", "c"]
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"left out: {broken}: this is a binary file")
    with pytest.raises(TraceError, match="binary file"):
        wa.runs(broken)


def test_a_source_that_names_nothing_is_an_error(tmp_path: Path) -> None:
    """A mistyped glob must not look like an empty result."""
    with pytest.raises(UsageError, match="no file matches"):
        wa.calls(str(tmp_path / "*.jsonl"))
    with pytest.raises(UsageError, match="holds no trace"):
        wa.calls(tmp_path)
    with pytest.raises(UsageError, match="42 is no source of traces"):
        wa.calls(42)  # type: ignore[arg-type]


def test_without_pandas_the_error_names_the_command(
    bare_python: tuple[str, dict[str, str]],
) -> None:
    """The package imports without the extra, and says what to install when it is needed."""
    python, env = bare_python
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import workbench.analysis as wa\n"
        "from workbench.errors import MissingExtraError\n"
        "try:\n    wa.calls([])\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    run = subprocess.run(
        [python, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == (
        "pandas is not installed, and this needs it. "
        'Install it with:  pip install "trace-workbench[analysis]"\n'
    )


def test_importing_the_package_loads_no_pandas(bare_python: tuple[str, dict[str, str]]) -> None:
    """A notebook pays for pandas when it asks for a frame."""
    python, env = bare_python
    code = (
        "import sys, workbench.analysis\n"
        "print({'pandas', 'numpy', 'genai_prices'} & set(sys.modules))"
    )
    run = subprocess.run(
        [python, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == "set()\n"


def test_a_frame_of_declared_columns_is_made_of_any_rows() -> None:
    """The mechanism itself: getters, dtypes, missing values."""
    columns: list[Column[dict[str, object]]] = [
        Column("n", "Int64", lambda row: row.get("n"), "a number"),
        Column("b", "boolean", lambda row: row.get("b"), "a truth"),
    ]
    rows: list[dict[str, object]] = [{"n": 2**53 + 1, "b": True}, {}]
    found = frame(columns, rows)
    assert found["n"].tolist() == [2**53 + 1, pd.NA]
    assert found["b"].tolist() == [True, pd.NA]


def test_the_error_is_an_import_error_too() -> None:
    """Code that guards an import with `except ImportError` keeps working."""
    assert issubclass(MissingExtraError, ImportError)
    assert refund().name == "refund"
