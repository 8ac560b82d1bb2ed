"""Streams over the seam: as they came, and the other way of travelling."""

import pytest
from scripted import Lost, World, ask

import workbench as wb
from workbench.faults import StreamTruncate


def read(question: str, *, stream: bool) -> str:
    """The reply's text, either way."""
    if not stream:
        return str(ask(question)["content"])
    return "".join(chunk.get("text", "") for chunk in ask(question, stream=True))


@pytest.mark.parametrize("recorded_as", [True, False])
@pytest.mark.parametrize("replayed_as", [True, False])
def test_streams_and_plain_calls_replay_each_other(
    world: World,
    recorded_as: bool,
    replayed_as: bool,
) -> None:
    """How an answer travels does not count: a streamed recording answers a plain call."""
    world.answer = lambda _: {"content": "one two three", "finish_reason": "stop"}
    recorded = wb.record(read, "count", stream=recorded_as)
    again = wb.replay(read, recorded.trace, "count", stream=replayed_as)
    assert (again.status, again.output) == ("ok", "one two three")
    assert len(world.ran) == 1


def test_a_stream_keeps_its_chunk_boundaries(world: World) -> None:
    """What comes back in a replay are the recorded chunks, not one big one."""
    world.answer = lambda _: {"content": " ".join(["word"] * 60), "finish_reason": "stop"}

    def agent() -> list[object]:
        return list(ask("count", stream=True))

    recorded = wb.record(agent)
    assert len(recorded.output) > 2
    assert [chunk.data for chunk in recorded.trace.models()[0].chunks] == recorded.output
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_a_reader_that_stops_early_is_recorded_as_that(world: World) -> None:
    """Stopping after two chunks keeps two; a replay that reads on is told why there is no more."""
    world.answer = lambda _: {"content": " ".join(["word"] * 60)}

    def agent(chunks: int) -> int:
        stream = ask("count", stream=True)
        seen = 0
        for _ in stream:
            seen += 1
            if seen == chunks:
                break
        stream.close()
        return seen

    recorded = wb.record(agent, 2)
    entry = recorded.trace.models()[0]
    assert (entry.ended, len(entry.chunks)) == ("stopped", 2)
    assert wb.replay(agent, recorded.trace).output == 2
    more = wb.replay(agent, recorded.trace, 4)
    assert more.status in {"failed", "drifted"}
    assert "the recorded reader stopped here, after 2 chunks" in str(more.error or more.drift)


def test_a_stream_that_broke_breaks_again(world: World) -> None:
    """An error in the middle of a stream reaches the reader after the same chunks, also in the
    replay of the trace in which it broke."""
    world.answer = lambda _: {"content": " ".join(["word"] * 60)}

    def agent() -> list[str]:
        pieces: list[str] = []
        try:
            pieces += (chunk.get("text", "") for chunk in ask("count", stream=True))
        except Lost:
            pieces.append("lost")
        return pieces

    recorded = wb.record(agent)
    cut = StreamTruncate(1).at(wb.turn(1))
    broken = wb.replay(agent, recorded.trace, faults=[cut])
    assert broken.output == [recorded.output[0], "lost"]
    again = wb.replay(agent, broken.trace)
    assert (again.status, again.output) == ("ok", broken.output)


def test_a_plain_call_beyond_what_was_received_is_drift(world: World) -> None:
    """The recorded reader had stopped: an agent that catches the error has drifted all the same."""

    def first_words() -> str:
        for chunk in ask("tell", stream=True):
            return str(chunk)
        return ""

    def whole() -> str:
        try:
            return str(ask("tell")["content"])
        except Exception as error:
            return f"fallback after {type(error).__name__}"

    recorded = wb.record(first_words)
    replayed = wb.replay(whole, recorded.trace)
    assert replayed.status == "drifted"
    assert "stopped here" in str(replayed.drift)
