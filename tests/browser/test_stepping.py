"""Opening a failed run in a real notebook, and stepping through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

NO_CELL_ADDED = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [700, 1000, 1600])
def test_it_opens_at_every_width_in_both_themes(
    refund_bench: Callable[..., Any], width: int, *, dark: bool
) -> None:
    """The story, the turn, the change and the outcome are there; nothing sticks out sideways."""
    bench = refund_bench(width=width, dark=dark)
    root = bench.root
    expect(bench.turns).to_have_count(5)
    expect(root.locator(".wb-header")).to_contain_text("refund 3×")
    expect(root.locator(".wb-middle, [role=tabpanel]").first).to_contain_text("Order 101 arrived")
    expect(root.get_by_role("button", name="Run from here")).to_be_visible()
    overflow = root.evaluate("(el) => el.scrollWidth - el.clientWidth")
    assert overflow <= 1
    bench.shot("open")


def test_keys_and_buttons_step_and_python_follows(refund_bench: Callable[..., Any]) -> None:
    """The turn looked at is the same in the page and in Python, however one got there."""
    bench = refund_bench()
    root, page = bench.root, bench.page
    root.get_by_role("listbox").focus()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    bench.until("bench.selected", 3)
    expect(bench.chosen).to_contain_text("refund")
    assert bench.ask("bench.turn.number") == 3
    assert bench.ask("bench.turn.tools[0].name") == "refund"
    root.get_by_role("button", name="previous turn").click()
    bench.until("bench.selected", 2)
    page.keyboard.press("End")
    bench.until("bench.selected", 5)
    page.keyboard.press("Home")
    page.keyboard.press("n")
    bench.until("bench.selected", 3)
    bench.turns.nth(3).click()
    bench.until("bench.selected", 4)
    bench.page.evaluate("() => 0")
    assert bench.ask("bench.select(1).number") == 1
    expect(bench.chosen).to_contain_text("get_order")


def test_keys_stay_in_the_page(refund_bench: Callable[..., Any]) -> None:
    """`a`, `b`, `d d`, `x` mean something to JupyterLab: pressed here, no cell comes or goes."""
    bench = refund_bench()
    before = bench.page.evaluate(NO_CELL_ADDED)
    bench.root.get_by_role("listbox").focus()
    for key in ("a", "b", "d", "d", "x", "m", "j", "Shift+M"):
        bench.page.keyboard.press(key)
    bench.until("bench.selected", 2)
    assert bench.page.evaluate(NO_CELL_ADDED) == before
    bench.root.get_by_role("textbox", name="its own words").fill("abd")
    bench.page.keyboard.type("aabb")
    assert bench.page.evaluate(NO_CELL_ADDED) == before


def test_search_and_filter_narrow_the_list(refund_bench: Callable[..., Any]) -> None:
    """Typing finds what was said or returned; the marks filter."""
    bench = refund_bench()
    root = bench.root
    root.get_by_role("listbox").focus()
    bench.page.keyboard.press("/")
    bench.page.keyboard.type("RF-2")
    expect(bench.turns).to_have_count(2)
    bench.shot("search")
    root.get_by_role("searchbox").fill("")
    root.locator(".wb-header select").select_option("errors")
    expect(bench.turns).to_have_count(2)


def test_the_tabs_show_the_context_and_the_raw_payload(refund_bench: Callable[..., Any]) -> None:
    """What the model saw in whole, and what was on the wire, are one key away."""
    bench = refund_bench()
    root = bench.root
    root.get_by_role("listbox").focus()
    bench.page.keyboard.press("j")
    bench.page.keyboard.press("2")
    expect(root.get_by_role("tabpanel").first).to_contain_text("You handle refunds.")
    bench.shot("context")
    bench.page.keyboard.press("3")
    expect(root.get_by_role("tabpanel").first).to_contain_text('"tool_call_id"')
    bench.shot("raw")
    bench.page.keyboard.press("?")
    expect(root.get_by_role("dialog")).to_contain_text("next turn with an error")
    bench.shot("help")


def test_a_screen_reader_finds_its_way(refund_bench: Callable[..., Any]) -> None:
    """List, selection, tabs and state have roles and names."""
    bench = refund_bench()
    expect(bench.root.locator(".wb-plan")).to_contain_text("from turn 1")
    tree = bench.root.aria_snapshot()
    for line in ('listbox "turns"', "option", 'tab "Turn" [selected]', "navigation", "status",
                 'region "plan"', 'button "Run from here"'):  # fmt: skip
        assert line in tree, tree
    option = bench.turns.first
    assert option.get_attribute("aria-setsize") == "5"
    assert option.get_attribute("aria-posinset") == "1"


def test_two_views_of_one_workbench_stay_together(
    open_bench: Callable[..., Any], failed_trace: Any
) -> None:
    """Shown twice, both views select the same turn, and ids do not clash."""
    bench = open_bench(
        [f"import workbench as wb\nbench = wb.Workbench({str(failed_trace)!r})\nbench", "bench"]
    )
    views = bench.page.locator(".wb")
    expect(views).to_have_count(2)
    views.nth(1).locator(".wb-list [role=option]").nth(2).click()
    expect(bench.chosen).to_contain_text("again")
    ids = bench.page.evaluate("() => [...document.querySelectorAll('.wb [id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
