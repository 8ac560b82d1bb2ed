"""Laws of record, replay and fork, over generated agents."""

import asyncio
import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import scripted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import HttpStatus, aask, ask
from written import written

import workbench as wb
from workbench.trace.recipe import Recipe

LAW = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])

TEXT = st.text(max_size=12)
ACTIONS = st.one_of(
    st.tuples(st.just("ask"), TEXT),
    st.tuples(st.just("stream"), TEXT),
    st.tuples(st.just("tool"), st.integers(0, 3)),
    st.tuples(st.just("event"), TEXT),
    st.tuples(st.just("id"), st.none()),
    st.tuples(st.just("fail"), TEXT),
)
SCRIPTS = st.lists(st.tuples(st.sampled_from(["", "plan", "write"]), ACTIONS), max_size=12)


@wb.tool(effect="read")
def look(number: int) -> dict[str, Any]:
    """Raise for odd numbers, so that recorded exceptions are met too."""
    if number % 2:
        raise LookupError(f"no {number}")
    return {"number": number, "twice": (number, number)}


def perform(actions: list[tuple[str, tuple[str, Any]]]) -> list[Any]:
    """An agent that does what it is told, and survives errors."""
    out: list[Any] = []
    for place, (what, value) in actions:
        try:
            if place:
                with wb.step(place):
                    out.append(act(what, value))
            else:
                out.append(act(what, value))
        except (LookupError, HttpStatus) as error:
            out.append(repr(error))
    return out


def act(what: str, value: Any) -> Any:
    """One of the things that an agent does with the world."""
    if what in ("ask", "fail"):
        return ask(value, fail=what == "fail")["content"]
    if what == "stream":
        return "".join(chunk.get("text", "") for chunk in ask(value, stream=True))
    if what == "tool":
        return look(value)
    if what == "event":
        return wb.write_event("said", value)
    return wb.new_id()


def numbered() -> None:
    """The model's every answer is different, and it fails when asked to."""
    world = scripted.world
    world.ran.clear()

    def answer(body: dict[str, Any]) -> Any:
        if body.get("fail"):
            return HttpStatus(500)
        return {"content": f"answer {len(world.ran)} to {body['messages'][-1]['content']}"}

    world.answer = answer


def shape(trace: wb.Trace) -> list[tuple[Any, ...]]:
    """What a replay must keep of each entry."""
    out: list[tuple[Any, ...]] = []
    for entry in trace.entries:
        head = (entry.kind, entry.step, entry.attempt, entry.name, entry.hash)
        if entry.kind in ("model", "tool"):
            error = entry.error and (entry.error.type, entry.error.message)
            chunks = [chunk.data for chunk in entry.chunks]
            out.append((*head, entry.request, entry.response, error, entry.ended, chunks))
        else:
            out.append((*head, entry.data if entry.kind == "event" else entry.value))
    return out


@LAW
@given(actions=SCRIPTS)
def test_a_replay_gives_the_same_entries(actions: list[tuple[str, tuple[str, Any]]]) -> None:
    """Record then replay: same output, same entries, nothing live, nothing left over."""
    numbered()
    recorded = wb.record(perform, actions)
    assert recorded.status == "ok", recorded.error
    lived = len(scripted.world.ran)
    replayed = wb.replay(perform, recorded.trace)
    assert replayed.status == "ok", replayed.drift or replayed.error
    assert replayed.output == recorded.output
    assert shape(replayed.trace) == shape(recorded.trace)
    assert len(scripted.world.ran) == lived
    twice = wb.replay(perform, replayed.trace)
    assert shape(twice.trace) == shape(recorded.trace)


@LAW
@given(actions=SCRIPTS)
def test_a_fork_at_the_end_equals_a_replay_and_a_trace_equals_itself(
    actions: list[tuple[str, tuple[str, Any]]],
) -> None:
    """With nothing changed nothing differs, however one asks."""
    numbered()
    recorded = wb.record(perform, actions)
    assert recorded.trace.diff(recorded.trace).same
    end = wb.turn(len(recorded.trace.turns) + 1)
    fork = wb.fork(perform, recorded.trace, live_from=end)
    assert (fork.status, fork.output) == ("ok", recorded.output)
    assert shape(fork.trace) == shape(recorded.trace)
    assert fork.diff().same


@LAW
@given(prompts=st.lists(TEXT, min_size=1, max_size=8), data=st.data())
def test_any_interleaving_of_concurrent_calls_replays_right(
    prompts: list[str], data: st.DataObject
) -> None:
    """Gathered in any order, each different prompt gets its own recorded reply."""

    async def agent(order: list[int]) -> dict[int, str]:
        replies = await asyncio.gather(*(aask(prompts[each]) for each in order))
        return {each: reply["content"] for each, reply in zip(order, replies, strict=True)}

    scripted.world.answer = lambda body: {"content": f"to {body['messages'][-1]['content']}"}
    recorded = wb.record(agent, list(range(len(prompts))))
    order = data.draw(st.permutations(range(len(prompts))))
    replayed = wb.replay(agent, recorded.trace, order)
    assert replayed.status == "ok"
    assert replayed.output == {each: f"to {prompts[each]}" for each in range(len(prompts))}


