"""Changing a turn, running on from it, and looking at what came of it, in a real notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from refunds import ModelServer

SEEN = "__import__('refunds').WORLD"


def _change_the_refund(bench: Any) -> None:
    """By the form: the second refund becomes an e-mail."""
    root = bench.root
    bench.turns.nth(2).click()
    expect(root.get_by_role("heading", name="Change turn 3")).to_be_visible()
    root.get_by_label("tool", exact=True).select_option("send_email")
    root.get_by_role("textbox", name="to").fill("ada@example.com")
    root.get_by_role("button", name="Apply the change").click()
    bench.until("len(bench.edits)", 1)


@pytest.mark.parametrize(
    ("width", "dark"), [(1600, False), (1000, True), (700, False)], ids=["wide", "dark", "narrow"]
)
def test_change_run_allow_and_compare(
    refund_bench: Callable[..., Any], width: int, *, dark: bool
) -> None:
    """The main job by clicks alone: the fork ends well beside its parent, and Python has it all."""
    bench = refund_bench(width=width, dark=dark)
    root = bench.root
    _change_the_refund(bench)
    bench.shot("changed")
    expect(root.locator(".wb-plan")).to_contain_text("4 calls from the trace")
    expect(root.locator(".wb-plan")).to_contain_text("live")
    root.get_by_role("button", name="Show diff").click()
    expect(root.locator(".wb-diff ins").first).to_contain_text("send_email")
    root.get_by_role("button", name="Run from here").click()
    question = root.get_by_role("alertdialog")
    expect(question).to_contain_text("send_email")
    expect(question).to_contain_text("ada@example.com")
    bench.shot("asking")
    assert bench.ask(SEEN) == []
    question.get_by_role("button", name="Allow once").click()
    expect(root.locator(".wb-run")).to_contain_text("finished")
    assert bench.ask(SEEN) == ["email ada@example.com"]
    bench.until("bench.result.status", "ok")
    outcome = root.get_by_role("region", name="outcome")
    expect(outcome).to_contain_text("turn 3")
    expect(outcome).to_contain_text("refund → send_email")
    expect(outcome).to_contain_text("refund 3×")
    expect(outcome.get_by_role("row")).to_have_count(3)
    bench.shot("forked")
    outcome.get_by_role("button", name="Side by side").click()
    expect(root.get_by_role("table", name="runs side by side")).to_contain_text("send_email")
    bench.shot("side-by-side")
    root.get_by_role("button", name="Look at the fork").click()
    bench.until("bench.shown", 1)
    expect(bench.turns).to_have_count(4)
    bench.shot("fork")


def test_a_denied_write_blocks_the_run(refund_bench: Callable[..., Any]) -> None:
    """Denied in the page, the tool never runs, and the page says how the run ended and why."""
    bench = refund_bench()
    root = bench.root
    _change_the_refund(bench)
    root.get_by_role("button", name="Run from here").click()
    root.get_by_role("alertdialog").get_by_role("button", name="Deny").click()
    expect(root.locator(".wb-run")).to_contain_text("blocked")
    expect(root.locator(".wb-run")).to_contain_text("send_email")
    assert bench.ask(SEEN) == []
    bench.shot("blocked")


def test_progress_and_cancel(refund_bench: Callable[..., Any], model: ModelServer) -> None:
    """A slow run shows what it is at, leaves the kernel usable, and ends when cancelled."""
    bench = refund_bench()
    root = bench.root
    model.delay_s = 1.0
    root.get_by_label("tools that write").select_option("allow")
    root.get_by_role("button", name="Run from here").click()
    expect(root.get_by_role("progressbar")).to_be_visible()
    expect(root.locator(".wb-tail")).to_contain_text("live")
    assert bench.ask("6 * 7") == 42
    bench.turns.nth(3).click()
    bench.until("bench.selected", 4, seconds=3)
    bench.shot("running")
    root.get_by_role("button", name="Cancel").click()
    expect(root.locator(".wb-run")).to_contain_text("cancelled", timeout=5_000)
    expect(root.get_by_role("button", name="Run from here")).to_be_enabled()
    bench.until("bench.result.status", "cancelled")


def test_an_agent_that_raises_is_shown_in_the_page(refund_bench: Callable[..., Any]) -> None:
    """The exception's text and line stand where the run was started, not in a hidden log."""
    bench = refund_bench(agent="refunds.raising_agent")
    bench.root.get_by_role("button", name="Run from here").click()
    run = bench.root.locator(".wb-run")
    expect(run).to_contain_text("failed")
    expect(run).to_contain_text("KeyError: 'no account for http'")
    expect(run).to_contain_text("refunds.py")
    bench.shot("failed")


def test_a_fault_by_its_form(refund_bench: Callable[..., Any]) -> None:
    """A 429 on turn 2 is filled in, planned, injected, and marked in the fork."""
    bench = refund_bench()
    root = bench.root
    bench.turns.nth(1).click()
    root.get_by_role("button", name="fault…").click()
    root.get_by_label("status code").fill("429")
    root.get_by_role("button", name="Apply the change").click()
    bench.until("[e.type for e in bench.edits]", ["fault"])
    bench.shot("fault")
    root.get_by_role("button", name="Run from here").click()
    expect(root.locator(".wb-run")).to_contain_text("RateLimitError")
    bench.until("bench.result.status", "failed")


def test_a_refused_edit_says_why(refund_bench: Callable[..., Any]) -> None:
    """An impossible edit is refused in the page, with the reason; the list of edits stays."""
    bench = refund_bench()
    root = bench.root
    _change_the_refund(bench)
    root.get_by_role("button", name="tool result").click()
    root.get_by_label("the new result").fill('{"refund_id": null}')
    root.get_by_role("button", name="Apply the change").click()
    expect(root).to_contain_text("no longer calls 'refund'")
    assert bench.ask("len(bench.edits)") == 1
    bench.shot("refused")
    root.get_by_role("button", name="Undo").click()
    bench.until("len(bench.edits)", 0)
    root.get_by_role("button", name="Redo").click()
    bench.until("len(bench.edits)", 1)


def test_the_fork_is_saved_by_a_click(refund_bench: Callable[..., Any]) -> None:
    """Save writes a trace that opens again; the Python of the clicks is there to copy."""
    bench = refund_bench()
    root = bench.root
    bench.turns.nth(4).click()
    root.get_by_role("button", name="Run from here").click()
    expect(root.locator(".wb-run")).to_contain_text("finished")
    root.get_by_label("file to save to").fill("kept.trace.jsonl")
    root.get_by_role("button", name="Save fork").click()
    expect(root).to_contain_text("saved as kept.trace.jsonl")
    assert bench.ask("wb.load('kept.trace.jsonl').parent.id == bench.parent.id") is True
    root.get_by_role("tab", name="Python").click()
    expect(root.locator(".wb-python")).to_contain_text("live_from=wb.turn(5)")
    expect(root.locator(".wb-python")).to_contain_text("fork1.save('kept.trace.jsonl')")
