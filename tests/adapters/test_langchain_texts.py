"""LangChain's models that complete a text: recorded and answered as its chat models are."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models import LLM
from langchain_core.outputs import GenerationChunk

import workbench as wb
from workbench.faults import HttpError

asked: list[str] = []


class Echo(LLM):
    """A model of the user's own."""

    @property
    def _llm_type(self) -> str:
        return "echo-1"

    def _call(self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        asked.append(prompt)
        return f"You said: {prompt}"


class Streaming(Echo):
    """The same word by word."""

    def _stream(
        self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[GenerationChunk]:
        for word in self._call(prompt).split():
            yield GenerationChunk(text=word + " ", generation_info={"n": 1})


def whole(model: Any) -> Any:
    """All at once."""
    return model.invoke("hi")


def awhole(model: Any) -> Any:
    """All at once, by async code."""
    return asyncio.run(model.ainvoke("hi"))


def several(model: Any) -> Any:
    """Two prompts in one call."""
    return [each[0].text for each in model.generate(["hi", "ho"]).generations]


def pieces(model: Any) -> Any:
    """Piece by piece."""
    return list(model.stream("hi"))


def apieces(model: Any) -> Any:
    """Piece by piece, by async code."""

    async def read() -> list[str]:
        return [each async for each in model.astream("hi")]

    return asyncio.run(read())


@pytest.mark.parametrize("kind", [Echo, Streaming])
@pytest.mark.parametrize("way", [whole, awhole, several, pieces, apieces])
def test_every_way_to_ask_is_replayed_without_the_model(
    kind: type[Echo], way: Callable[[Any], Any]
) -> None:
    """The same texts, piece by piece; edited ones are what the program gets."""
    asked.clear()
    recorded = wb.record(way, kind())
    assert recorded.status == "ok", recorded.error
    (entry,) = recorded.trace.entries
    assert (entry.api, entry.model) == ("workbench", "echo-1")
    assert entry.stream is (kind is Streaming and way in (pieces, apieces))
    assert entry.text.startswith("You said: hi")
    times = len(asked)
    replayed = wb.replay(way, recorded.trace, kind())
    assert (replayed.status, replayed.output, len(asked)) == ("ok", recorded.output, times)
    edits = recorded.trace.edit().reply(wb.turn(1), text="never mind")
    edited = wb.replay(way, recorded.trace, kind(), edits=edits)
    if way is several:
        assert "2 prompts at once" in str(edited.error)
    else:
        assert "".join(edited.output).strip() == "never mind", edited.error
    asked.clear()
    edits = recorded.trace.edit().request(wb.turn(1), replace={1: "hey"})
    assert wb.fork(way, recorded.trace, kind(), edits=edits).status == "ok"
    assert asked[0] == "hey"
    failed = wb.replay(way, recorded.trace, kind(), faults=[HttpError(500).at(wb.turn(1))])
    assert isinstance(failed.error, wb.ServerFailedError)
