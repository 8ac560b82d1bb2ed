"""Faults and failures through each SDK: recorded as what they were, injected once, no answers."""

import contextlib
import random
import time
from pathlib import Path
from typing import Any

import pytest
from askers import ASKERS, Asker
from loopback import Server
from sdk_seen import differences, see, see_error
from spoken import put_speaker

import workbench as wb
from workbench import turn
from workbench.faults import CutOff, HttpError, SeenCall, StreamTruncate, Timeout

OUTAGE = {"error": {"message": "Overloaded", "type": "server_error", "code": 529}}


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


def attempt(asker: Asker, url: str, text: str, model: str = "ok", retries: int = 0) -> Any:
    """What an agent gets of one call: a text, or the exception as it reads it."""
    try:
        with asker.open(url, retries) as made:
            return asker.text(asker.send(made, model, asker.user(text)))
    except Exception as error:
        return see_error(error)


def pieces(asker: Asker, url: str, text: str = "hello", model: str = "ok") -> tuple[list[Any], Any]:
    """What an agent gets of a stream: its pieces, and the exception, if there is one."""
    found: list[Any] = []
    try:
        found.extend(see(piece) for piece in asker.read(url, text, model))
    except Exception as error:
        return found, see_error(error)
    return found, None


def test_a_server_that_hangs_is_the_clients_own_time_out(asker: Asker, speaker: Server) -> None:
    """An injected hang is what the client raises of its own time limit against a silent server,
    at once: nobody waits for the hour that it is said to have taken."""
    real = attempt(asker, speaker.url, "hello", "stall")
    recorded = wb.record(asker.ask, speaker.url, "hello")
    speaker.stop()
    begun = time.monotonic()
    fault = Timeout(after_ms=3_600_000).at(turn(1))
    with wb.replaying(recorded.trace, faults=[fault]) as replayed, contextlib.suppress(Exception):
        injected = attempt(asker, speaker.url, "hello")
        again = attempt(asker, speaker.url, "hello")
    assert time.monotonic() - begun < 20
    assert injected["kind"] == real["kind"]
    assert (injected["cause"] or ("",))[0] == (real["cause"] or ("",))[0]
    assert again == "You said: hello"
    assert [entry.attempt for entry in replayed.result.trace.models()] == [1, 2]


def test_a_time_out_loses_no_earlier_call(asker: Asker, speaker: Server, tmp_path: Path) -> None:
    """The first call is answered, the second meets silence, the third a reset, and the agent goes
    on: all are in the file, with type and text, and come back from it as they were."""
    path = tmp_path / "run.trace.jsonl"

    def agent() -> list[Any]:
        models = ("ok", "stall", "reset", "ok")
        return [attempt(asker, speaker.url, f"q{n}", each) for n, each in enumerate(models)]

    recorded = wb.record(agent, to=path)
    assert recorded.status == "ok", recorded.error
    speaker.stop()
    trace = wb.load(path)
    assert trace.notices == ()
    assert [entry.error is None for entry in trace.entries] == [True, False, False, True]
    for entry, seen in zip(trace.entries, recorded.output, strict=True):
        if entry.error is None:
            assert entry.text == seen
        else:
            assert f"{entry.error.module}.{entry.error.type}" == seen["kind"]
            assert entry.error.message == seen["text"]
    replayed = wb.replay(agent, path)
    assert replayed.status == "ok"
    assert differences(recorded.output, replayed.output) == []


