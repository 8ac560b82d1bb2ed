"""What the adapter uses of LangChain and LangGraph that they do not document.

``BaseTool._to_args_and_kwargs`` and ``_filter_injected_args``, the text that it makes of a tool's
result, the methods through which chat models are called and what they say of themselves, the
node's name in a running config's metadata, the name of a graph that was given none, and how an
interrupt is numbered.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from importlib import import_module
from typing import Any

from workbench.errors import ToolFaultError

NO_NAME = "LangGraph"
"""The name of a graph that has none of its own."""
MODEL_METHODS = (
    "_generate",
    "_agenerate",
    "_stream",
    "_astream",
    "_generate_with_cache",
    "_agenerate_with_cache",
    "_get_ls_params",
)
TEXT_METHODS = ("_generate_helper", "_agenerate_helper", "_stream", "_astream", "_get_ls_params")
EVENTS = ("_iter_v2_events", "_aiter_v2_events")
"""What newer versions stream a model's events with, sync and async."""
WIRE_PACKAGES = ("langchain_anthropic.", "langchain_openai.")
"""Packages whose models make the SDK's client when they first need it."""
WIRE_CLIENTS = ("anthropic.", "google.genai.", "openai.")
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


def key_field(model: Any) -> str | None:
    """The field of a class of models that ``api_key=`` is kept in; None where there is none."""
    for name, field in model.model_fields.items():
        if "api_key" in (name, field.alias):
            return str(name)
    return None


def model_class() -> Any:
    """The class of all chat models.

    Raises:
        AttributeError: this version's models are called in another way.
    """
    from langchain_core.language_models.chat_models import BaseChatModel

    for name in MODEL_METHODS:
        getattr(BaseChatModel, name)
    return BaseChatModel


def text_model_class() -> Any:
    """The class of all models that complete texts.

    Raises:
        AttributeError: this version's models are called in another way.
    """
    from langchain_core.language_models.llms import BaseLLM

    for name in TEXT_METHODS:
        getattr(BaseLLM, name)
    return BaseLLM


def streams(model: Any, *methods: str) -> bool:
    """Whether a text model's class has one of these methods for itself."""
    base = text_model_class()
    return any(getattr(type(model), name) != getattr(base, name) for name in methods)


def modules_with_caches() -> list[Any]:
    """The modules that look whether an answer is in the cache that all models share."""
    return [
        import_module(f"langchain_core.language_models.{name}") for name in ("chat_models", "llms")
    ]


@cache
def empty_cache() -> Any:
    """A cache that knows nothing and keeps nothing."""
    from langchain_core.caches import BaseCache

    class EmptyCache(BaseCache):
        def lookup(self, prompt: str, llm_string: str) -> Any:  # noqa: ARG002
            return None

        def update(self, prompt: str, llm_string: str, return_val: Any) -> None:
            pass

        def clear(self, **kwargs: Any) -> None:
            pass

    return EmptyCache()


def about(model: Any, stop: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What a model says of itself to those who observe it: provider, name, settings."""
    known: dict[str, Any] = model._get_ls_params(stop=stop, **options)  # noqa: SLF001
    return known


def parameters(method: Any) -> Any:
    """The names of what a method takes."""
    return inspect.signature(method).parameters


def on_the_wire(model: Any) -> bool:
    """Whether an SDK that is hooked itself sends a model's calls.

    It shows by the model alone, so that a recording and its replay find the same: by the package
    that its class comes from, or by the client that it holds.
    """
    if any(_within(base, WIRE_PACKAGES) for base in type(model).__mro__):
        return True
    held = {**vars(model), **(getattr(model, "__pydantic_private__", None) or {})}
    return any(_within(type(each), WIRE_CLIENTS) for each in held.values())


def _within(kind: type, packages: tuple[str, ...]) -> bool:
    module = f"{kind.__module__}."
    return module.startswith(packages)


def graph_class() -> Any:
    """The class of all compiled graphs."""
    from langgraph.pregel.main import Pregel

    return Pregel


def node_cache_class() -> Any:
    """The class of all caches of what a graph's nodes gave."""
    from langgraph.cache.base import BaseCache

    return BaseCache


def langsmith_client() -> Any:
    """The class of clients that report runs to LangSmith."""
    from langsmith.client import Client

    return Client


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
