import asyncio
from typing import Any

import pytest
from openai_results import aask, ask
from openai_server import Server

import workbench

WHOLE = ("ok", "429", "500", "529", "html502", "badjson", "text", "reset", "cut", "stall")
INSIDE = ("mid-reset", "mid-cut", "mid-stall", "mid-error", "mid-bad")
CASES = [(model, kind) for model in WHOLE for kind in ("plain", "stream", "tools")]
CASES += [(model, kind) for model in INSIDE for kind in ("stream", "tools")]


def run(mode: str, url: str, model: str, kind: str) -> dict[str, Any]:
    """One call of sync or of async code."""
    return ask(url, model, kind) if mode == "sync" else asyncio.run(aask(url, model, kind))


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(("model", "kind"), CASES)
def test_a_replay_gives_the_very_outcome(
    server: Server, connections: list[object], mode: str, model: str, kind: str
) -> None:
    """Offline, results, chunks, exceptions and the new trace equal the recorded ones."""
    bare = run(mode, server.url, model, kind)
    with workbench.recording() as recorded:
        live = run(mode, server.url, model, kind)
    assert live == bare
    server.stop()
    connections.clear()

    with workbench.replaying(recorded.trace) as replayed:
        again = run(mode, server.url, model, kind)

    assert again == live
    assert connections == []
    assert replayed.result.status == "ok"
    (one,), (two,) = recorded.trace.entries, replayed.trace.entries
    assert (two.request, two.hash) == (one.request, one.hash)
    assert [chunk.data for chunk in two.chunks] == [chunk.data for chunk in one.chunks]
    assert (two.error, two.ended) == (one.error, one.ended)
    assert (two.provider, two.reply_model) == (one.provider, one.reply_model)
    assert one.provider == "local"
    assert (one.source, two.source) == ("live", "replayed")
