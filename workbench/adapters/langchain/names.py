"""What the adapter uses of LangChain and LangGraph that they do not document.

``BaseTool._to_args_and_kwargs`` and ``_filter_injected_args``, the text that it makes of a tool's
result, the node's name in a running config's metadata, the name of a graph that was given none,
and how an interrupt is numbered.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from workbench.errors import ToolFaultError

NO_NAME = "LangGraph"
"""The name of a graph that has none of its own."""
TOOL_METHODS = ("_run", "_arun", "_to_args_and_kwargs", "_filter_injected_args")


def tool_class() -> Any:
    """The class of all tools.

    Raises:
        AttributeError: this version's tools are made in another way.
    """
    from langchain_core.tools.base import BaseTool

    for name in TOOL_METHODS:
        getattr(BaseTool, name)
    return BaseTool


def graph_class() -> Any:
    """The class of all compiled graphs."""
    from langgraph.pregel.main import Pregel

    return Pregel


def node(config: Any) -> str | None:
    """The name of the graph's node that a config, or else the calling code, runs in."""
    from langchain_core.runnables.config import ensure_config

    found = (ensure_config(config).get("metadata") or {}).get("langgraph_node")
    return found if isinstance(found, str) and found else None


def given(tool: Any, tool_input: Any) -> dict[str, Any]:
    """A tool's arguments as the model gave them, without those that the framework adds."""
    if isinstance(tool_input, dict):
        arguments: dict[str, Any] = tool._filter_injected_args(tool_input)  # noqa: SLF001
        return arguments
    return {_only_argument(tool): tool_input}


def _only_argument(tool: Any) -> str:
    """The name of the argument of a tool that is called with a bare text."""
    schema = tool.args_schema
    fields = getattr(schema, "model_fields", None) or getattr(schema, "__fields__", None)
    return str(next(iter(fields))) if fields else "tool_input"


def interrupts_here(values: list[Any]) -> tuple[Any, ...]:
    """Interrupts of the node that the calling code runs in, with these values."""
    from langgraph.config import get_config
    from langgraph.types import Interrupt

    namespace = get_config()["configurable"].get("checkpoint_ns", "")
    return tuple(Interrupt.from_ns(value=value, ns=namespace) for value in values)


def as_text(result: Any) -> str:
    """A tool's result as a model is told it."""
    from langchain_core.tools import base

    return str(base._stringify(result))  # noqa: SLF001


@cache
def _fault_class() -> type[ToolFaultError]:
    from langchain_core.tools import ToolException

    return type("ToolFaultError", (ToolFaultError, ToolException), {})


def tool_fault(error: ToolFaultError) -> ToolFaultError:
    """An injected failure as one that LangChain handles: it is a ``ToolException`` too."""
    made = _fault_class()(*error.args)
    made.__dict__.update(vars(error))
    return made


def imported(module: str, name: str) -> Any:
    """A class of LangChain's or LangGraph's."""
    return getattr(import_module(module), name)


def loaded(module: str, name: str) -> Any:
    """A class of a module that is imported already; None where it is not."""
    return getattr(sys.modules.get(module), name, None)
