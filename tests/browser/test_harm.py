"""What must not harm the page: hostile traces, a dead kernel, a busy one, ten thousand turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from runmaker import Ran, RunMaker

HOSTILE = "</script></pre><script>window.harmed=1</script><img src=x onerror='window.harmed=1'>"


def test_hostile_text_stays_text(open_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Whatever a model, a tool or a file name says: it is shown, and nothing of it runs."""
    maker = RunMaker(HOSTILE, system=HOSTILE, path=tmp_path / "hostile.trace.jsonl")
    call = Ran("refund", {"order_id": HOSTILE, HOSTILE: 1}, {HOSTILE: HOSTILE})
    maker.say("user", HOSTILE).turn(HOSTILE, call, step=HOSTILE).turn(HOSTILE)
    maker.end(output={"status": HOSTILE})
    bench = open_bench(
        [f"import workbench as wb\nbench = wb.Workbench({str(maker.path)!r})\nbench"]
    )
    root = bench.root
    root.get_by_role("listbox").focus()
    for key in ("j", "2", "3", "1", "k"):
        bench.page.keyboard.press(key)
        bench.page.wait_for_timeout(150)
    expect(root).to_contain_text("<img src=x onerror=")
    assert bench.page.evaluate("() => window.harmed ?? null") is None
    assert root.locator("img, script").count() == 0
    bench.shot("hostile")


def test_a_dead_kernel_is_said(refund_bench: Callable[..., Any]) -> None:
    """After the kernel ended, a click says so instead of doing nothing; what was loaded stays."""
    bench = refund_bench()
    root = bench.root
    bench.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.shutdown()"
    )
    root.get_by_role("tab", name="Raw").click()
    expect(root.get_by_role("alert").filter(has_text="kernel is not responding")).to_be_visible(
        timeout=15_000
    )
    expect(bench.turns).to_have_count(5)
    bench.shot("kernel-gone")


def test_a_saved_notebook_shows_the_static_view(
    refund_bench: Callable[..., Any], failed_trace: Path
) -> None:
    """Read elsewhere, a saved notebook has HTML without script, and no trace in its state."""
    bench = refund_bench()
    bench.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    path = bench.lab.root / bench.name
    end = time.monotonic() + 10
    while "wbs" not in path.read_text():
        assert time.monotonic() < end, "the notebook was not saved with its output"
        time.sleep(0.1)
    text = path.read_text()
    assert "refund 3×" in text
    assert "You handle refunds." not in text.replace("saw", "")


@pytest.mark.benchmark
def test_ten_thousand_turns(open_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Prints the time to the first paint and of a step with 10,000 turns of 5 to 50 KB."""
    path = _ten_thousand_turns(tmp_path / "long.trace.jsonl")
    load = f"import time, workbench as wb\ntrace = wb.load({str(path)!r})\nlen(trace.turns)"
    (bench, built, painted) = _opened(open_bench, load, "trace")
    print(f"\n10,000 turns, loaded before: built in {built:.2f} s, painted after {painted:.2f} s")
    _close(bench)
    (bench, built, painted) = _opened(open_bench, "import time, workbench as wb", repr(str(path)))
    print(f"10,000 turns, from a path: built in {built:.2f} s, painted after {painted:.2f} s")
    bench.root.get_by_role("listbox").focus()
    print(f"steps while the whole trace is being read: {_times(_steps(bench, 2, 20))}")
    bench.until("bench.widget.traces[0]['cost'] != ''", True, seconds=60)
    bench.page.wait_for_timeout(2_000)
    print(f"steps one after the other: {_times(_steps(bench, 22, 60))}")
    bench.page.wait_for_timeout(2_000)
    held = bench.page.evaluate(HOLD, {"from": 82, "count": 60, "gap": 100})
    print(f"steps each 100 ms: {_times(held)}")
    bench.until("bench.selected", 141)


def _ten_thousand_turns(path: Path) -> Path:
    maker = RunMaker("long", path=path)
    for number in range(10_000):
        maker.messages = maker.messages[:2]
        size = 5_000 + (number * 7_919) % 45_000
        maker.turn("", Ran("get_order", {"order_id": number}, {"page": "word " * (size // 5)}))
    maker.end()
    return path


def _opened(open_bench: Callable[..., Any], before: str, what: str) -> tuple[Any, float, float]:
    """A workbench, and the seconds from its cell's start until it was built and painted."""
    cell = f"start = time.time()\nbench = wb.Workbench({what})\nbuilt = time.time()\nbench"
    bench = open_bench([before, cell], script=PAINT)
    expect(bench.turns.first).to_contain_text("get_order")
    painted = bench.page.evaluate("() => window.painted / 1000") - bench.ask("start")
    return bench, bench.ask("built - start"), painted


def _close(bench: Any) -> None:
    """Its kernel would go on reading the trace while the next one is measured."""
    bench.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


def _steps(bench: Any, first: int, count: int) -> list[float]:
    return [bench.page.evaluate(STEP, number) for number in range(first, first + count)]


def _times(milliseconds: list[float]) -> str:
    p95 = statistics.quantiles(milliseconds, n=20, method="inclusive")[-1]
    return f"median {statistics.median(milliseconds):.0f} ms, p95 {p95:.0f} ms"


PAINT = """new MutationObserver((_, self) => {
  if (!document.querySelector('.wb-list .wb-row-name')) return;
  self.disconnect();
  requestAnimationFrame(() => { window.painted = Date.now(); });
}).observe(document, { childList: true, subtree: true });"""
STEP = """(number) => new Promise((done) => {
  const root = document.querySelector('.wb'), start = performance.now();
  const shown = () => {
    const chosen = root.querySelector('[role=option][aria-selected=true]');
    const panel = root.querySelector('[role=tabpanel]');
    const there = chosen?.getAttribute('aria-posinset') === String(number)
      && [...panel.querySelectorAll('dd')].some((each) => each.textContent === String(number - 1));
    if (there) requestAnimationFrame(() => done(performance.now() - start));
    else setTimeout(shown, 1);
  };
  root.querySelector('[role=listbox]').dispatchEvent(
    new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }));
  shown();
})"""
"""One step: milliseconds from the key to the frame with the turn, whose result is its number."""
HOLD = """({ from, count, gap }) => new Promise((resolve) => {
  const root = document.querySelector('.wb'), took = [];
  const press = (number) => {
    const start = performance.now();
    const shown = () => {
      const at = Number(root.querySelector('[role=option][aria-selected=true]')?.ariaPosInSet);
      const there = at >= number && [...root.querySelectorAll('[role=tabpanel] dd')]
        .some((each) => each.textContent === String(at - 1));
      if (!there) return void setTimeout(shown, 1);
      requestAnimationFrame(() => {
        if (took.push(performance.now() - start) === count) resolve(took);
      });
    };
    root.querySelector('[role=listbox]').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }));
    shown();
    if (number + 1 < from + count) setTimeout(press, gap, number + 1);
  };
  press(from);
})"""
"""A key held: steps at a fixed beat, each measured as one step is."""
