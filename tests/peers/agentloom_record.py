"""Record calls with AgentLoom, in an environment of its own. Run by the benchmark.

    python agentloom_record.py FILE CALLS CONVERSATION

CALLS independent calls, or with CONVERSATION ``1`` that many turns of one conversation. Prints the
seconds that it took, the provider's own share (none: it answers at once) included.
"""

import asyncio
import sys
import time
from typing import Any

from agentloom.core.results import TokenUsage
from agentloom.providers.base import BaseProvider, ProviderResponse
from agentloom.providers.recorder import RecordingProvider


class Instant(BaseProvider):
    """Answers at once."""

    name = "instant"

    async def complete(self, **_: Any) -> ProviderResponse:
        """The same answer to everything."""
        usage = TokenUsage(prompt_tokens=20, completion_tokens=8, total_tokens=28)
        return ProviderResponse(content="fine", model="m-1", provider="instant", usage=usage)


async def main(path: str, calls: int, *, conversation: bool) -> float:
    """Record, and give the seconds."""
    recorder = RecordingProvider(Instant(), path)
    messages: list[dict[str, Any]] = []
    began = time.perf_counter()
    for number in range(calls):
        asked = {"role": "user", "content": f"question {number} " + "word " * 20}
        messages = [*messages, asked] if conversation else [asked]
        await recorder.complete(messages, "m-1", step_id=f"step-{number}")
        if conversation:
            messages = [*messages, {"role": "assistant", "content": "fine"}]
    return time.perf_counter() - began


if __name__ == "__main__":
    print(asyncio.run(main(sys.argv[1], int(sys.argv[2]), conversation=sys.argv[3] == "1")))
