"""Recording and replaying through the public calls, with a scripted model at the seam."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from scripted import HttpStatus, World, aask, ask

import workbench as wb


def chat(question: str, turns: int = 3) -> list[str]:
    """An agent that keeps a conversation going."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    said = []
    for number in range(turns):
        messages.append({"role": "user", "content": f"{question} {number}"})
        reply = ask(messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        said.append(reply["content"])
    return said


def test_a_replay_gives_the_same_output_and_touches_nothing(world: World) -> None:
    """The whole promise in one line: same output, no live call, every answer from the trace."""
    recorded = wb.record(chat, "hello")
    assert len(world.ran) == 3
    replayed = wb.replay(chat, recorded.trace)
    assert replayed.status == "ok"
    assert replayed.output == recorded.output == ["re: hello 0", "re: hello 1", "re: hello 2"]
    assert len(world.ran) == 3
    assert [(c.how, c.reason) for c in replayed.calls] == [("replayed", "hit")] * 3


def test_the_input_of_a_recording_is_used_again_unless_another_is_given(world: World) -> None:
    """Arguments come from the trace; others given by hand count as a change and drift."""
    recorded = wb.record(chat, "hello", turns=2)
    assert wb.replay(chat, recorded.trace).output == recorded.output
    drifted = wb.replay(chat, recorded.trace, "goodbye", turns=2)
    assert drifted.status == "drifted"


def test_a_changed_word_of_the_system_prompt_is_named(world: World) -> None:
    """A miss says which message changed, shows both wordings and what can be done."""

    def agent(prompt: str) -> str:
        said = ask(
            [
                {"role": "system", "content": f"You are a clerk. {prompt} Be polite to everybody."},
                {"role": "user", "content": "Order 101 is broken"},
            ]
        )
        return str(said["content"])

    recorded = wb.record(agent, "Refund the total once.")
    drifted = wb.replay(agent, recorded.trace, "Refund the total.")
    assert drifted.status == "drifted"
    assert drifted.error is None
    text = str(drifted.drift).splitlines()
    assert text[0].startswith("drift at turn 1 · model call · scripted.py:")
    assert text[1] == "  recorded  You are a clerk. Refund the total once. Be polite to everybody."
    assert text[2].startswith(
        "  now       You are a clerk. Refund the total. Be polite to everybody."
    )
    assert "message 1 (system), 1 word dropped" in text[2]
    assert "the same: model" in text[3]
    assert text[-1] == "  ignore it:       --ignore workbench:/body/messages/0"
    assert len(world.ran) == 1


def test_an_ignore_rule_lets_a_change_pass() -> None:
    """What the miss offers works: with the rule the changed message no longer counts."""

    def agent(prompt: str) -> Any:
        return ask([{"role": "system", "content": prompt}, {"role": "user", "content": "x"}])

    recorded = wb.record(agent, "today is Monday")
    assert wb.replay(agent, recorded.trace, "today is Tuesday").status == "drifted"
    rule = {"workbench": ["/body/messages/0"]}
    passed = wb.replay(agent, recorded.trace, "today is Tuesday", ignore=rule)
    assert passed.status == "ok"
    assert passed.output == recorded.output


def test_identical_requests_are_answered_in_recorded_order(world: World) -> None:
    """Polling works: pending, pending, done come back in that order, and a fourth is a miss."""
    answers = iter(["pending", "pending", "done"])
    world.answer = lambda _: {"content": next(answers)}

    def poll(times: int) -> list[str]:
        return [ask("ready?")["content"] for _ in range(times)]

    recorded = wb.record(poll, 3)
    assert wb.replay(poll, recorded.trace).output == ["pending", "pending", "done"]
    more = wb.replay(poll, recorded.trace, 4)
    assert more.status == "drifted"
    assert "was recorded 3 times, and served: this is one more (3 of 3 used)" in str(more.drift)


def test_calls_that_are_never_made_are_listed() -> None:
    """A replay that leaves recorded calls over fails, naming them; so does one that makes none."""
    recorded = wb.record(chat, "hello")
    less = wb.replay(chat, recorded.trace, "hello", turns=1)
    assert less.status == "drifted"
    assert "2 recorded calls were never made" in str(less.drift)
    assert [entry.id for entry in less.leftover] == ["1-2", "1-3"]
    nothing = wb.replay(lambda *_, **__: None, recorded.trace)
    assert nothing.status == "drifted"
    assert "3 recorded calls were never made" in str(nothing.drift)


def test_an_agent_that_swallows_a_drift_still_drifted(world: World) -> None:
    """The first drift sticks: swallowing it, retrying, going on: nothing more is served."""

    def stubborn(word: str) -> str:
        for text in (word, "second", "third"):
            try:
                ask(text)
            except Exception:
                continue
        return "all fine"

    recorded = wb.record(stubborn, "first")
    result = wb.replay(stubborn, recorded.trace, "other")
    assert result.status == "drifted"
    assert result.output == "all fine"
    assert result.calls == []
    with pytest.raises(wb.DriftError, match="drift at turn 1"):
        result.raise_for_drift()


def test_the_agents_own_failure_is_not_drift() -> None:
    """An agent that raises after replaying everything failed; the replay itself fitted."""

    def agent(broken: bool) -> str:
        said = str(ask("hello")["content"])
        if broken:
            raise ValueError("no such order")
        return said

    recorded = wb.record(agent, True)
    assert recorded.status == "failed"
    assert recorded.trace.status == "failed"
    assert str(recorded.error) == "no such order"
    again = wb.replay(agent, recorded.trace)
    assert (again.status, again.drift) == ("failed", None)
    assert isinstance(again.error, ValueError)


def test_gathered_calls_replayed_in_the_other_order_get_their_own_replies(world: World) -> None:
    """Two calls at once never get each other's replies, whichever begins first."""

    async def agent(order: list[str]) -> list[str]:
        replies = await asyncio.gather(*(aask(each) for each in order))
        return [reply["content"] for reply in replies]

    recorded = wb.record(agent, ["cats", "dogs"])
    swapped = wb.replay(agent, recorded.trace, ["dogs", "cats"])
    assert swapped.status == "ok"
    assert swapped.output == ["re: dogs", "re: cats"]
    assert len(world.ran) == 2


def test_a_thread_pool_without_context_is_recorded_and_replayed(world: World) -> None:
    """Threads that a bare pool made belong to the one open session: nothing is missed."""

    def agent() -> list[str]:
        with ThreadPoolExecutor(5) as pool:
            replies = pool.map(ask, [f"prompt {n}" for n in range(20)])
            return [reply["content"] for reply in replies]

    recorded = wb.record(agent)
    assert len(recorded.calls) == 20
    again = wb.replay(agent, recorded.trace)
    assert again.output == [f"re: prompt {n}" for n in range(20)]
    assert len(world.ran) == 20


def test_a_thread_whose_session_cannot_be_told_is_refused() -> None:
    """With two sessions open, a call from a thread that none of them began is an error, not a
    guess."""
    caught: list[BaseException] = []
    go = threading.Event()

    def lost() -> None:
        go.wait(10)
        try:
            ask("whose?")
        except wb.UsageError as error:
            caught.append(error)

    thread = threading.Thread(target=lost)
    thread.start()
    with wb.recording(), wb.recording():
        go.set()
        thread.join()
    assert "2 sessions are open and its thread has no context" in str(caught[0])


def test_the_request_is_a_snapshot(world: World) -> None:
    """What the agent does to its messages later changes neither the entry nor its hash."""

    def agent() -> None:
        messages = [{"role": "user", "content": "one"}]
        ask(messages)
        messages.append({"role": "user", "content": "two"})
        messages[0]["content"] = "changed"

    recorded = wb.record(agent)
    assert recorded.trace.models()[0].body["messages"] == [{"role": "user", "content": "one"}]
    assert wb.replay(agent, recorded.trace).status == "ok"


def test_recorded_errors_are_raised_again_and_consumed(world: World) -> None:
    """A real 503 in the recording is an entry: it fails the replay's call, the retry succeeds."""
    answers: list[Any] = [HttpStatus(503), {"content": "at last"}]
    world.answer = lambda _: answers.pop(0)

    def agent() -> str:
        for _ in range(3):
            try:
                return str(ask("hello")["content"])
            except HttpStatus as error:
                assert error.status == 503
        return "gave up"

    recorded = wb.record(agent)
    assert recorded.output == "at last"
    assert [entry.attempt for entry in recorded.trace.models()] == [1, 2]
    assert len(recorded.trace.turns) == 1
    again = wb.replay(agent, recorded.trace)
    assert (again.status, again.output) == ("ok", "at last")
    assert [call.turn for call in again.calls] == [1, 1]


def test_lenient_replay_answers_what_it_can_and_says_so(world: World) -> None:
    """A changed request gets its recorded answer, a missing one a placeholder, with notices."""
    recorded = wb.record(chat, "hello", turns=2)
    lenient = wb.replay(chat, recorded.trace, "bye", turns=3, on_miss="placeholder")
    assert lenient.status == "ok"
    assert lenient.output == ["re: hello 0", "re: hello 1", "Mock response"]
    assert len(lenient.notices) == 3
    assert "message 2 (user): hello 0 became bye 0" in lenient.notices[0]
    assert "1-1 was served anyway" in lenient.notices[0]
    assert "a placeholder was served" in lenient.notices[2]
    assert len(world.ran) == 2


def test_a_choice_that_is_none_is_refused_with_the_valid_ones() -> None:
    """An unknown option value names what is valid."""
    recorded = wb.record(chat, "hello")
    with pytest.raises(wb.UsageError, match="on_miss='never': choose one of 'fail', 'live'"):
        wb.replay(chat, recorded.trace, on_miss="never")  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "status"), [(0, "ok"), (None, "ok"), (3, "failed")])
