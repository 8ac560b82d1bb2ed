"""A damaged trace is still read: what is left of it is counted, compared and put into frames."""

import pytest
from runmaker import RunMaker, order, refund

import workbench.analysis as wa
from workbench.trace.diff import diff
from workbench.trace.findings import findings, headline
from workbench.trace.prices import spent_and_saved
from workbench.trace.trace import Trace


def recorded() -> bytes:
    """The bytes of a small run."""
    run = RunMaker().turn("", order(), usage={"input_tokens": 1, "output_tokens": 2})
    run.turn("", refund()).event("answered", {"n": 1}).turn("Done.").end({"status": "ok"})
    return bytes(run.journal._appender.data)  # type: ignore[attr-defined]


LINES = recorded().splitlines()


@pytest.mark.parametrize("place", range(1, len(LINES)))
@pytest.mark.parametrize("damage", ["lost", "cut", "nonsense"])
def test_one_bad_line_hides_nothing_else(place: int, damage: str) -> None:
    """Whichever line is lost, cut or nonsense, the rest is read and the good run is not blamed."""
    line = {"lost": [], "cut": [LINES[place][: len(LINES[place]) // 2]], "nonsense": [b"[1]"]}
    lines = [*LINES[:place], *line[damage], *LINES[place + 1 :]]
    trace, good = Trace.from_bytes(b"\n".join(lines) + b"\n"), Trace.from_bytes(recorded())
    found = diff(good, trace)
    assert found.to_json()["a"]["id"] == good.id
    assert diff(trace, trace).same
    assert headline(trace)
    assert all(each.text for each in findings(trace))
    assert spent_and_saved(trace)[1].amount == 0
    calls = wa.calls(trace)
    assert 4 <= len(calls) <= 5
    assert len(wa.turns(trace)) in (2, 3)
    assert len(wa.tools(trace)) in (1, 2)
