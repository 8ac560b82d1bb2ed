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
    maker = RunMaker("long", path=tmp_path / "long.trace.jsonl")
    for number in range(10_000):
        maker.messages = maker.messages[:2]
        size = 5_000 + (number * 7_919) % 45_000
        maker.turn("", Ran("get_order", {"order_id": number}, {"page": "word " * (size // 5)}))
    maker.end()
    opened = f"bench = wb.Workbench({str(maker.path)!r})"
    cell = f"start = time.time()\n{opened}\nbuilt = time.time()\nbench"
    bench = open_bench(["import time, workbench as wb, workbench.ui.workbench", cell], script=PAINT)
    page, root = bench.page, bench.root
    expect(bench.turns.first).to_contain_text("get_order")
    built = bench.ask("built - start")
    painted = page.evaluate("() => window.painted / 1000") - bench.ask("start")
    root.get_by_role("listbox").focus()
    early = sorted(page.evaluate(STEP, number) for number in range(2, 22))
    bench.until("bench.widget.traces[0]['cost'] != ''", True, seconds=60)
    page.wait_for_timeout(1000)
    steps = sorted(page.evaluate(STEP, number) for number in range(22, 82))
    print(
        f"\n10,000 turns: opened in {built:.2f} s, painted {painted:.2f} s after the cell began; "
        f"step median {statistics.median(steps):.0f} ms, p95 {steps[56]:.0f} ms "
        f"(while the whole trace is being read: {statistics.median(early):.0f}, {early[18]:.0f})"
    )
    bench.until("bench.selected", 81)


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