@LAW
@given(actions=SCRIPTS)
def test_load_then_save_gives_equal_bytes(actions: list[tuple[str, tuple[str, Any]]]) -> None:
    """What is read is what was written, also of a replay; and every request has its hash."""
    numbered()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.trace.jsonl"
        recorded = wb.record(perform, actions, to=path)
        replayed = wb.replay(perform, path, to=Path(folder) / "b.trace.jsonl")
        for trace in (recorded.trace, replayed.trace):
            copy = trace.save(Path(folder) / "copy.trace.jsonl", replace=True)
            assert copy.read_bytes() == (trace.path or path).read_bytes()
            assert all(entry.verify() is not False for entry in trace.entries)
            assert shape(wb.load(copy)) == shape(trace)


@LAW
@given(actions=SCRIPTS)
def test_both_ways_of_a_replay_give_the_same(actions: list[tuple[str, tuple[str, Any]]]) -> None:
    """A replay into a file decides about each call, one in memory takes the short way if it can:
    the lines, the reports and the output are the same."""
    numbered()
    recorded = wb.record(perform, actions)
    short = wb.replay(perform, recorded.trace)
    with tempfile.TemporaryDirectory() as folder:
        whole = wb.replay(perform, recorded.trace, to=Path(folder) / "b.trace.jsonl")
        assert written(short.trace) == written(whole.trace)
        calls = [replace(each, duration_s=None) for each in whole.calls]
    assert [replace(each, duration_s=None) for each in short.calls] == calls
    assert (short.status, short.output) == (whole.status, whole.output)


CHANGES = st.lists(st.tuples(st.integers(1, 4), TEXT), max_size=3)


@LAW
@given(
    prompts=st.lists(TEXT, min_size=1, max_size=4),
    changes=CHANGES,
    cut=st.integers(1, 5),
    ripple=st.booleans(),
    system=st.one_of(st.none(), TEXT),
)
def test_a_fork_is_made_again_from_its_recipe(
    prompts: list[str],
    changes: list[tuple[int, str]],
    cut: int,
    ripple: bool,
    system: str | None,
) -> None:
    """Parent, edits, cut and options give the same fork, but for ids and times, given the same
    live answers."""

    def agent() -> list[str]:
        said: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]
        for prompt in prompts:
            said.append({"role": "user", "content": prompt})
            said.append({"role": "assistant", "content": ask(list(said))["content"]})
            wb.write_event("said", said[-1]["content"])
        return [str(each["content"]) for each in said if each["role"] == "assistant"]

    scripted.world.answer = lambda body: {"content": f"to {str(body['messages'])[-40:]}"}
    parent = wb.record(agent).trace
    edits = parent.edit()
    for number, text in changes:
        if number <= len(prompts):
            edits = edits.reply(wb.turn(number), text=text)
    if system is not None:
        edits = edits.request(wb.turn(min(cut, len(prompts))), system=system)
    options: dict[str, Any] = {"live_from": None if ripple else wb.turn(min(cut, len(prompts) + 1))}
    fork = wb.fork(agent, parent, edits=edits, on_miss="live", **options)
    assert fork.status == "ok", (fork.error, fork.drift)
    recipe = Recipe.from_json(json.loads(json.dumps(fork.trace.recipe().to_json())))
    again = wb.rebuild(agent, recipe, parent=parent)
    assert (again.status, again.output) == (fork.status, fork.output)
    assert shape(again.trace) == shape(fork.trace)
    assert [(c.how, c.reason) for c in again.calls] == [(c.how, c.reason) for c in fork.calls]
    assert again.trace.recipe() == fork.trace.recipe()


LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
KEYS = st.integers(0, 10**6).map(lambda seed: "".join(random.Random(seed).choices(LETTERS, k=32)))  # noqa: S311 - no secret


@LAW
@given(keys=st.lists(KEYS, min_size=1, max_size=3, unique=True))
def test_redaction_matches_on_replay(keys: list[str]) -> None:
    """Whoever records a key replays with it, and the key is nowhere in the trace."""
    secrets = [f"sk-proj-{key}" for key in keys]

    def agent() -> list[str]:
        return [str(ask(f"log in with {secret}")["content"]) for secret in secrets]

    scripted.world.answer = lambda body: {"content": f"got {body['messages'][-1]['content']}"}
    recorded = wb.record(agent)
    text = str([(entry.request, entry.response) for entry in recorded.trace.entries])
    assert not any(secret in text for secret in secrets)
    assert len({entry.hash for entry in recorded.trace.entries}) == len(keys)
    replayed = wb.replay(agent, recorded.trace)
    assert replayed.status == "ok", replayed.drift
    assert shape(replayed.trace) == shape(recorded.trace)
