"""What the adapter uses of DSPy beside its documented classes and methods.

How an engine is chosen for a call (``dspy.clients.execution._select_engine``), the settings that
belong to a connection, the JSON of its bundled message types, ``Tool._validate_and_parse_args``,
the text of errors that agents are told, where knowledge of models is looked up, and the threads of
``dspy.Parallel``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from workbench.seam.agentio.errors import (
    BadReplyError,
    ConnectionLostError,
    ModelError,
    ModelTimeoutError,
    RateLimitError,
    RequestRefusedError,
    ServerFailedError,
    to_error,
)
from workbench.trace.entries import ErrorInfo

_CLIENT_SETTINGS: Final = frozenset(
    {
        "api_base",
        "api_key",
        "api_version",
        "azure_ad_token_provider",
        "base_url",
        "custom_llm_provider",
        "extra_headers",
        "headers",
        "organization",
        "timeout",
    }
)


def execution() -> Any:
    """The module in which every call of a language model is made; None before DSPy 3.4.

    Raises:
        AttributeError: this version makes them in another way.
    """
    if find_spec("dspy.clients.execution") is None:
        return None
    module = import_module("dspy.clients.execution")
    module._select_engine  # noqa: B018, SLF001 - that there is one
    return module


def model_class() -> Any:
    """The class of all language models."""
    from dspy import BaseLM

    return BaseLM


def cache_class() -> Any:
    """The class of DSPy's caches."""
    return import_module("dspy.clients.cache").Cache


def tool_class() -> Any:
    """The class of tools."""
    from dspy import Tool

    Tool._validate_and_parse_args  # noqa: B018, SLF001 - as above
    return Tool


def error_texts() -> list[tuple[Any, str]]:
    """The functions, by module and name, that tell an agent's model of an error, with its code."""
    found = []
    for each in ("dspy.predict.react", "dspy.predict.react_v2"):
        if find_spec(each) is not None:
            module = import_module(each)
            known = (name for name in ("format_error_for_lm", "_fmt_exc") if hasattr(module, name))
            found += [(module, name) for name in known]
    if not found:
        raise AttributeError("dspy.predict.react has neither format_error_for_lm nor _fmt_exc")
    return found


def threads_module() -> Any:
    """The module of the threads in which programs run beside each other."""
    return import_module("dspy.utils.parallelizer")


def metadata_module() -> Any:
    """The module of what DSPy knows of models: what they can do, and their prices. None before
    DSPy 3.4, which asks LiteLLM."""
    if find_spec("dspy.clients.model_metadata") is None:
        return None
    return import_module("dspy.clients.model_metadata")


@cache
def bundled_metadata() -> Any:
    """What DSPy brings of that."""
    return metadata_module()._snapshot()  # noqa: SLF001


@cache
def client_settings() -> frozenset[str]:
    """Settings of a connection, which are no part of what a model is asked."""
    if find_spec("dspy.clients.backend_selection") is None:
        return _CLIENT_SETTINGS
    return frozenset(import_module("dspy.clients.backend_selection").CLIENT_KEYS)


def serde() -> Any:
    """Functions from and to the JSON of DSPy's message types."""
    return import_module("dspy._vendor.lm15.serde")


def call_result() -> Any:
    """What an engine gives that speaks the older shape."""
    return import_module("dspy.clients.call_result")


def is_own(tool: Any) -> bool:
    """Whether a tool is an agent's own way to end, which touches nothing."""
    module = getattr(tool.func, "__module__", None) or ""
    return str(module).startswith("dspy.predict.")


def recorded_error(error: BaseException) -> BaseException:
    """A recorded exception of DSPy's with all its attributes: a trace keeps none that are None."""
    from dspy import lm15

    if isinstance(error, lm15.LM15Error):
        for name, value in vars(type(error)("")).items():
            vars(error).setdefault(name, value)
    return error


def engine_error(info: ErrorInfo) -> BaseException:
    """An injected failure as an engine fails, so that DSPy tries again where it would."""
    from dspy import lm15

    error = to_error(info)
    kinds: list[tuple[type[ModelError], Callable[..., BaseException]]] = [
        (RateLimitError, lm15.RateLimitError),
        (RequestRefusedError, lm15.InvalidRequestError),
        (ServerFailedError, lm15.ServerError),
        (ModelTimeoutError, lm15.TimeoutError),
        (ConnectionLostError, lm15.TransportError),
        (BadReplyError, lm15.ProviderError),
    ]
    kind = next((made for ours, made in kinds if isinstance(error, ours)), None)
    if kind is None or not isinstance(error, ModelError):
        return error
    return kind(str(error), status=error.status, retry_after=error.retry_after_s)
