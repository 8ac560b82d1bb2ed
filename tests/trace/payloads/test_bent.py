"""Good payloads with one part bent: read as far as they go, edited, and never a crash."""

import copy
from typing import Any

import anthropic_bodies
import pytest
import responses_bodies
from hypothesis import given
from hypothesis import strategies as st
from provider_runs import APIS, request

from workbench.errors import EditError
from workbench.trace.payloads import MessageChange, check_pairs, compare, view

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2.5, "x", "", [], {}, [[]], [None], [{}], {"type": "x"}, {"type": None},
     ["x"], {"text": 1}]
)  # fmt: skip
BODIES = {"openai.responses": responses_bodies.BODY, "anthropic.messages": anthropic_bodies.BODY}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all parts of a value."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    return [path, *(each for key, item in inner for each in places(item, (*path, key)))]


def bent(value: Any, data: st.DataObject) -> Any:
    """A copy in which one part is something else."""
    path = data.draw(st.sampled_from(places(value)[1:] or [()]))
    junk = copy.deepcopy(data.draw(JUNK))
    new = copy.deepcopy(value)
    if not path:
        return junk
    holder = new
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = junk
    return new


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_a_bent_reply_is_read_cut_and_edited(api: str, data: st.DataObject) -> None:
    """Each reading gives its type, the cut reply is a list, and the new words are read back."""
    payloads = view(api)
    body = bent(data.draw(BODIES[api]), data)
    before = copy.deepcopy(body)
    reply = payloads.reply(body)
    assert isinstance(reply.text, str)
    assert isinstance(reply.reasoning, str)
    assert all(isinstance(call.raw, str) for call in reply.tool_calls)
    usage = payloads.usage(body)
    assert usage is None or usage.input_tokens is None or isinstance(usage.input_tokens, int)
    events = payloads.split(body)
    assert payloads.reply(payloads.assemble(events)).tool_calls == reply.tool_calls
    new = payloads.with_reply(body, text="new", tool_calls=[("f", {})])
    assert [call.name for call in payloads.reply(new).tool_calls] == ["f"]
    assert payloads.reply(new).text == "new"
    assert body == before


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_bent_events_are_put_together_as_far_as_they_go(api: str, data: st.DataObject) -> None:
    """One event of a stream is something else, or is missing."""
    payloads = view(api)
    events = payloads.split(data.draw(BODIES[api]))
    at = data.draw(st.integers(0, len(events) - 1))
    some = data.draw(st.booleans())
    wrong = [bent(events[at], data)] if some else []
    body = payloads.assemble([*events[:at], *wrong, *events[at + 1 :]])
    assert isinstance(payloads.reply(body).text, str)
    assert isinstance(payloads.split(body), list)


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_a_bent_request_is_read_compared_and_edited(api: str, data: st.DataObject) -> None:
    """What can't be written is refused with an EditError, and nothing else."""
    payloads = view(api)
    body = bent(request(api)["body"], data)
    before = copy.deepcopy(body)
    said = payloads.messages(body)
    assert all(isinstance(problem, str) for problem in check_pairs(said))
    assert all(change.kind == "same" for change in compare(said, said))
    assert all(isinstance(tool.name, str) for tool in payloads.tools(body))
    for place in range(len(said)):
        for change in (
            MessageChange("replace", place, text="new"),
            MessageChange("drop", place),
            MessageChange("insert", place, text="new"),
        ):
            try:
                new = payloads.with_request(body, messages=[change], model="other", system="s")
            except EditError:
                continue
            assert isinstance(payloads.messages(new), list)
    assert body == before
