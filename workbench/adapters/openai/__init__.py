"""OpenAI's SDK: chat completions, sync and async, plain and streamed.

``install`` hooks the SDK's client classes as soon as the SDK is imported, and imports nothing of
it itself; ``uninstall`` takes the hooks out again. A call outside any session goes straight on.
"""

from workbench.adapters.openai.patches import install, uninstall

__all__ = ["install", "uninstall"]
