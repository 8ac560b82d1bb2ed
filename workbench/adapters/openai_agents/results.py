"""The types of the agents SDK's own that tools return: structured outputs such as images."""

from __future__ import annotations

from typing import Any, Final

import agents.tool

from workbench.adapters.frameworks.results import Results as BaseResults
from workbench.errors import TraceFormatError, UnencodableError
from workbench.trace.values import decode_as, encode

_OUTPUTS: Final[dict[str, Any]] = {
    name: kind
    for name in ("ToolOutputText", "ToolOutputImage", "ToolOutputFileContent")
    if (kind := getattr(agents.tool, name, None)) is not None
}
_AS_TEXT: Final = "text"


class Results(BaseResults):
    """The results of one tool of the SDK's.

    The model is told the text of what a tool returned. So a value of a type that cannot be made
    again is kept as that text: a replay tells the model the same.
    """

    mark = "$openai_agents"

    def own(self, value: Any) -> str | None:
        """Whether a value is a structured output."""
        name = type(value).__name__
        return name if type(value) is _OUTPUTS.get(name) else None

    def dump_own(self, name: str, value: Any, annotation: Any) -> Any:  # noqa: ARG002 - no parts
        """Its fields."""
        return value.model_dump(mode="json", exclude_unset=True)

    def load_own(self, name: str, kept: Any, annotation: Any) -> Any:  # noqa: ARG002 - no parts
        """The value again."""
        if name == _AS_TEXT:
            return kept
        kind = _OUTPUTS.get(name)
        if kind is None:
            raise TraceFormatError(
                f"a result is marked as openai-agents' {name!r:.60}, which this release has not"
            )
        return kind.model_validate(kept)

    def _leaf(self, value: Any, annotation: Any) -> Any:
        try:
            encode(value)
        except UnencodableError:
            if not _comes_back(value, annotation):
                self._tell(value)
                return {self.mark: _AS_TEXT, "v": str(value)}
        return super()._leaf(value, annotation)


def _comes_back(value: Any, annotation: Any) -> bool:
    if annotation is None:
        return False
    try:
        return str(decode_as(encode(value, plain=True), annotation)) == str(value)
    except (TraceFormatError, UnencodableError):
        return False