def test_an_outage_is_flagged_and_can_be_asked_again(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of status 200 that holds an error is no reply: the trace's first finding says so.
    It is served as it was to an agent that replays, and asked anew where a fork is told to."""

    def agent() -> list[str]:
        with asker.open(speaker.url) as made:
            first = asker.send(made, "ok", asker.user("one"))
            second = asker.text(asker.send(made, "ok", asker.user("two")))
        return [str(see(first).get("fields", {}).get("candidates") or see(first)["extra"]), second]

    usual = wb.record(agent)
    assert usual.trace.findings == []
    asked: list[Any] = []

    def down_at_first(_path: str, body: Any) -> Any:
        asked.append(body)
        return OUTAGE if len(asked) == 1 else good(_path, body)

    good = put_speaker(monkeypatch, asker.api, reply=down_at_first).reply
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    trace = recorded.trace
    (found,) = trace.findings
    assert (found.kind, found.severity, found.entry) == (
        "model_error",
        "error",
        trace.entries[0].id,
    )
    assert "Overloaded" in found.text
    replayed = wb.replay(agent, trace)
    assert (replayed.status, replayed.output, len(asked)) == ("ok", recorded.output, 2)
    assert [each.kind for each in replayed.trace.findings] == ["model_error"]
    forked = wb.fork(agent, trace, force_live=[turn(1)])
    assert (forked.status, forked.live_calls, len(asked)) == ("ok", 1, 3)
    assert forked.trace.findings == []
    assert forked.trace.turn(1).model.text == "You said: one"


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_fault_is_drawn_once_for_each_call(asker: Asker, kind: str, speaker: Server) -> None:
    """A fault that hits every other call by a seeded draw: the draw is made once per call, streamed
    or not, the same calls are hit each time, and a fault that is never drawn fails the replay."""

    def agent() -> list[bool]:
        def ask(text: str) -> bool:
            if kind == "plain":
                return isinstance(attempt(asker, speaker.url, text), str)
            return pieces(asker, speaker.url, text)[1] is None

        return [ask(f"q{number}") for number in range(8)]

    def shaken(seed: int, odds: float = 0.5) -> tuple[Any, list[SeenCall]]:
        seen: list[SeenCall] = []
        draw = random.Random(seed)  # noqa: S311 - a draw that comes out again

        def hit(call: SeenCall) -> bool:
            seen.append(call)
            return draw.random() < odds

        fault = StreamTruncate(2) if kind == "stream" else HttpError(500)
        return wb.replay(agent, recorded.trace, faults=[fault.at(when=hit, times=8)]), seen

    recorded = wb.record(agent)
    assert recorded.output == [True] * 8
    speaker.stop()
    one, drawn = shaken(7)
    two, _ = shaken(7)
    expected = random.Random(7)  # noqa: S311 - the same draw
    assert [call.turn for call in drawn] == list(range(1, 9))
    assert one.output == two.output == [expected.random() >= 0.5 for _ in range(8)]
    assert len(one.fired) == one.output.count(False)
    never, drawn = shaken(7, odds=0)
    assert len(drawn) == 8
    assert (never.status, len(never.unfired), never.output) == ("drifted", 1, [True] * 8)


@pytest.mark.parametrize(
    ("end", "word"),
    [
        ("reset", "mid-reset"),
        ("stall", "mid-stall"),
        ("clean", "mid-clean"),
        ("error", "mid-error"),
    ],
)
def test_an_injected_break_is_a_real_one(
    asker: Asker, end: Any, word: str, speaker: Server
) -> None:
    """A reset, silence, an early end and an error inside a stream are four faults: each gives the
    pieces that a server sends before it, and then what the SDK makes of the real one."""
    with wb.recording() as whole:
        pieces(asker, speaker.url)
    with wb.recording() as broken:
        real, why = pieces(asker, speaker.url, "hello", word)
    speaker.stop()
    count = len(broken.trace.entries[0].chunks)
    fault = StreamTruncate(count, end=end)
    with wb.forking(whole.trace, faults=[fault], on_miss="fail") as forked:
        found, error = pieces(asker, speaker.url)
    assert len(found) == len(real)
    assert (error is None) == (why is None) == (end == "clean")
    if error is not None and why is not None:
        assert error["kind"] == why["kind"]
        assert (error["cause"] or ("",))[0] == (why["cause"] or ("",))[0]
        assert set(error["attributes"]) == set(why["attributes"])
    (entry,) = forked.trace.entries
    assert [c.data for c in entry.chunks] == [c.data for c in whole.trace.entries[0].chunks[:count]]
    assert entry.ended == broken.trace.entries[0].ended


def test_attempts_are_one_call(asker: Asker, speaker: Server) -> None:
    """An agent that asks the very same again when a reply was cut off: three attempts are one turn,
    with their numbers, and a fault that is aimed at the first leaves the others alone."""

    def agent() -> list[str]:
        texts: list[str] = []
        while len(texts) < 3 and (not texts or texts[-1] != "You said: hello"):
            texts.append(asker.ask(speaker.url, "hello"))
        return [*texts, asker.ask(speaker.url, "next")]

    recorded = wb.record(agent)
    assert recorded.output == ["You said: hello", "You said: next"]
    speaker.stop()
    first, both = CutOff(2).at(turn(1), attempt=1, times=3), CutOff(2).at(turn(1), times=2)
    for fault, cut in ((first, 1), (both, 2)):
        replayed = wb.replay(agent, recorded.trace, faults=[fault])
        assert replayed.output == ["You said"] * cut + ["You said: hello", "You said: next"]
        assert [len(each.attempts) for each in replayed.trace.turns] == [cut + 1, 1]
        numbers = [entry.attempt for entry in replayed.trace.turn(1).attempts]
        assert numbers == list(range(1, cut + 2))
