"""A client of an SDK whose transport answers every request with the same event stream."""

import json
import sys
from types import ModuleType
from typing import Any


class Answers:
    """What the transport answers with."""

    def __init__(self, sdk: ModuleType) -> None:
        """For an SDK of the OpenAI kind, whichever HTTP library its version uses."""
        base = next(c for c in sdk.DefaultHttpxClient.__mro__ if c.__name__ == "Client")
        self._library: Any = sys.modules[base.__module__.partition(".")[0]]
        self._body = b""
        transport = self._library.MockTransport(self._answer)
        self.http: Any = sdk.DefaultHttpxClient(transport=transport)
        """The HTTP client to make the SDK's client with."""

    def say(self, events: list[dict[str, Any]]) -> None:
        """Answer with these events from now on."""
        lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self._body = "".join(lines).encode()

    def _answer(self, _: Any) -> Any:
        kind = {"content-type": "text/event-stream"}
        return self._library.Response(200, headers=kind, content=self._body)
