"""OpenAI's SDK: chat completions, sync and async, plain and streamed."""

from workbench.adapters.openai.patches import hook
from workbench.seam.hooks import Adapter

adapter = Adapter(name="openai", module="openai", hook=hook)

__all__ = ["adapter"]
