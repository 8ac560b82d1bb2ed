"""Middleware of the agent's own client: it works as ever, and a replay gives what it gave."""

import asyncio
from typing import Any

import pytest
from loopback import Server
from sdk_cases import KEY, no_network
from sdk_seen import differences, see
from ways_anthropic import async_client, client

import workbench
from workbench.faults import HttpError

anthropic: Any = pytest.importorskip("anthropic")
if not hasattr(anthropic, "Middleware"):
    pytest.skip("this release of the SDK has no middleware", allow_module_level=True)

ASKED: Any = {"max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}
log: list[Any] = []


class BudgetError(Exception):
    """What an agent's own middleware may raise."""


class Guard(anthropic.Middleware):  # type: ignore[misc]
    """Asks again, answers by itself, changes answers, refuses: as the model's name says."""

    def handle(self, request: Any, call_next: Any) -> Any:
        model = self._model(request)
        if model == "own":
            return anthropic.types.Message.construct(**OWN)
        answer = call_next(request)
        log.append((model, answer.status_code))
        if model == "again":
            return call_next(request.copy(body={**request.options.json_data, "model": "other"}))
        if model == "broke":
            raise BudgetError("ten cents", 10)
        return answer

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        model = self._model(request)
        if model == "own":
            return anthropic.types.Message.construct(**OWN)
        answer = await call_next(request)
        log.append((model, answer.status_code))
        if model == "again":
            body = {**request.options.json_data, "model": "other"}
            return await call_next(request.copy(body=body))
        if model == "broke":
            raise BudgetError("ten cents", 10)
        return answer

    @staticmethod
    def _model(request: Any) -> str:
        return str(request.options.json_data["model"])


OWN: Any = {
    "id": "msg_own",
    "type": "message",
    "role": "assistant",
    "model": "cache",
    "content": [anthropic.types.TextBlock.construct(type="text", text="remembered")],
    "stop_reason": "end_turn",
    "usage": anthropic.types.Usage.construct(input_tokens=0, output_tokens=0),
}


def ask(url: str, model: str, *, stream: bool) -> Any:
    """What agent code gets."""
    with client(url, KEY, None).with_middleware(Guard()) as made:
        try:
            found = made.messages.create(model=model, stream=stream, **ASKED)
            return [see(event) for event in found] if stream else see(found)
        except Exception as error:
            return see(error)


def aask(url: str, model: str, *, stream: bool) -> Any:
    """The same from async code."""

    async def go() -> Any:
        async with async_client(url, KEY, None).with_middleware(Guard()) as made:
            try:
                found: Any = await made.messages.create(model=model, stream=stream, **ASKED)
                return [see(event) async for event in found] if stream else see(found)
            except Exception as error:
                return see(error)

    return asyncio.run(go())


CASES = [
    ("ok", False, 1),
    ("ok", True, 1),
    ("again", False, 2),
    ("again", True, 2),
    ("500,ok", False, 2),
    ("429", False, 3),
    ("429", True, 3),
    ("own", False, 0),
    ("broke", False, 1),
]


@pytest.mark.parametrize("way", [ask, aask])
@pytest.mark.parametrize(("model", "stream", "requests"), CASES)
def test_what_middleware_made_of_an_answer_is_what_a_replay_gives(
    speaker: Server, way: Any, model: str, stream: bool, requests: int
) -> None:
    """It runs once per try, may ask twice, answer by itself or raise; the agent gets the same
    in a replay, where nothing is asked and so no middleware runs."""
    bare = way(speaker.url, model, stream=stream)
    seen = list(log)
    speaker.rewind()
    log.clear()
    with workbench.recording() as recorded:
        live = way(speaker.url, model, stream=stream)
    assert differences(bare, live) == []
    assert log == seen
    assert len(speaker.seen) == 2 * requests
    (entry,) = recorded.trace.entries
    assert (entry.api, entry.model) == ("anthropic.messages", model)
    speaker.stop()
    log.clear()

    with no_network() as tried, workbench.replaying(recorded.trace) as replayed:
        again = way(speaker.url, model, stream=stream)
    assert differences(live, again) == []
    assert (tried, log, replayed.result.status) == ([], [], "ok")


@pytest.mark.parametrize("way", [ask, aask])
def test_middleware_sees_the_faults_below_the_retries(speaker: Server, way: Any) -> None:
    """Each failing try passes it, as a real one does, and so does what comes after."""
    with workbench.recording() as recorded:
        live = way(speaker.url, "ok", stream=False)
    speaker.stop()
    log.clear()
    fault = HttpError(529).at(workbench.turn(1), layer="below", times=2)
    with workbench.replaying(recorded.trace, faults=[fault]) as replayed:
        again = way(speaker.url, "ok", stream=False)
    assert differences(live, again) == []
    assert log == [("ok", 529), ("ok", 529), ("ok", 200)]
    assert replayed.result.fired


@pytest.fixture(autouse=True)
def _empty() -> None:
    log.clear()
