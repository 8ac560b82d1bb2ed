"""Every SDK, every way to ask, everything that can happen: recorded, then replayed offline."""

import os

import pytest
from loopback import Server
from sdk_cases import KEY, Case, Way, must_fail, no_network, outcome, pairs
from sdk_seen import differences

import workbench


@pytest.mark.parametrize(("way", "case"), pairs(), ids=str)
def test_a_replay_gives_the_very_outcome(speaker: Server, way: Way, case: Case) -> None:
    """Recording changes nothing; a replay without server, network and key gives the same types,
    ids, chunks and exceptions, field by field; and it leaves the same trace."""
    bare = outcome(way, case, speaker.url, KEY)
    speaker.rewind()
    with workbench.recording() as recorded:
        live = outcome(way, case, speaker.url, KEY)
    assert differences(bare, live) == []
    assert must_fail(way, case) in (None, bool(live["error"]))
    assert len(speaker.seen) == 2 * case.tries
    speaker.stop()
    connections = speaker.connections
    assert not [name for name in os.environ if name.endswith("_API_KEY")]

    with no_network() as tried, workbench.replaying(recorded.trace) as replayed:
        again = outcome(way, case, speaker.url, None)

    assert differences(live, again) == []
    assert (tried, speaker.connections) == ([], connections)
    assert replayed.result.status == "ok"
    _same_trace(recorded.trace, replayed.trace, way)


def _same_trace(recorded: workbench.Trace, replayed: workbench.Trace, way: Way) -> None:
    (one,), (two,) = recorded.entries, replayed.entries
    assert (one.api, one.source, two.source) == (way.api, "live", "replayed")
    assert (two.request, two.hash) == (one.request, one.hash)
    assert [chunk.data for chunk in two.chunks] == [chunk.data for chunk in one.chunks]
    assert (two.error, two.ended) == (one.error, one.ended)
    assert (two.provider, two.reply_model) == (one.provider, one.reply_model)
    assert one.provider == "local"
    assert KEY not in str((one.request, one.response, one.error))


def test_the_matrix_would_notice(speaker: Server) -> None:
    """The guard counts what it refuses, and one field that differs is named by its path."""
    way, case = pairs()[0]
    with no_network() as tried:
        refused = outcome(way, case, speaker.url, KEY)
    assert tried
    assert (refused["noted"], speaker.connections) == ([], 0)
    live = outcome(way, case, speaker.url, KEY)
    other = outcome(way, case, speaker.url, KEY)
    assert differences(live, other) == []
    was, other["noted"][0]["kind"] = other["noted"][0]["kind"], "another"
    assert differences(live, other) == [f".noted[0].kind: {was!r} != 'another'"]
