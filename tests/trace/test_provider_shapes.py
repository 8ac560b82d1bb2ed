"""Traces of agents on OpenAI's Responses and Anthropic's messages, beyond their payload views."""

from pathlib import Path
from typing import Any

import pytest
from provider_runs import APIS, reply, two_turns

from workbench.errors import EditError
from workbench.trace.edits import Edits, ReplyEdit, RequestEdit
from workbench.trace.payloads import view
from workbench.trace.places import turn
from workbench.trace.prices import cost_of
from workbench.trace.redaction import Redactor
from workbench.trace.redaction.streams import Stream

KEY = "sk-proj-abcDEF0123456789abcdef"
# The message with the second result, and the two that call (in one item, or in one each).
RESULT = {"openai.responses": 6, "anthropic.messages": 5}
CALLS = {"openai.responses": [3, 4], "anthropic.messages": [3]}


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    """Each of the two."""
    return str(request.param)


def only(edits: Edits) -> RequestEdit:
    """The one edit in a list."""
    (edit,) = edits
    assert isinstance(edit, RequestEdit)
    return edit


def test_a_trace_is_read_as_any_other(tmp_path: Path, api: str) -> None:
    """Turns, labels, tools of a turn, tokens, the system prompt first, and nothing found wrong."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    first, second = trace.turns
    assert (first.label, len(first.tools)) == ("lookup, lookup", 2)
    assert second.text == "At sea and at home."
    assert [m.role for m in second.messages][:2] == ["system", "user"]
    assert second.messages[-1].text == "at home"
    assert (first.usage or {})["input_tokens"] in (9, 329)
    assert list(trace.findings) == []


def test_one_result_of_two_is_replaced_in_what_is_asked(tmp_path: Path, api: str) -> None:
    """By its number; the other one stays the very same, and the pairs are whole."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    edits = trace.edit().request(turn(2), replace={RESULT[api]: "nowhere"}, system="Be brief.")
    asked = trace.turn(2).request
    new = only(edits).rewrite(api, asked)["body"]
    said, says = view(api).messages(asked["body"]), view(api).messages(new)
    assert [m.text for m in says if m.role == "tool"] == ["at sea", "nowhere"]
    assert says[0].text == "Be brief."
    same = [a.raw is b.raw for a, b in zip(said, says, strict=True)]
    assert same == [n not in (1, RESULT[api]) for n in range(1, len(same) + 1)]
    shown = edits.preview()
    assert f"message {RESULT[api]} (tool): nowhere" in shown
    assert "message 2" not in shown


def test_a_result_that_goes_alone_is_refused_with_a_way_out(tmp_path: Path, api: str) -> None:
    """A provider wants one for each call; a marked stand-in keeps the pair."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    with pytest.raises(EditError) as caught:
        trace.edit().request(turn(2), drop=[RESULT[api]])
    assert "the call 'call_b' (lookup) has no result" in str(caught.value)
    # One call of two goes alone where it is an item of its own, else both and both results.
    more = {"openai.responses": "message 4 too", "anthropic.messages": "message 3, 4 too"}
    mends = {mend.label: mend.edits for mend in caught.value.mends}
    for label in (
        f"leave out {more[api]}",
        "keep the result's message, with words that say that it was taken out",
    ):
        assert Edits(trace, mends[label]).problems() == []
    both = trace.edit().request(turn(2), drop=[*CALLS[api], RESULT[api] - 1, RESULT[api]])
    new = only(both).rewrite(api, trace.turn(2).request)["body"]
    assert [m.role for m in view(api).messages(new)] == ["system", "user"]


def test_the_system_prompt_is_no_parameter(tmp_path: Path, api: str) -> None:
    """Nor is the conversation; both have words of their own."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    name = {"openai.responses": "instructions", "anthropic.messages": "system"}[api]
    with pytest.raises(EditError, match="the system prompt is given with system="):
        trace.edit().request(turn(2), set={name: "x"})
    listed = view(api).conversation_path[-1]
    with pytest.raises(EditError, match="is no parameter"):
        trace.edit().request(turn(2), unset=[listed])
    assert only(trace.edit().request(turn(2), set={"temperature": 0})).set == {"temperature": 0}


