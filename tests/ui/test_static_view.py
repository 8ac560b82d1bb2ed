"""The view without a kernel: complete enough, small enough, and never markup from a trace."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from runmaker import Ran, RunMaker

from workbench import Workbench
from workbench.trace.trace import Trace
from workbench.ui.static_view import MOST_BYTES, to_html

HOSTILE = "</pre></div><script>alert(1)</script><img src=x onerror=alert(2)>\u202e&amp;"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _parsed(html: str) -> _Tags:
    parser = _Tags()
    parser.feed(html)
    return parser


def test_the_story_can_be_read_without_a_kernel(made: Trace) -> None:
    """On GitHub, in an export, after the kernel died: what happened and what came of it."""
    text = " ".join(_parsed(to_html(made)).texts)
    for words in ("stuck · refund 3×", "get_order", "101, 149.99 → RF-2", '"refund_id": "RF-3"',
                  "refund called 3 times with the same arguments", "All done."):  # fmt: skip
        assert words in text


def test_a_hostile_trace_stays_text() -> None:
    """Whatever a model or a tool writes, no element and no handler comes of it."""
    maker = RunMaker(HOSTILE, system=HOSTILE).say("user", HOSTILE)
    call = Ran("refund", {"order_id": HOSTILE}, {HOSTILE: HOSTILE})
    trace = maker.turn(HOSTILE, call).turn(HOSTILE).end(output={"status": HOSTILE})
    for html in (to_html(trace), Workbench(trace)._repr_mimebundle_()[0]["text/html"]):
        parsed = _parsed(html)
        assert not {"script", "img", "iframe", "object", "link", "a"} & set(parsed.tags)
        assert parsed.attributes <= {"class", "lang", "charset", "name", "content"}
        assert "<script>alert(1)</script>" in " ".join(parsed.texts)


def test_a_notebook_does_not_grow_with_the_trace() -> None:
    """A saved notebook holds fifty turns and 300 KB of view at most, and says what is left out."""
    maker = RunMaker("big")
    for number in range(80):
        maker.turn(f"turn {number} " + "words " * 2_000)
    html = Workbench(maker.end())._repr_mimebundle_()[0]["text/html"]
    assert len(html.encode()) < MOST_BYTES * 1.1
    turns = html.count("<details>")
    assert 10 < turns <= 50
    assert f"and {80 - turns} more turns" in html


def test_it_follows_the_readers_theme(made: Trace) -> None:
    """Readable in light and dark: no fixed background, and a colour of its own for the dark."""
    html = to_html(made)
    assert "color-scheme:light dark" in html
    assert "prefers-color-scheme:dark" in html
    assert not re.search(r"background:\s*(#|white|rgb)", html)


def test_the_page_and_its_plain_text_are_in_the_output(made: Trace) -> None:
    """Lab picks the live widget; everything else finds HTML, or at least a line of text."""
    data, _ = Workbench(made)._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert data["text/plain"].startswith("made [stuck · refund 3×] 5 turns · 4.10 s")
