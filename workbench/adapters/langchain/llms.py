"""LangChain's models that complete a text, on the seam as its chat models are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.langchain.calls import Calls
from workbench.adapters.langchain.codec import Asked
from workbench.adapters.langchain.neutral import readable, request_parts
from workbench.errors import UsageError
from workbench.trace.values import decode


class TextCalls(Calls):
    """The methods of one model that completes texts."""

    def _asked(
        self, messages: Any, stop: Any, options: dict[str, Any]
    ) -> tuple[Codec, Body, Asked]:
        name, provider, settings = self._known(stop, options)
        prompts = [messages] if isinstance(messages, str) else list(messages)
        said: Body = {
            "model": name,
            "messages": [{"role": "user", "content": each} for each in prompts],
        }
        request = request_parts(said, stop, {**settings, **options})
        return TextCodec(provider, len(prompts)), request, Asked(messages, stop, options)

    def _split(self, chunk: Any) -> Iterable[Any]:
        return (chunk,)


class TextCodec(Codec):
    """What such models give."""

    def __init__(self, provider: str | None, prompts: int) -> None:
        self.provider = provider
        self._prompts = prompts

    def dump(self, result: Any) -> Any:
        """An ``LLMResult`` as JSON."""
        listed = [[self.dump_chunk(each) for each in one] for one in result.generations]
        return {"generations": listed, "llm_output": readable(result.llm_output)}

    def load(self, native: Any) -> Any:
        """The result again."""
        from langchain_core.outputs import Generation, LLMResult

        listed = [
            [Generation(text=g["text"], generation_info=decode(g["info"])) for g in one]
            for one in native["generations"]
        ]
        return LLMResult(generations=listed, llm_output=decode(native["llm_output"]))

    def body(self, result: Any) -> Body:
        """What it says; to several prompts at once, one under the other."""
        texts = [one[0].text for one in result.generations if one]
        return {"content": "\n\n".join(texts)}

    def make(self, body: Body) -> Any:
        """A result that says this."""
        from langchain_core.outputs import Generation, LLMResult

        if self._prompts != 1:
            raise UsageError(
                f"this call asks {self._prompts} prompts at once, whose answers cannot be edited"
            )
        return LLMResult(generations=[[Generation(text=body.get("content") or "")]])

    def apply(self, given: Asked, body: Body, was: Body) -> Asked:  # noqa: ARG002 - it is known
        """The call with other prompts."""
        prompts: Any = [str(each["content"]) for each in body["messages"]]
        return Asked(
            prompts[0] if isinstance(given.messages, str) else prompts,
            body.get("stop"),
            given.options,
        )

    def dump_chunk(self, chunk: Any) -> Any:
        """A piece of text as JSON."""
        return {"text": chunk.text, "info": readable(chunk.generation_info)}

    def load_chunk(self, native: Any) -> Any:
        """The piece again."""
        from langchain_core.outputs import GenerationChunk

        return GenerationChunk(text=native["text"], generation_info=decode(native["info"]))

    def chunk_body(self, chunk: Any) -> Body:
        """What it says."""
        return {"text": chunk.text} if chunk.text else {}

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """Neutral chunks as pieces of text."""
        return self._made

    def _made(self, said: Body) -> Iterator[Any]:
        text = said.get("text") or said.get("content")
        if text:
            yield self.load_chunk({"text": text, "info": None})