def test_whole_items_are_taken_in_the_providers_shape(tmp_path: Path, api: str) -> None:
    """Also those that have a type and no role, such as a result."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    item: dict[str, Any] = {"type": "function_call_output", "call_id": "call_b", "output": "x"}
    if api == "anthropic.messages":
        item = {"type": "tool_result", "tool_use_id": "call_b", "content": "x"}
    edit = only(trace.edit().request(turn(2), replace={RESULT[api]: item}))
    new = view(api).messages(edit.rewrite(api, trace.turn(2).request)["body"])
    assert (new[RESULT[api] - 1].raw, new[-1].text) == (item, "x")
    with pytest.raises(EditError, match="has the role 'robot'"):
        trace.edit().request(turn(2), append=[{"role": "robot", "content": "x"}])


def test_a_changed_reply_is_served_with_its_ids(tmp_path: Path, api: str) -> None:
    """Other arguments under the same id, so that the recorded result still answers."""
    trace = two_turns(tmp_path / "a.trace.jsonl", api)
    edits = trace.edit().reply(
        turn(1), tool_calls=[("lookup", {"order": 7}), ("lookup", {"order": 102})]
    )
    (edit,) = edits
    assert isinstance(edit, ReplyEdit)
    new = view(api).reply(edit.rewrite(api, trace.turn(1).model.reply_body))
    assert [(c.id, c.arguments) for c in new.tool_calls] == [
        ("call_a", {"order": 7}), ("call_b", {"order": 102}),
    ]  # fmt: skip


def test_a_diff_names_what_was_asked_otherwise(tmp_path: Path, api: str) -> None:
    """Tools by name, the provider's own by the field that differs, messages by their number."""

    def change(body: dict[str, Any]) -> None:
        body["tools"][1]["allowed_domains"] = ["a.example"]
        body["tools"].append({**body["tools"][0], "name": "refund"})
        body["temperature"] = 0
        said = body["input"] if api == "openai.responses" else body["messages"]
        said[0] = {"role": "user", "content": "Where are they now?"}

    a = two_turns(tmp_path / "a.trace.jsonl", api)
    b = two_turns(tmp_path / "b.trace.jsonl", api, system="Be brief.", change=change)
    rows = [note for row in a.diff(b).rows for note in row.what]
    text = "\n".join(rows)
    assert "request: tool refund offered" in text
    assert "request: tool web_search: allowed_domains changed" in text
    assert "temperature: (none) → 0" in text
    assert "request: message 1 (system) changed (text)" in text
    assert "request: message 2 (user) changed (text)" in text
    assert a.diff(a).same


def test_what_it_cost_counts_cached_tokens_once(tmp_path: Path) -> None:
    """Anthropic tells cached tokens beside the input, OpenAI within it."""
    pytest.importorskip("genai_prices")
    cheap = two_turns(
        tmp_path / "a.trace.jsonl", "anthropic.messages",
        change=lambda body: body.update(model="claude-sonnet-4-20250514"),
    )  # fmt: skip
    cost = cost_of(cheap.turn(1))
    # 9 fresh at 3, 20 written at 3.75, 300 read at 0.30, 7 out at 15 dollars a million.
    assert cost is not None
    assert float(cost) == pytest.approx((9 * 3 + 20 * 3.75 + 300 * 0.3 + 7 * 15) / 1e6)


@pytest.mark.parametrize("size", [1, 3, 7, 400])
def test_a_secret_cut_through_by_events_is_one_placeholder(api: str, size: int) -> None:
    """In the text of each item for itself, wherever it is cut; the events keep their number."""
    redactor = Redactor.for_recording(salt="salt", environment={})
    body = reply(api, f"Your key is {KEY} , keep it.", calls=True)
    events = [e for e in view(api).split(body) if "delta" in e["type"] or "delta" in e]
    cut: list[Any] = []
    for event in events:
        text = _delta_text(api, event)
        parts = [text[n : n + size] for n in range(0, len(text), size)] if text else [None]
        cut += [_with_text(api, event, part) if part else event for part in parts]
    stream, out = Stream(redactor), []
    for number, event in enumerate(cut):
        out += stream.add(number, event)
    out += stream.flush()
    assert [number for number, _ in out] == list(range(len(cut)))
    said = "".join(_delta_text(api, event) or "" for _, event in out)
    assert KEY not in said
    assert said == redactor.clean(f"Your key is {KEY} , keep it.")


def _delta_text(api: str, event: dict[str, Any]) -> str | None:
    if api == "openai.responses":
        return event["delta"] if event["type"] == "response.output_text.delta" else None
    delta = event["delta"]
    return delta.get("text") if isinstance(delta, dict) else None


def _with_text(api: str, event: dict[str, Any], text: str) -> dict[str, Any]:
    if api == "openai.responses":
        return {**event, "delta": text}
    return {**event, "delta": {**event["delta"], "text": text}}


def test_secrets_of_two_items_that_stream_together_do_not_mix(api: str) -> None:
    """A key begun in one item is not ended by the text of the other."""
    redactor = Redactor.for_recording(salt="salt", environment={})
    stream, out = Stream(redactor), []
    for number, (item, text) in enumerate([(0, "sk-proj-abcDEF01"), (1, "fine "), (0, KEY[16:])]):
        if api == "openai.responses":
            event: dict[str, Any] = {"type": "response.output_text.delta", "output_index": item,
                                     "content_index": 0, "delta": text}  # fmt: skip
        else:
            event = {"type": "content_block_delta", "index": item,
                     "delta": {"type": "text_delta", "text": text}}  # fmt: skip
        out += stream.add(number, event)
    out += stream.flush()
    texts = [_delta_text(api, event) for _, event in out]
    assert texts == [redactor.clean(KEY), "fine ", ""]