def test_an_agent_may_end_itself(code: int | None, status: str) -> None:
    """sys.exit() in an agent ends the run, not the process that records it."""

    def main() -> None:
        ask("hello")
        sys.exit(code)

    recorded = wb.record(main)
    assert recorded.status == recorded.trace.status == status
    assert wb.replay(main, recorded.trace).status == status


def test_arguments_that_the_agent_does_not_take_are_refused_first(tmp_path: Path) -> None:
    """A misspelt option or a missing input is an error of the call, and leaves no file behind."""
    path = tmp_path / "never.trace.jsonl"
    with pytest.raises(
        wb.UsageError, match=r"unexpected keyword argument 'tag'; did you mean tags=?"
    ):
        wb.record(chat, "hello", to=path, tag=["x"])
    with pytest.raises(wb.UsageError, match=r"missing a required argument: 'question'"):
        wb.record(chat, to=path)
    assert not path.exists()
    with wb.recording(path):
        ask("hello 0")
    with pytest.raises(wb.UsageError, match="cannot be called with no arguments"):
        wb.replay(chat, path)


def test_an_async_agent_in_a_running_loop_is_told_of_the_awaitable_form() -> None:
    """In a notebook the blocking form of an async agent says what to write instead."""

    async def agent() -> str:
        return str((await aask("hi"))["content"])

    async def cell() -> wb.RunResult:
        with pytest.raises(wb.UsageError, match=r"await workbench\.areplay"):
            wb.record(agent)
        return await wb.arecord(agent)

    recorded = asyncio.run(cell())
    assert recorded.output == "re: hi"
    assert asyncio.run(wb.areplay(agent, recorded.trace)).output == "re: hi"


