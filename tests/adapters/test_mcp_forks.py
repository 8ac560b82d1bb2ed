"""Forks of an agent with an MCP server: what runs live, and a list of tools that has changed."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_ways import session, shop, text, watched

import workbench

CHANGED = (
    "the tool list of server 'shop' changed: cancel added; refund removed; "
    "get_order: argument 'order_id' integer → string"
)
Agent = Callable[[], Awaitable[list[Any]]]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Where the shop writes its refunds."""
    return tmp_path / "ledger"


def _agent(ledger: Path, *options: str) -> Agent:
    async def agent() -> list[Any]:
        async with session(shop("--ledger", str(ledger), *options)) as client:
            found: list[Any] = [[tool.name for tool in (await client.list_tools()).tools][:3]]
            found.append(text(await client.call_tool("get_order", {"order_id": 7})))
            found.append(text(await client.call_tool("refund", {"order_id": 7, "amount": 3.5})))
            found.append(text(await client.call_tool("get_order", {"order_id": 8})))
        return found

    return agent


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> workbench.RunResult:
    """The agent, recorded with a ledger of its own."""
    ledger = tmp_path_factory.mktemp("recorded") / "ledger"
    result = workbench.record(_agent(ledger))
    assert ledger.read_text() == "7 3.5\n"
    return result


def _refund(trace: workbench.Trace) -> Any:
    return workbench.entry(trace.tools("refund")[0].id)


def test_a_write_is_denied_without_a_server(recorded: workbench.RunResult, ledger: Path) -> None:
    """A fork does not run what the server does not call reading, says so with the call, and starts
    no server for it."""
    agent = _agent(ledger)
    with watched() as seen:
        fork = workbench.fork(agent, recorded.trace, live_from=_refund(recorded.trace))
    assert (seen, fork.status) == ([], "blocked")
    assert "refund(order_id=7, amount=3.5)" in str(fork.error)
    assert "let the server 'shop' say so in the tool's annotations" in str(fork.error)
    assert "@workbench.tool" not in str(fork.error)
    assert not ledger.exists()


def test_a_write_that_is_allowed_happens(recorded: workbench.RunResult, ledger: Path) -> None:
    """Allowed, it runs: only then the server is started, begun with properly, and asked; what
    came before is served, and what follows goes to the same server."""
    agent = _agent(ledger)
    with watched() as seen:
        fork = workbench.fork(
            agent, recorded.trace, live_from=_refund(recorded.trace), tools_after="allow"
        )
    assert (fork.status, fork.output, fork.notices) == ("ok", recorded.output, [])
    assert ledger.read_text() == "7 3.5\n"
    assert len(seen) == 1
    assert [(call.name, call.how) for call in fork.calls] == [
        ("mcp:initialize", "replayed"),
        ("mcp:tools/list", "replayed"),
        ("get_order", "replayed"),
        ("refund", "live"),
        ("get_order", "live"),
    ]


def test_edited_arguments_reach_the_server(recorded: workbench.RunResult, ledger: Path) -> None:
    """Arguments that a person changed are what the live tool gets."""
    agent = _agent(ledger)
    edits = recorded.trace.edit().tool_arguments(
        _refund(recorded.trace), {"order_id": 8, "amount": 1.25}
    )
    fork = workbench.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert fork.status == "ok"
    assert ledger.read_text() == "8 1.25\n"
    assert fork.output[2] == "refunded 1.25"


def test_a_fork_says_that_the_tools_have_changed(
    recorded: workbench.RunResult, ledger: Path
) -> None:
    """Where the live server has other tools than the recording's, a fork that reaches it says
    which, in words."""
    fork = workbench.fork(
        _agent(ledger, "--changed"),
        recorded.trace,
        live_from=_refund(recorded.trace),
        tools_after="allow",
    )
    assert fork.notices == [CHANGED]
    assert fork.output[2] == "Unknown tool: refund"


def test_verifying_the_tools_names_the_change(recorded: workbench.RunResult, ledger: Path) -> None:
    """A replay that runs the tools again passes while the server is the same, and drifts with the
    change in words where it is not."""
    agent = _agent(ledger)
    same = workbench.replay(agent, recorded.trace, tools="verify", tools_after="allow")
    assert (same.status, same.notices) == ("ok", [])
    changed = workbench.replay(_agent(ledger, "--changed"), recorded.trace, tools="verify")
    assert changed.status == "drifted"
    lines = str(changed.drift).splitlines()
    assert lines[0] == CHANGED
    assert lines[1].startswith("  asked     mcp:tools/list · test_mcp_forks.py:")
    assert "record again to keep the change" in lines[2]


def test_another_result_of_a_tool_is_told_as_before(
    recorded: workbench.RunResult, tmp_path: Path
) -> None:
    """Only a list is told as one: another result of a tool drifts with both results."""

    async def other() -> list[Any]:
        async with session(shop(name="shop")) as client:
            await client.list_tools()
            return [text(await client.call_tool("get_order", {"order_id": 7}))]

    spoilt = tmp_path / "spoilt.jsonl"
    recorded.trace.save(spoilt)
    spoilt.write_bytes(spoilt.read_bytes().replace(b"two lamps", b"one vase"))
    drifted = workbench.replay(other, workbench.load(spoilt), tools="verify")
    assert drifted.status == "drifted"
    assert "tool 'get_order'" in str(drifted.drift)
    assert "one vase" in str(drifted.drift)
    assert "two lamps" in str(drifted.drift)


def test_two_recordings_differ_by_the_list_in_words(
    recorded: workbench.RunResult, ledger: Path
) -> None:
    """The difference of two recordings begins with the change of the list, not with JSON."""
    first = recorded.trace
    second = workbench.record(_agent(ledger, "--changed")).trace
    found = first.diff(second)
    assert found.headline == f"first divergence: between turns: {CHANGED}"
    assert "inputSchema" not in str(found)


def test_a_server_that_cannot_be_started_says_why(recorded: workbench.RunResult) -> None:
    """Where a fork goes live and the command is gone, the call fails with the system's own error,
    and not with a connection that was closed."""

    async def moved() -> None:
        gone = shop().model_copy(update={"command": "no-such-python"})
        async with session(gone) as client:
            await client.list_tools()
            await client.call_tool("get_order", {"order_id": 7})

    place = workbench.entry(recorded.trace.tools("get_order")[0].id)
    fork = workbench.fork(moved, recorded.trace, live_from=place)
    assert fork.status == "failed"
    assert "No such file or directory: 'no-such-python'" in _all_of(fork.error)
    failed = fork.trace.tools("get_order")[0].error
    assert failed is None or failed.type in ("FileNotFoundError", "CancelledError")


def _all_of(error: BaseException | None) -> str:
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return " ".join([repr(error), str(error), *map(_all_of, members)])
