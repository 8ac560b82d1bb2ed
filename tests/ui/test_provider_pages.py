"""Pages of agents on OpenAI's Responses and Anthropic's messages."""

from pathlib import Path

import pytest
from provider_runs import APIS, two_turns

from workbench.ui.clips import Clipper
from workbench.ui.saw import saw_view
from workbench.ui.static_view import to_html


@pytest.mark.parametrize("api", APIS)
def test_a_page_counts_what_the_model_saw(api: str, tmp_path: Path) -> None:
    """The system prompt and each result are messages of their own, as they are everywhere else."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    page = to_html(trace)
    assert "saw 2 messages; the last one (user):" in page
    count = len(trace.turn(2).messages)
    assert f"saw {count} messages; the last one (tool):" in page
    assert page.count("at home") >= 2


@pytest.mark.parametrize("api", APIS)
def test_the_second_turn_shows_what_is_new(api: str, tmp_path: Path) -> None:
    """The calls and their results came since; the prompts are folded."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    seen = saw_view(trace.turn(2), trace, Clipper("turn/2"), everything=False)
    assert (seen["folded"], seen["saw"]["shared_with"]) == (2, 1)
    new = seen["saw"]["messages"]
    assert [each["change"] for each in new] == [None] * len(new)
    assert [call["arguments"] for each in new for call in each["calls"]] == [
        {"order": 101}, {"order": 102},
    ]  # fmt: skip
    results = [each for each in new if each["role"] == "tool"]
    assert [each["tool_call_id"] for each in results] == ["call_a", "call_b"]