def test_a_block_is_recorded_and_replayed(tmp_path: Path, world: World) -> None:
    """The context forms: an agent that knows nothing of us, its trace readable while it runs."""
    path = tmp_path / "block.trace.jsonl"
    with wb.recording(path, name="block", tags=["staging"]) as run:
        ask("one")
        assert len(run.trace.turns) == 1
        ask("two")
    assert run.trace.turns[-1].text == "re: two"
    assert run.trace.header.tags == ["staging"]
    with wb.replaying(path) as again:
        assert ask("one")["content"] == "re: one"
        ask("two")
    assert again.result.status == "ok"
    with pytest.raises(wb.DriftError, match="1 recorded call was never made"), wb.replaying(path):
        ask("one")
    assert len(world.ran) == 2


def test_an_existing_trace_is_not_replaced_unasked(tmp_path: Path) -> None:
    """Recording onto a trace is refused, and changes nothing; when asked, it replaces it."""
    path = tmp_path / "kept.trace.jsonl"
    wb.record(chat, "hello", to=path)
    before = path.read_bytes()
    with pytest.raises(wb.TraceError, match="replace=True"):
        wb.record(chat, "other", to=path)
    assert path.read_bytes() == before
    wb.record(chat, "other", to=path, replace=True)
    assert wb.load(path).turns[0].text == "re: other 0"


def test_steps_separate_equal_calls(world: World) -> None:
    """The same request in two steps is answered by its own step, also in the other order."""
    world.answer = lambda body: {"content": f"answer {len(world.ran)}"}

    def agent(order: list[str]) -> dict[str, str]:
        said = {}
        for name in order:
            with wb.step(name):
                said[name] = ask("the same")["content"]
        return said

    recorded = wb.record(agent, ["plan", "write"])
    assert recorded.output == {"plan": "answer 1", "write": "answer 2"}
    other = wb.replay(agent, recorded.trace, ["write", "plan"])
    assert other.output == {"write": "answer 2", "plan": "answer 1"}


def test_a_cancelled_run_ends_at_its_next_call(world: World) -> None:
    """Cancelling raises at the next seam what no `except Exception` eats; the trace stays."""
    controller = wb_controller()

    def agent() -> str:
        for number in range(100):
            try:
                ask(f"call {number}")
            except Exception:
                continue
            if number == 4:
                controller.cancel()
        return "never"

    result = wb.record(agent, controller=controller)
    assert result.status == "cancelled"
    assert isinstance(result.error, wb.RunCancelled)
    assert len(result.trace.turns) == 5
    assert result.trace.status == "cancelled"


def wb_controller() -> Any:
    """A controller as a front end has one."""
    from workbench.seam.result import Controller

    return Controller()
