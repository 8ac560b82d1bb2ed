"""The channel between page and kernel: answers, refusals, and what a widget's state holds."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import pytest
from runmaker import Ran, RunMaker

import workbench
from workbench import MissingExtraError, Workbench
from workbench.trace.trace import Trace


class _Told:
    """What the kernel tells the page, by the comm's own hook."""

    def __init__(self, bench: Workbench) -> None:
        self.messages: list[tuple[dict[str, Any], list[bytes]]] = []
        bench.widget.comm.publish_msg = self._take

    def _take(self, _kind: str, data: Any = None, buffers: Any = None, **_: Any) -> None:
        self.messages.append((data, [bytes(each) for each in buffers or ()]))

    def wait(self) -> None:
        """Wait for the first answer: what takes long is answered by a thread of its own."""
        end = time.monotonic() + 5
        while not self.answers and time.monotonic() < end:
            time.sleep(0.01)

    @property
    def answers(self) -> list[tuple[dict[str, Any], list[bytes]]]:
        return [(m["content"], b) for m, b in self.messages if m.get("method") == "custom"]

    @property
    def states(self) -> list[dict[str, Any]]:
        return [m["state"] for m, _ in self.messages if m.get("method") == "update"]


def _send(bench: Workbench, content: Any) -> None:
    message = {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
    bench.widget._handle_msg(message)


def test_each_request_gets_one_answer_with_its_id(made: Trace) -> None:
    """Small answers come in the message, large ones as one buffer of JSON."""
    bench = Workbench(made)
    told = _Told(bench)
    _send(bench, {"id": "a", "do": "next", "trace": 0, "from": 1, "direction": 1, "what": "error"})
    _send(bench, {"id": "b", "do": "raw", "trace": 0, "n": 4})
    (first, none), (second, one) = told.answers
    assert (first, none) == ({"id": "a", "ok": True, "data": {"n": 3}}, [])
    assert second == {"id": "b", "ok": True, "data": None}
    assert "chatcmpl" in json.loads(one[0])["reply"]["text"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"id": 1, "do": "explode"}, "the page asked for 'explode'"),
        ({"id": 1, "do": "turn", "trace": 7, "n": 1}, "there is no trace 7: there are 0 to 0"),
        ({"id": 1, "do": "turn", "trace": 0, "n": 99}, "turns 1 to 5"),
        ({"id": 1, "do": "turn", "trace": 0, "n": "x"}, "'n' must be a whole number, not 'x'"),
        ({"id": 1, "do": "search", "trace": 0, "filter": "best"}, "no filter 'best'"),
        ({"id": 1, "do": "cancel"}, "nothing runs"),
        ({"id": 1, "do": "run", "n": 1}, "Workbench(trace, agent=…)"),
        ({"id": 1}, "None"),
        ("not an object", "None"),
    ],
)
def test_a_bad_request_is_refused_shown_and_logged(
    made: Trace, caplog: pytest.LogCaptureFixture, content: Any, words: str
) -> None:
    """Errors in a widget's callbacks vanish by themselves; here they reach page, Python and log."""
    bench = Workbench(made)
    told = _Told(bench)
    with caplog.at_level(logging.INFO, logger="workbench.ui"):
        _send(bench, content)
        told.wait()
    answer = told.answers[0][0]
    assert answer["ok"] is False
    assert words in answer["error"]
    assert bench.error == answer["error"]
    assert any(words in record.getMessage() for record in caplog.records)
    assert any("error" in state for state in told.states)


def test_an_error_that_nobody_foresaw_is_shown_with_its_place(
    made: Trace, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a fault of the workbench itself is told in the page, with the traceback in the log."""
    bench = Workbench(made)

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr(bench._desk.sheets[0], "turn", broken)
    told = _Told(bench)
    _send(bench, {"id": 9, "do": "turn", "trace": 0, "n": 1})
    assert told.answers[0][0]["error"].startswith("turn failed: ZeroDivisionError: by accident")
    assert "in broken" in bench.error
    assert any(record.exc_info for record in caplog.records)


def test_the_state_holds_no_text_of_the_trace() -> None:
    """Widget state is saved into notebooks: what was said stays in the trace."""
    secret = "the customer's own words " * 40
    call = Ran("refund", {"order_id": 1, "note": secret}, {"echo": secret})
    maker = RunMaker("private", system=secret).say("user", secret)
    bench = Workbench(maker.turn(secret, call).turn(secret).end(output=secret))
    bench.reply(2, text=secret)
    keys = [key for key in bench.widget.keys if not key.startswith("_")]
    state = {key: bench.widget.get_state(key)[key] for key in keys if key != "layout"}
    text = json.dumps(state, ensure_ascii=False)
    known = text.replace(json.dumps(state["python"], ensure_ascii=False), "")
    assert secret not in known
    forms = json.dumps(state["fault_forms"], ensure_ascii=False)  # the same for every trace
    assert len(known) - len(forms) < 20_000


def test_without_the_extra_the_error_names_the_command(
    made: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever installed the bare package is told what to install, at the moment of use."""
    from workbench.ui import page

    monkeypatch.setitem(sys.modules, "anywidget", None)
    page._page_class.cache_clear()
    try:
        assert workbench.Workbench.__name__ == "Workbench"
        with pytest.raises(MissingExtraError, match=r'pip install "trace-workbench\[lab\]"'):
            Workbench(made)
    finally:
        page._page_class.cache_clear()


def test_the_page_dismisses_an_alert(made: Trace) -> None:
    """The page sets the text to nothing, and Python agrees."""
    bench = Workbench(made)
    bench.alert("something")
    bench.widget.set_state({"error": ""})
    assert bench.error == ""


def test_while_stepping_fast_the_newest_plan_answers_for_all(made: Trace) -> None:
    """Each request is answered, so the kernel is not taken for dead, and little is computed."""
    bench = Workbench(made)
    told = _Told(bench)
    with bench._desk.lock:
        for number in range(1, 6):
            _send(bench, {"id": number, "do": "plan", "n": number})
    end = time.monotonic() + 5
    while len(told.answers) < 5 and time.monotonic() < end:
        time.sleep(0.01)
    answers = {answer["id"]: answer["data"]["cut"] for answer, _ in told.answers}
    assert set(answers) == {1, 2, 3, 4, 5}
    assert answers[5] == 5
