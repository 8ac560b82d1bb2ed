"""The short way of a plain replay gives what the whole way gives."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import scripted
from scripted import World, ask
from written import written

import workbench as wb


def test_a_plain_call_goes_the_short_way(world: World) -> None:
    """It does not come to the session's own decision at all, and is reported nevertheless."""
    recorded = wb.record(lambda: ask("a")["content"]).trace
    with wb.replaying(recorded) as run:
        seam = run._run.seam
        seam.session.begin = None  # type: ignore[method-assign,assignment]
        assert ask("a")["content"] == "re: a"
    assert [(c.how, c.reason, c.summary) for c in run.result.calls] == [
        ("replayed", "hit", "re: a")
    ]
    assert len(world.ran) == 1


def test_the_trace_is_of_the_moment_of_the_call(world: World) -> None:
    """Neither what becomes of the messages, of the reply, nor of the output gets into the trace."""
    said: list[dict[str, Any]] = []

    def agent() -> list[Any]:
        said.clear()
        out: list[Any] = []
        for word in ("a", "b"):
            said.append({"role": "user", "content": word})
            reply = ask(said)
            reply["content"] += "!"
            out.append(reply)
        return out

    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace)
    said[0]["content"] = "something else"
    replayed.output.append("more")
    asked = [entry.request["body"]["messages"] for entry in replayed.trace.models()]
    assert [[each["content"] for each in list_] for list_ in asked] == [["a"], ["a", "b"]]
    assert [entry.text for entry in replayed.trace.models()] == ["re: a", "re: b"]
    assert [each["content"] for each in replayed.trace.output] == ["re: a!", "re: b!"]
    assert len(world.ran) == 2


def test_an_open_trace_shows_what_has_happened(world: World) -> None:
    """Looking in the middle changes nothing: what comes after is there too, once and in order."""
    watched: list[Any] = []
    seen: list[int] = []

    def agent() -> None:
        for word in "abc":
            ask(word)
            seen.extend(len(run.trace.entries) for run in watched)
            wb.write_event("said", word)

    recorded = wb.record(agent).trace
    with wb.replaying(recorded) as run:
        watched.append(run)
        agent()
    watched.clear()
    assert seen == [1, 3, 5]
    assert written(run.result.trace)[:-1] == written(wb.replay(agent, recorded).trace)[:-1]
    assert len(world.ran) == 3


@pytest.mark.parametrize(("first", "then"), [("x", "y"), ("x", None), (None, "y")])
def test_what_is_ignored_is_written_as_it_was_asked(
    world: World, first: str | None, then: str | None
) -> None:
    """A part that does not count when a call is looked up is in the trace as it was this time."""

    def agent(mark: str | None) -> Any:
        marked = {} if mark is None else {"mark": mark}
        return ask("a", **marked)["content"]

    ignore = {"workbench": ["/body/stream", "/body/mark"]}
    recorded = wb.record(agent, first, ignore=ignore)
    replayed = wb.replay(agent, recorded.trace, then, ignore=ignore)
    assert replayed.status == "ok", replayed.drift
    assert replayed.trace.models()[0].request["body"].get("mark") == then
    assert len(world.ran) == 1


def test_a_call_of_a_damaged_recording_is_written_whole(world: World, tmp_path: Path) -> None:
    """What can no longer be read of the recording is known of the call all the same."""
    said = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]

    def agent() -> None:
        ask(said[:1])
        ask(said)

    path = tmp_path / "a.trace.jsonl"
    wb.record(agent, to=path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:40] + b"\n"
    path.write_bytes(b"".join(lines))
    replayed = wb.replay(lambda: ask(said) and None, path)
    assert replayed.status == "ok", replayed.drift
    assert replayed.trace.models()[0].request["body"]["messages"] == said
    assert len(world.ran) == 2


def test_calls_in_threads_are_all_there() -> None:
    """Several threads take the short way at once: every call has its lines and its report."""
    scripted.world.answer = lambda body: {"content": f"re: {body['messages'][-1]['content']}"}

    def agent() -> list[str]:
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda n: str(ask(f"n{n}")["content"]), range(60)))

    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace, completion="free")
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert sorted(c.origin or "" for c in replayed.calls) == sorted(
        e.id for e in recorded.trace.entries
    )
    assert {e.text for e in replayed.trace.models()} == set(recorded.output)


def test_after_a_live_write_nothing_takes_the_short_way(world: World) -> None:
    """The world is another one then: a read that was recorded is made again, and not served."""
    stock = {"apples": 3}

    @wb.tool(effect="write")
    def take(what: str) -> None:
        stock[what] -= 1

    @wb.tool(effect="read")
    def count(what: str) -> int:
        return stock[what]

    def agent(taking: bool) -> list[int]:
        out = [count("apples")]
        if taking:
            take("apples")
        return [*out, ask("how many?") and count("apples")]

    recorded = wb.record(agent, False)
    fork = wb.fork(agent, recorded.trace, True, on_miss="live", tools_after="allow")
    assert (fork.status, fork.output) == ("ok", [3, 2]), fork.error
    assert [(call.name, call.how) for call in fork.calls] == [
        ("count", "replayed"),
        ("take", "live"),
        ("m-1", "replayed"),
        ("count", "live"),
    ]
    assert [entry.source for entry in fork.trace.entries] == [
        "replayed",
        "live",
        "replayed",
        "live",
    ]
    assert len(world.ran) == 1
