"""The hooks in the MCP SDK: put in, taken out, and refused where they do not fit."""

from importlib import import_module
from typing import Any

import pytest
from mcp_ways import SECOND, Error, types

from workbench.adapters.mcp import adapter
from workbench.adapters.mcp.errors import as_result, as_tool_result
from workbench.adapters.mcp.opened import label_of_command, label_of_url
from workbench.errors import UsageError
from workbench.seam.hooks import Adapter

_PLACES = [
    ("mcp.client.stdio", None, "_create_platform_compatible_process"),
    ("mcp.client.session", "ClientSession", "__aenter__"),
    ("mcp.client.session", "ClientSession", "send_request"),
    ("mcp.client.session", "ClientSession", "send_notification"),
    ("mcp.client.streamable_http", "StreamableHTTPTransport", "__init__"),
    ("mcp.server.lowlevel.server", "Server", "run"),
]


def _found() -> list[Any]:
    found = []
    for module, owner, name in _PLACES:
        place = import_module(module)
        found.append(vars(getattr(place, owner) if owner else place).get(name))
    return found


def test_the_sdk_is_as_it_was_once_the_hooks_are_out() -> None:
    """Every place is the SDK's own again, those that a class inherits included."""
    adapter.uninstall()
    before = _found()
    adapter.install()
    assert all(now is not was for now, was in zip(_found(), before, strict=True))
    adapter.uninstall()
    try:
        assert all(now is was for now, was in zip(_found(), before, strict=True))
    finally:
        adapter.install()


def test_a_version_without_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the SDK has no such name any more, hooking fails with the adapter's name and the
    SDK's version, and leaves nothing hooked."""
    adapter.uninstall()
    try:
        stdio = import_module("mcp.client.stdio")
        monkeypatch.delattr(stdio, "_create_platform_compatible_process")
        before = vars(import_module("mcp.client.session").ClientSession).get("send_request")
        other = Adapter(name="mcp", module="mcp", hook=adapter.hook)
        with pytest.raises(UsageError, match=r"the adapter 'mcp' does not fit mcp \d+\.\d+"):
            other.install()
        session = import_module("mcp.client.session").ClientSession
        assert vars(session).get("send_request") is before
    finally:
        monkeypatch.undo()
        adapter.install()


@pytest.mark.parametrize(
    ("command", "args", "label"),
    [
        ("/usr/bin/python3", ["/srv/agents/shop.py", "--db", "x"], "shop.py"),
        ("npx", ["-y", "@modelcontextprotocol/server-files", "/data"], "server-files"),
        ("/srv/tools/shop-server", [], "shop-server"),
        ("mcp-remote", ["https://me:secret@shop.example:8443/mcp?key=secret"], "shop.example/mcp"),
        ("C:\\tools\\shop.exe", ["--quiet"], "shop.exe"),
    ],
)
def test_a_server_is_named_without_folders_and_secrets(
    command: str, args: list[str], label: str
) -> None:
    """What tells the beginnings of two sessions apart is the same on another machine, and holds
    neither folders nor ports nor keys."""
    assert label_of_command(command, args) == label
    assert label_of_url("http://127.0.0.1:4567/mcp") == "127.0.0.1/mcp"


def test_any_value_becomes_a_result_that_the_sdk_reads() -> None:
    """What a person, a fault or a lenient replay puts in the place of an answer is one that the
    SDK's own types accept."""
    value: Any
    for value in ("text", 3, None, {}, {"total": 3}, [1, 2], {"content": []}, {"isError": True}):
        types.CallToolResult.model_validate(as_tool_result(value))
    assert as_tool_result({"total": 3}) == {
        "content": [{"type": "text", "text": '{"total":3}'}],
        "structuredContent": {"total": 3},
    }
    for method, kind in (
        ("initialize", types.InitializeResult),
        ("tools/list", types.ListToolsResult),
        ("resources/list", types.ListResourcesResult),
        ("resources/templates/list", types.ListResourceTemplatesResult),
        ("resources/read", types.ReadResourceResult),
        ("prompts/list", types.ListPromptsResult),
        ("prompts/get", types.GetPromptResult),
        ("completion/complete", types.CompleteResult),
        ("logging/setLevel", types.EmptyResult),
    ):
        kind.model_validate(as_result(method, None))


def test_the_sdk_s_exception_is_made_for_what_is_kept() -> None:
    """Code, message and data go into a trace and come out again, in this generation's class."""
    generation: Any = import_module(f"workbench.adapters.mcp.{'second' if SECOND else 'first'}")
    errors: Any = getattr(generation, "SecondErrors" if SECOND else "FirstErrors")()
    made = errors.make(-32602, "no such thing", {"uri": "a://b"})
    assert type(made) is Error
    assert errors.parts(made) == (-32602, "no such thing", {"uri": "a://b"})
    assert errors.parts(ValueError("x")) is None
