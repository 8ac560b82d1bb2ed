"""LangChain's tools on the seam: what a tool does, inside everything the framework does around it.

Validation, callbacks, handling of errors, and the making of messages stay the framework's own, in
a replay too: it runs the tool, whose innermost method is answered.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import wrapt

from workbench.adapters.langchain import names
from workbench.adapters.langchain.askers import asked
from workbench.adapters.langchain.results import Raised, dump, load, signals
from workbench.errors import ToolFaultError, UnencodableError
from workbench.seam.current import current_seam
from workbench.seam.patching import Patches
from workbench.seam.plain_calls import atool_call, tool_call

if TYPE_CHECKING:
    _Proxy = wrapt.ObjectProxy[Any]  # generic in its newer releases only
else:
    _Proxy = wrapt.ObjectProxy


def hook(patches: Patches) -> None:
    """Hook the two ways in which every tool is run."""
    patches.wrap(names.tool_class(), "run", _run)
    patches.wrap(names.tool_class(), "arun", _run)


def _run(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    tool_input = args[0] if args else kwargs.get("tool_input")
    seen = _Seen(tool, _Run(tool, tool_input, kwargs.get("tool_call_id")))
    return wrapped.__func__(seen, *args, **kwargs)


class _Seen(_Proxy):
    """A tool as the framework sees it while it runs: its innermost methods are on the seam."""

    def __init__(self, tool: Any, run: _Run) -> None:
        super().__init__(tool)
        self._self_run = run

    @property
    def _run(self) -> Callable[..., Any]:
        return self._self_run.sync

    @property
    def _arun(self) -> Callable[..., Awaitable[Any]]:
        return self._self_run.asynchronous

    def _to_args_and_kwargs(self, *args: Any, **kwargs: Any) -> Any:
        made = self._self_run.validate(*args, **kwargs)
        self._self_run.validated = frozenset(made[1])
        return made


class _Run:
    """One run of a tool."""

    def __init__(self, tool: Any, tool_input: Any, call_id: str | None) -> None:
        self._tool = tool
        self._input = tool_input
        self._call_id = call_id
        self._arguments = names.given(tool, tool_input)
        self.validate = tool._to_args_and_kwargs  # noqa: SLF001 - where an edit has to go, too
        self.validated: frozenset[str] = frozenset()
        """The keyword arguments that the tool's schema gave; the others are the framework's."""

    @functools.cached_property
    def sync(self) -> Callable[..., Any]:
        """The tool's own method, on the seam."""
        method = self._tool._run  # noqa: SLF001 - the method that a tool's author writes

        @functools.wraps(method)
        def run(*args: Any, **kwargs: Any) -> Any:
            def make(arguments: dict[str, Any]) -> Any:
                changed, keywords = self._changed(arguments, args, kwargs)
                try:
                    return method(*changed, **keywords)
                except signals() as error:
                    return Raised(error)

            try:
                with asked(self._call_id):
                    result = tool_call(self._tool.name, self._arguments, make, **self._options)
            except ToolFaultError as error:
                raise names.tool_fault(error) from None
            return _given(result)

        return run

    @functools.cached_property
    def asynchronous(self) -> Callable[..., Awaitable[Any]]:
        """The same for the method that is awaited."""
        method = self._tool._arun  # noqa: SLF001 - as above

        @functools.wraps(method)
        async def run(*args: Any, **kwargs: Any) -> Any:
            async def make(arguments: dict[str, Any]) -> Any:
                changed, keywords = self._changed(arguments, args, kwargs)
                try:
                    return await method(*changed, **keywords)
                except signals() as error:
                    return Raised(error)

            name = self._tool.name
            try:
                with asked(self._call_id):
                    result = await atool_call(name, self._arguments, make, **self._options)
            except ToolFaultError as error:
                raise names.tool_fault(error) from None
            return _given(result)

        return run

    @property
    def _options(self) -> dict[str, Any]:
        # What LangChain's bridge to MCP servers says of a tool, as its server annotated it.
        reads = (self._tool.metadata or {}).get("readOnlyHint") is True
        function = getattr(self._tool, "coroutine", None) or getattr(self._tool, "func", None)
        effect = "read" if reads else None
        return {"effect": effect, "of": function, "dump": self._dump, "load": self._load}

    def _changed(
        self, arguments: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the method is called with; validated anew where an edit changed the arguments."""
        if arguments is self._arguments:
            return args, kwargs
        if not isinstance(self._input, dict):
            again: Any = next(iter(arguments.values()), "")
        else:
            hidden = self._input.keys() - self._arguments.keys()
            again = {**{key: self._input[key] for key in hidden}, **arguments}
        new_args, new = self.validate(again, self._call_id)
        kept = {key: value for key, value in kwargs.items() if key not in self.validated}
        return new_args, {**kept, **new}

    def _dump(self, result: Any) -> Any:
        try:
            return dump(result)
        except UnencodableError as error:
            if self._call_id is not None and self._tool.response_format == "content":
                # Of any other object a model is told the text, and nothing else goes on.
                return names.as_text(result)
            raise UnencodableError(
                f"the result of the tool {self._tool.name} cannot be kept in a trace: {error}",
                path=error.path,
            ) from error

    def _load(self, json: Any) -> Any:
        result = load(json)
        pair = isinstance(result, tuple | Raised)
        if self._tool.response_format == "content_and_artifact" and not pair:
            return result, None  # somebody wrote a plain text in its place
        return result


def _given(result: Any) -> Any:
    if isinstance(result, Raised):
        raise result.error
    return result
