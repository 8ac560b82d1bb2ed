"""Google's SDK, ``google-genai``: ``generateContent``, embeddings and counts of tokens, of the
Gemini API and of Vertex AI; sync and async, plain and streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.seam.hooks import Adapter

if TYPE_CHECKING:
    from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    from workbench.adapters.google.patches import hook

    hook(patches)


adapter = Adapter(name="google", module="google.genai", hook=_hook)

__all__ = ["adapter"]
