"""What the adapter uses of smolagents beside its documented classes and methods.

``LocalPythonExecutor.authorized_imports``, the decorator ``timeout`` of its module, and which of
the default tools only read.
"""

from __future__ import annotations

import uuid
from importlib import import_module
from typing import Any, Final

READS: Final = frozenset(
    {
        "ApiWebSearchTool",
        "DuckDuckGoSearchTool",
        "GoogleSearchTool",
        "VisitWebpageTool",
        "WebSearchTool",
        "WikipediaSearchTool",
    }
)
"""Tools of smolagents' own that change nothing anywhere."""
WIRE_CLIENTS: Final = ("anthropic.", "google.genai.", "openai.")
_IDS: Final = uuid.UUID("0b1f3bd4-4f0e-5a0e-9d5c-6a5f1b7f3a52")


def classes() -> tuple[Any, Any, Any, Any]:
    """The classes of agents, models, tools, and of what runs an agent's code in this process."""
    from smolagents import Model, MultiStepAgent, Tool

    return MultiStepAgent, Model, Tool, executor_module().LocalPythonExecutor


def executor_module() -> Any:
    """The module of what runs an agent's code in this process."""
    return import_module("smolagents.local_python_executor")


def has_time_limit() -> bool:
    """Whether this version limits how long an agent's code runs."""
    return hasattr(executor_module(), "timeout")


def is_final_answer(tool: Any) -> bool:
    """Whether a tool is the framework's own way to end a run, which touches nothing."""
    from smolagents import FinalAnswerTool

    return type(tool) is FinalAnswerTool


def only_reads(tool: Any) -> bool:
    """Whether a tool is one of smolagents' own that only read."""
    kind = type(tool)
    return kind.__name__ in READS and kind.__module__ == "smolagents.default_tools"


def on_the_wire(model: Any) -> bool:
    """Whether an SDK that is hooked itself sends a model's calls: it shows by the client held."""
    held = vars(model).values() if hasattr(model, "__dict__") else ()
    return any(f"{type(each).__module__}.".startswith(WIRE_CLIENTS) for each in held)


def steady_id(text: str, place: int) -> str:
    """An id for a call that a text makes: the same for the same text."""
    return str(uuid.uuid5(_IDS, f"{place}:{text}"))
