"""Tool calls through each SDK: none is lost or mixed up; an edit sends what a provider takes."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from askers import ASKERS, CHAT, GENERATE, MESSAGES, RESPONSES, Asker
from loopback import Server
from spoken import Said, body, put_speaker, say, signature

import workbench as wb
from workbench import EditError, entry, turn
from workbench.trace.payloads import view

TWICE: Said = [
    ("call", "call_1", "search", '{"word": "x"}'),
    ("call", "call_2", "search", '{"word": "y"}'),
]
THINKING: Said = [("think", "I look it up."), ("call", "call_1", "search", '{"word": "x"}')]
DONE: Said = [("text", "Done.")]


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


class Search:
    """A tool that counts how often it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.tools: dict[str, Callable[..., Any]] = {
            "search": wb.tool(effect="read", name="search")(self.search)
        }

    def search(self, word: str) -> str:
        """Finds what is known of a word."""
        self.ran.append(word)
        return f"found {word}"


def tools_of(trace: wb.Trace) -> list[Any]:
    """Name, arguments and result of each tool entry."""
    entries = [each for each in trace.entries if each.kind == "tool"]
    return [(each.name, each.arguments, each.result) for each in entries]


def test_two_calls_of_one_tool_stay_two(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are in the reply and in the trace, each with its id, arguments and result; the turn
    asked for both; a replay answers both and runs none; an edited result is the second one's."""
    say(monkeypatch, asker.api, TWICE, DONE)
    search = Search()

    def agent() -> str:
        return asker.agent(speaker.url, search.tools)

    recorded = wb.record(agent)
    assert (recorded.status, recorded.output) == ("ok", "Done."), recorded.error
    trace = recorded.trace
    assert [c.arguments for c in trace.turn(1).model.tool_calls] == [{"word": "x"}, {"word": "y"}]
    assert [c.id for c in trace.turn(1).model.tool_calls] == ["call_1", "call_2"]
    assert tools_of(trace) == [
        ("search", {"word": "x"}, "found x"),
        ("search", {"word": "y"}, "found y"),
    ]
    assert [each.asked_by for each in trace.turn(1).tools] == [trace.turn(1).model.id] * 2
    ran = list(search.ran)
    replayed = wb.replay(agent, trace)
    assert (replayed.status, replayed.output, search.ran) == ("ok", "Done.", ran)
    edits = trace.edit().tool_result(turn(1), "found nothing", tool="search", nth=2)
    forked = wb.fork(agent, trace, edits=edits, on_miss="live")
    assert forked.status == "ok"
    told = [m.text for m in forked.trace.turn(2).model.messages if m.role == "tool"]
    assert ["found x" in told[0], "found nothing" in told[1]] == [True, True]


def test_an_id_that_is_used_again_is_another_call(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider that says ``call_0`` in every turn: both calls are made, recorded and answered,
    each with its own arguments; an edit of the second turn's result leaves the first one's."""
    first: Said = [("call", "call_0", "search", '{"word": "one"}')]
    second: Said = [("call", "call_0", "search", '{"word": "two"}')]
    say(monkeypatch, asker.api, first, second, DONE)
    search = Search()

    def agent() -> str:
        return asker.agent(speaker.url, search.tools)

    recorded = wb.record(agent)
    assert (recorded.status, search.ran) == ("ok", ["one", "two"]), recorded.error
    trace = recorded.trace
    assert [call.id for n in (1, 2) for call in trace.turn(n).model.tool_calls] == ["call_0"] * 2
    asked = [trace.turn(number).tools[0].arguments for number in (1, 2)]
    assert asked == [{"word": "one"}, {"word": "two"}]
    assert wb.replay(agent, trace).status == "ok"
    edits = trace.edit().tool_result(turn(2), "nothing")
    before = len(speaker.seen)
    forked = wb.fork(agent, trace, edits=edits, on_miss="live")
    assert forked.status == "ok"
    assert len(speaker.seen) == before + 1
    told = [m.text for m in forked.trace.turn(3).model.messages if m.role == "tool"]
    assert ["found one" in told[0], "nothing" in told[1]] == [True, True]


def test_a_result_without_an_id_is_not_given_to_somebody(
    speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two calls of one name without ids, and their results swapped by the agent: the trace keeps
    them as they were sent, says nothing of whose they are, and the tools keep their own."""
    say(monkeypatch, GENERATE.api, [(*part[:1], None, *part[2:]) for part in TWICE], DONE)
    search = Search()

    def agent() -> str:
        said = GENERATE.user("hello")
        with GENERATE.open(speaker.url) as made:
            answer = GENERATE.send(made, "ok", said, search.tools)
            done = [
                (i, name, search.tools[name](**given)) for i, name, given in GENERATE.calls(answer)
            ]
            said += [*GENERATE.reply(answer), *GENERATE.results(done[::-1])]
            return GENERATE.text(GENERATE.send(made, "ok", said, search.tools))

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    trace = recorded.trace
    assert [call.id for call in trace.turn(1).model.tool_calls] == [None, None]
    assert tools_of(trace) == [
        ("search", {"word": "x"}, "found x"),
        ("search", {"word": "y"}, "found y"),
    ]
    told = [m for m in trace.turn(2).model.messages if m.role == "tool"]
    assert ["found y" in told[0].text, "found x" in told[1].text] == [True, True]
    assert [m.tool_call_id for m in told] == [None, None]
    assert wb.replay(agent, trace).output == "Done."


@pytest.mark.parametrize("asker", [CHAT, RESPONSES, MESSAGES], ids=str)
def test_a_fork_never_sends_a_call_without_its_result(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropping a recorded result is refused with what would mend it; each mend makes a fork whose
    live requests a strict provider takes: no call without a result, no result without a call."""
    refused: list[Any] = []

    def strict(_path: str, asked: Any) -> Any:
        said = view(asker.api).messages(asked)
        calls = [call.id for each in said for call in each.tool_calls]
        results = [each.tool_call_id for each in said if each.role == "tool"]
        refused.extend([] if Counter(calls) == Counter(results) else [asked])
        return body(asker.api, DONE if any(each.tool_calls for each in said) else TWICE)

    put_speaker(monkeypatch, asker.api, reply=strict)
    search = Search()

    def agent() -> str:
        return asker.agent(speaker.url, search.tools)

    trace = wb.record(agent).trace
    assert refused == []
    tool = trace.turn(1).tools[0].id
    with pytest.raises(EditError, match="would have no result") as found:
        trace.edit().drop(entry(tool))
    assert len(found.value.mends) >= 2
    for mend in found.value.mends[:2]:
        edits = trace.edit().mend(mend)
        forked = wb.fork(agent, trace, edits=edits, on_miss="live", tools_after="allow")
        assert forked.status == "ok", forked.error or forked.drift
        assert forked.output == "Done."
    assert refused == []


@pytest.mark.parametrize("asker", [RESPONSES, MESSAGES], ids=str)
def test_signed_reasoning_is_sent_as_it_came_or_not_at_all(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork that goes on live sends the signature byte for byte; where the reply that it was
    signed with is edited, or another model is asked, it is left out, and the preview says so. The
    recorded original stays."""
    say(monkeypatch, asker.api, THINKING, DONE)
    search = Search()

    def agent() -> str:
        return asker.agent(speaker.url, search.tools)

    trace = wb.record(agent).trace
    original = trace._read_all()

    def sent(edits: Any, **how: Any) -> str:
        before = len(speaker.seen)
        forked = wb.fork(agent, trace, edits=edits, tools_after="allow", **how)
        assert (forked.status, forked.output) == ("ok", "Done."), forked.error or forked.drift
        (asked,) = speaker.seen[before:]
        return json.dumps(asked.body)

    assert signature(0) in sent(None, live_from=turn(2))
    other_words = trace.edit().reply(turn(1), tool_calls=[("search", {"word": "z"})])
    other_model = trace.edit().request(turn(2), model="another")
    for edits in (other_words, other_model):
        asked = sent(edits, on_miss="live")
        assert signature(0) not in asked
        assert "I look it up." not in asked
        assert "reasoning" in edits.preview()
    assert trace._read_all() == original
    assert signature(0) in json.dumps(trace.turn(1).model.reply_body)
    assert signature(0) in json.dumps(trace.turn(2).model.request)


def test_what_a_program_says_beside_its_answer_is_kept_apart(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool that runs a program gives output, errors and exit code as three things, and all of
    them come back; one that failed is a finding, the worse if the agent wrote after it."""
    calls: Said = [("call", "call_1", "run", '{"code": 3}'), ("call", "call_2", "pay", "{}")]
    say(monkeypatch, asker.api, calls, DONE)
    runs: list[int] = []

    @wb.tool(effect="read")
    def run(code: int) -> dict[str, Any]:
        runs.append(code)
        text = "import sys; print('{\"n\": 1}'); print('W: old plugin', file=sys.stderr); "
        found = subprocess.run(
            [sys.executable, "-I", "-c", f"{text}sys.exit({code})"],
            capture_output=True, check=False, text=True,
        )  # fmt: skip
        return {"stdout": found.stdout, "stderr": found.stderr, "exit_code": found.returncode}

    @wb.tool(effect="write")
    def pay() -> str:
        return "paid"

    recorded = wb.record(asker.agent, speaker.url, {"run": run, "pay": pay})
    assert recorded.status == "ok", recorded.error
    failed = recorded.trace.turn(1).tools[0]
    assert failed.result == {"stdout": '{"n": 1}\n', "stderr": "W: old plugin\n", "exit_code": 3}
    top = recorded.trace.findings[0]
    assert (top.kind, top.entry) == ("ignored_error", failed.id)
    assert top.text == "tool error ignored: run failed (exit code 3: W: old plugin), then pay ran"
    replayed = wb.replay(asker.agent, recorded.trace, speaker.url, {"run": run, "pay": pay})
    assert (replayed.status, runs) == ("ok", [3])
    assert replayed.trace.turn(1).tools[0].result == failed.result


def test_a_tool_s_failure_that_the_model_is_told_of_is_a_finding(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage that a tool raises is no output: it is an error in the trace, raised again in a
    replay and told to the model in the same words."""
    say(monkeypatch, asker.api, TWICE[:1], DONE)
    down = [True]

    @wb.tool(effect="read")
    def search(word: str) -> str:
        if down[0]:
            raise RuntimeError(f"503 for {word}")
        return "found"

    recorded = wb.record(asker.agent, speaker.url, {"search": search})
    assert (recorded.status, recorded.output) == ("ok", "Done."), recorded.error
    (failed,) = recorded.trace.turn(1).tools
    assert failed.error is not None
    assert (failed.error.type, failed.error.message) == ("RuntimeError", "503 for x")
    assert [each.kind for each in recorded.trace.findings] == ["tool_error"]
    told = [m.text for m in recorded.trace.turn(2).model.messages if m.role == "tool"]
    assert "failed: 503 for x" in told[0]
    down[0] = False
    replayed = wb.replay(asker.agent, recorded.trace, speaker.url, {"search": search})
    assert (replayed.status, replayed.output) == ("ok", "Done.")
