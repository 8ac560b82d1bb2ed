"""A framework of three lines, whose model no SDK is behind: what an adapter's codec is for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.frameworks.models import (
    amodel_call,
    amodel_stream,
    model_call,
    model_stream,
)


@dataclass(frozen=True)
class Said:
    """The framework's response, with something that the neutral shape has no word for."""

    text: str
    mood: str = "calm"


@dataclass
class World:
    """What answers live, and what it was asked."""

    asked: list[str] = field(default_factory=list)
    error: Exception | None = None

    def answer(self, question: str) -> Said:
        """Say it back, in a mood."""
        self.asked.append(question)
        if self.error is not None:
            raise self.error
        return Said(f"You said: {question}", "glad")

    def pieces(self, question: str) -> Iterator[Said]:
        """The same word by word."""
        for word in self.answer(question).text.split():
            yield Said(word + " ", "glad")


class SaidCodec(Codec):
    """How it looks in a trace."""

    provider = "mini"

    def dump(self, result: Any) -> Any:
        return {"text": result.text, "mood": result.mood}

    def load(self, native: Any) -> Any:
        return Said(**native)

    def body(self, result: Any) -> Body:
        return {"content": result.text, "finish_reason": "stop", "model": "mini-1"}

    def make(self, body: Body) -> Any:
        return Said(body["content"])

    def apply(self, given: Any, body: Body, was: Body) -> Any:
        return body["messages"][-1]["content"]

    def dump_chunk(self, chunk: Any) -> Any:
        return self.dump(chunk)

    def load_chunk(self, native: Any) -> Any:
        return self.load(native)

    def chunk_body(self, chunk: Any) -> Body:
        return {"text": chunk.text}

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        return lambda chunk: [Said(chunk["text"])] if "text" in chunk else []


def request(question: str) -> Body:
    """The neutral request for a question."""
    return {"model": "mini", "messages": [{"role": "user", "content": question}]}


def say(world: World, question: str, way: str) -> list[Said]:
    """Ask the model in one of four ways; gives the response, or its pieces."""
    codec, asked = SaidCodec(), request(question)

    async def answer(given: str) -> Said:
        await asyncio.sleep(0)
        return world.answer(given)

    async def pieces(given: str) -> AsyncIterator[Said]:
        for piece in world.pieces(given):
            yield piece

    async def read() -> list[Said]:
        return [each async for each in await amodel_stream(codec, asked, question, pieces)]

    if way == "plain":
        return [model_call(codec, asked, question, world.answer)]
    if way == "stream":
        return list(model_stream(codec, asked, question, world.pieces))
    if way == "async":
        return [asyncio.run(amodel_call(codec, asked, question, answer))]
    return asyncio.run(read())
