"""What answers without words have in common: counts of tokens, and embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import EditError

from .base import JSON, ToolCallLike
from .reading import as_dict


class Wordless:
    """The part of a view whose answers hold no words: they are not streamed, and no reply can be
    written into them."""

    refusal_to_write: str
    """Why words cannot be written, and what to do instead."""

    def streams(self, body: JSON) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def wants_usage(self, body: JSON) -> bool:  # noqa: ARG002
        """Never: there are no streams."""
        return False

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The body that :meth:`split` gave; an empty one where there is none."""
        return dict(as_dict(chunks[-1])) if chunks else {}

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """The body itself, as it is not streamed."""
        return [body] if as_dict(body) else []

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """The body itself.

        Raises:
            EditError: words are to be written.
        """
        if text is None and not tool_calls and refusal is None and finish_reason is None:
            return body
        raise EditError(self.refusal_to_write)
