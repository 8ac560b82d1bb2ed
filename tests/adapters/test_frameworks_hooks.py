"""The hooks in pydantic-ai and the agents SDK: put in, taken out, and only where they belong."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import agents
import pydantic_ai
import pytest
from agents.models.interface import Model as AgentsModel
from pydantic_ai.models import Model as PydanticModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

import workbench as wb
from workbench.adapters.openai_agents import adapter as openai_agents
from workbench.adapters.pydantic_ai import adapter as pydantic_ai_adapter

OWNERS: dict[str, list[tuple[Any, str]]] = {
    "pydantic-ai": [
        (PydanticModel, "__init_subclass__"),
        (TestModel, "request"),
        (TestModel, "request_stream"),
        (AbstractToolset, "__init_subclass__"),
        (FunctionToolset, "call_tool"),
        (pydantic_ai.Agent, "iter"),
    ],
    "openai-agents": [
        (AgentsModel, "__init_subclass__"),
        (agents.OpenAIResponsesModel, "get_response"),
        (agents.OpenAIChatCompletionsModel, "stream_response"),
        (agents.agent.AgentBase, "get_all_tools"),
        (agents.run.AgentRunner, "run"),
    ],
}


@pytest.mark.parametrize("adapter", [pydantic_ai_adapter, openai_agents], ids=lambda a: a.name)
def test_a_library_is_as_it_was_when_its_hooks_are_out(adapter: Any) -> None:
    """Taken out, nothing of ours is left in its classes; put in again, they are hooked again."""
    wb.record(lambda: None)  # installs what is registered
    places = OWNERS[adapter.name]
    hooked = [vars(owner).get(name) for owner, name in places]
    adapter.uninstall()
    try:
        bare = [vars(owner).get(name) for owner, name in places]
        assert all(type(each).__module__ != "wrapt.wrappers" for each in bare)
        assert all(before is not after for before, after in zip(hooked, bare, strict=True))
        assert not any("workbench" in repr(each) for each in bare)
    finally:
        adapter.install()
    again = [vars(owner).get(name) for owner, name in places]
    assert all(before is not after for before, after in zip(bare, again, strict=True))


def test_a_projects_own_module_named_agents_is_left_alone(tmp_path: Path) -> None:
    """Many a project has one: recording it works, and nothing is said of the agents SDK."""
    (tmp_path / "agents.py").write_text("def answer():\n    return 'mine'\n")
    code = (
        "import workbench as wb\n"
        "def agent():\n"
        "    import agents\n"
        "    return agents.answer()\n"
        "recorded = wb.record(agent)\n"
        "print(recorded.status, recorded.output)\n"
    )
    (tmp_path / "run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("ok mine\n", "")
