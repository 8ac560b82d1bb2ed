"""The commands with the real openai SDK against a model server on the loopback."""

import re
from collections.abc import Iterator

import pytest
import refunds
from shopcli import Shop

import workbench as wb

_SCRIPT = """\
import os, sys
import refunds

if __name__ == "__main__":
    print(refunds.agent(os.environ["MODEL_URL"], "Order 101 arrived broken.")["answer"])
"""


@pytest.fixture(scope="module")
def server() -> Iterator[refunds.ModelServer]:
    """A scripted model behind the OpenAI shape."""
    with refunds.model_server() as found:
        yield found


@pytest.mark.slow
def test_from_recording_to_fork(shop: Shop, server: refunds.ModelServer) -> None:
    """Recorded live, replayed with the server out of reach, forked live: each says what it did."""
    shop.script("buy.py", _SCRIPT)
    there = {"MODEL_URL": server.base_url}
    ran = shop("record", "buy.py", "--to", "r.trace.jsonl", env=there)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Refunded.\nrecorded 5 turns, 4 tool calls → r.trace.jsonl   (")
    asked = server.asked
    nowhere = {"MODEL_URL": "http://127.0.0.1:9/v1"}
    ran = shop("replay", "r.trace.jsonl", "--recorded-agent", env=nowhere)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Refunded.\nok · 9 calls from the trace, 0 live")
    assert server.asked == asked
    edit = '{"type": "reply", "at": "turn:3", "tool_calls": [{"name": "send_email", '
    edit += '"arguments": {"to": "ada@example.com"}}]}'
    words = ["--edit", edit, "--tools-after", "allow", "--yes", "--to", "f.trace.jsonl"]
    ran = shop("fork", "r.trace.jsonl", "--recorded-agent", *words, env=there)
    assert ran.code == 0, ran.out + ran.err
    assert "The customer has been told." in ran.out
    assert "first divergence: turn 3: refund → send_email" in ran.out
    assert re.search(r"^ +3  send_email +live +not in the recording", ran.out, re.MULTILINE)
    assert server.asked == asked + 1
    fork = wb.load(shop.folder / "f.trace.jsonl")
    assert [tool.name for tool in fork.tools()] == ["get_order", "refund", "send_email"]


@pytest.mark.slow
def test_a_fault_is_the_sdks_own_exception(shop: Shop, server: refunds.ModelServer) -> None:
    """The agent meets the real RateLimitError, and the traceback names the agent's line."""
    shop.script("buy.py", _SCRIPT)
    shop("record", "buy.py", "--to", "r.trace.jsonl", env={"MODEL_URL": server.base_url})
    words = ["--recorded-agent", "--fault", "http_error:429@turn:2"]
    ran = shop("replay", "r.trace.jsonl", *words, env={"MODEL_URL": "http://127.0.0.1:9/v1"})
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith("openai.RateLimitError: ")
    assert 'buy.py", line 5' in ran.err
    assert ran.out.startswith("failed · 2 calls from the trace, 0 live, 1 fault")
