"""Cost and latency by any key, and the drift between two runs."""

from collections.abc import Callable

import pandas as pd
import pytest
from runmaker import RunMaker, email, order, refund

import workbench.analysis as wa
from workbench.errors import UsageError
from workbench.trace.trace import Trace

SMALL: dict[str, int | None] = {"input_tokens": 1000, "output_tokens": 100}
LARGE: dict[str, int | None] = {
    "input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 800,
}  # fmt: skip
# $0.15, cached $0.075, and $0.60 a million tokens of gpt-4o-mini.
SMALL_COST = 0.00021
LARGE_COST = 0.00015


def priced() -> Trace:
    """Two calls of a known model, one of them replayed, and one of an unknown model."""
    run = RunMaker("priced").turn("", order(), usage=SMALL, step="plan", duration_s=1.0)
    run.turn("", refund(), usage=LARGE, source="replayed", step="act", duration_s=3.0, first_s=0.5)
    return run.turn("Done.", usage=SMALL, model="new-x", step="act", duration_s=None).end()


def test_cost_by_model_exactly() -> None:
    """The sum is of the known parts, how many are unknown stands beside it."""
    found = wa.cost(priced(), by="model")
    na = pd.NA
    expected = pd.DataFrame(
        {
            "model": ["gpt-4o-mini", "new-x"],
            "n": [2, 1],
            "unpriced": [0, 1],
            "input_tokens": [2000, 1000],
            "output_tokens": [200, 100],
            "cache_read_tokens": [800, na],
            "cache_write_tokens": [na, na],
            "reasoning_tokens": [na, na],
            "cost": [SMALL_COST + LARGE_COST, na],
            "spent": [SMALL_COST, na],
            "saved": [LARGE_COST, 0.0],
            "share": [1.0, na],
            "cumulative": [1.0, na],
        }
    )
    dtypes = {
        name: "string" if name == "model"
        else "Float64" if name in ("cost", "spent", "saved", "share", "cumulative")
        else "Int64"
        for name in expected.columns
    }  # fmt: skip
    pd.testing.assert_frame_equal(found, expected.astype(dtypes))
    assert found.attrs["prices"].startswith("prices in US dollars by genai-prices ")


def test_cost_by_several_keys_and_from_a_frame() -> None:
    """A frame that is there already is not read again; the dearest comes first."""
    found = wa.cost(wa.calls(priced()), by=["model", "step"])
    assert found[["model", "step"]].to_numpy().tolist() == [
        ["gpt-4o-mini", "plan"], ["gpt-4o-mini", "act"], ["new-x", "act"],
    ]  # fmt: skip
    assert found["share"].tolist()[:2] == pytest.approx([0.21 / 0.36, 0.15 / 0.36])
    assert found["cumulative"].tolist()[:2] == pytest.approx([0.21 / 0.36, 1.0])
    turns = wa.cost(wa.turns(priced()), by="turn")
    assert turns["turn"].tolist() == [1, 2, 3]


def test_cost_in_all() -> None:
    """Without a key there is one row."""
    found = wa.cost(priced(), by=[])
    assert found["n"].tolist() == [3]
    assert found["unpriced"].tolist() == [1]
    assert found["cost"].tolist() == pytest.approx([SMALL_COST + LARGE_COST])


def test_two_runs_of_one_name_stay_apart() -> None:
    """Recordings of one agent often share their name."""
    runs = [RunMaker("same", trace_id=name).turn("Hi.", usage=SMALL).end() for name in "ab"]
    found = wa.cost(runs, by="run")
    assert found[["run", "trace_id"]].to_numpy().tolist() == [["same", "a"], ["same", "b"]]


def test_latency_by_kind_exactly() -> None:
    """Percentiles, time to the first chunk, speed and share, of the calls that were timed."""
    found = wa.latency(priced())
    assert found["kind"].tolist() == ["model", "tool"]
    assert found["n"].tolist() == [2, 2]
    assert found["p50_s"].tolist() == pytest.approx([2.0, 0.1])
    assert found["p95_s"].tolist() == pytest.approx([2.9, 0.1])
    assert found["p99_s"].tolist() == pytest.approx([2.98, 0.1])
    assert found["mean_s"].tolist() == pytest.approx([2.0, 0.1])
    assert found["max_s"].tolist() == pytest.approx([3.0, 0.1])
    assert found["total_s"].tolist() == pytest.approx([4.0, 0.2])
    assert found["first_p50_s"].tolist() == [0.5, pd.NA]
    assert found["tokens_per_s"].tolist() == [50.0, pd.NA]
    assert found["share"].tolist() == pytest.approx([4.0 / 4.2, 0.2 / 4.2])
    assert found["cumulative"].tolist() == pytest.approx([4.0 / 4.2, 1.0])


def test_latency_by_tool_leaves_models_out() -> None:
    """A row for `no tool` would hold all the model calls."""
    found = wa.latency(wa.calls(priced()), by="tool")
    assert found["tool"].tolist() == ["get_order", "refund"]
    assert wa.latency(priced(), by="model")["model"].tolist() == ["gpt-4o-mini"]
    both = wa.latency(priced(), by=["model", "tool"])
    assert both["n"].sum() == 4


@pytest.mark.parametrize("summary", [wa.cost, wa.latency])
def test_a_summary_of_nothing_has_its_columns(summary: Callable[..., pd.DataFrame]) -> None:
    """The dtypes of an empty summary are those of a full one."""
    empty, full = summary([]), summary(priced())
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)
    assert empty.dtypes.tolist() == full.dtypes.tolist()


def test_a_frame_without_the_columns_is_refused() -> None:
    """The error names what is missing and what is there."""
    with pytest.raises(UsageError, match=r"latency\(\) needs the column.* and the frame has kind"):
        wa.latency(pd.DataFrame({"kind": ["model"]}))
    with pytest.raises(UsageError, match=r"cost\(\) needs the column nonsense, and the frame has"):
        wa.cost(priced(), by="nonsense")


def test_drift_gives_the_first_divergence_and_a_frame() -> None:
    """Where two runs part, and each turn of either as a row."""
    a = RunMaker("a").turn("", order()).turn("", refund()).turn("Done.").end()
    b = RunMaker("b").turn("", order()).turn("", email()).turn("Done.").end()
    found = wa.drift(a, b)
    assert str(found.first) == "turn 2: refund → send_email"
    assert repr(found) == "<Drift: first divergence: turn 2: refund → send_email>"
    assert not found.same
    assert found.frame["kind"].tolist() == ["same", "changed", "same"]
    assert found.frame["what"].tolist() == [[], ["refund → send_email"], []]
    assert found.frame["turn_a"].dtype == "Int64"
    assert "turn 2: refund → send_email" in found._repr_html_()


def test_a_run_has_no_drift_against_itself() -> None:
    """No difference is no difference."""
    found = wa.drift(priced(), priced())
    assert found.first is None
    assert found.same
    assert set(found.frame["kind"]) == {"same"}


def test_drift_wants_one_trace_on_each_side() -> None:
    """Two runs on one side can't be compared turn by turn."""
    with pytest.raises(
        UsageError, match=r"the second of the two must be one trace, and .* names 2"
    ):
        wa.drift(priced(), [priced(), priced()])
