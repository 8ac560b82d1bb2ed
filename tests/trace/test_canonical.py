"""What counts in a call's identity, and that the two ways of writing it agree."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UnencodableError, UsageError
from workbench.trace.canonical import (
    DEFAULT_IGNORE,
    HASH_SCHEME,
    canonical,
    digest,
    request_hash,
)
from workbench.trace.encoding import encode
from workbench.trace.jcs import TAG, dump_encoded, es6_number
from workbench.trace.pointers import parse_pointer, without
from workbench.trace.values import decode, dumps, loads

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-1e-3, 1e-3)
    | st.integers(-(10**17), 10**17).map(float)
    | st.text()
)


def json_of(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """JSON whose objects have these keys."""
    return st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=25
    )


json_values = json_of(st.text())


def reference(value: Any) -> str:
    """RFC 8785 written down as plainly as possible, to check the fast ways against."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{reference(k)}:{reference(value[k])}" for k in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(reference, value)) + "]"
    if isinstance(value, float):
        return es6_number(value)
    return json.dumps(value, ensure_ascii=False)


@given(json_of(st.text().filter(lambda key: key != TAG)))
def test_both_ways_of_writing_give_the_same_bytes(value: Any) -> None:
    """Which way a value takes through the code never shows in its hash."""
    expected = reference(value).encode()
    assert canonical(value) == expected
    assert dump_encoded(encode(value)) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_canonical_text_of_a_float_reads_back_as_that_float(value: float) -> None:
    """Two different floats never share a hash."""
    text = canonical(value).decode()
    assert float(text) == value
    assert canonical(value) == es6_number(value).encode()


@given(st.dictionaries(st.text() | st.integers() | st.none(), scalars), st.randoms())
def test_the_order_of_keys_does_not_count(value: dict[Any, Any], random: Any) -> None:
    """The same options in another order are the same call, also where keys are not text."""
    items = list(value.items())
    random.shuffle(items)
    assert canonical(dict(items)) == canonical(value)


@given(json_values)
def test_the_hash_survives_the_file(value: Any) -> None:
    """What is read back from disk has the identity that it had when it was recorded."""
    assert digest(decode(loads(dumps(encode(value))))) == digest(value)


def test_the_order_of_a_list_counts() -> None:
    """Messages in another order are another conversation."""
    assert digest(["a", "b"]) != digest(["b", "a"])
    assert digest(("a", "b")) != digest(("b", "a"))


def test_a_reordered_body_is_the_same_call() -> None:
    """A client that builds its JSON in another order still hits the recording."""
    one = {"body": {"model": "m", "temperature": 0}}
    two = {"body": {"temperature": 0, "model": "m"}}
    assert request_hash("model", "openai.chat", one) == request_hash("model", "openai.chat", two)


def test_known_digests_never_change() -> None:
    """Scheme 1 stays what it was: traces in the world depend on these exact digests."""
    assert HASH_SCHEME == 1
    assert canonical({"b": 1.0, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'.encode()
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    request = {"path": "/chat/completions", "body": {"model": "m", "stream": True, "n": 2**70}}
    assert request_hash("model", "openai.chat", request, DEFAULT_IGNORE["openai.chat"]) == (
        "5bc8b02c0e2bfbf4d96b65f07bbdcdfd549e01877d56f6c1fd1a02a305b63183"
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 1.0),
        (0, -0.0),
        (10**15, 1e15),
        ([1, {"a": 2.0}], [1.0, {"a": 2}]),
        ({1: "x"}, {1.0: "x"}),
    ],
)
def test_equal_numbers_are_equal_however_written(one: object, two: object) -> None:
    """``temperature=1`` and ``temperature=1.0`` are one request."""
    assert canonical(one) == canonical(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, True),
        (0, False),
        (0, None),
        (1, "1"),
        ("", None),
        (date(2024, 1, 2), "2024-01-02"),
        (Decimal(1), "1"),
        (Decimal(1), 1),
        (Decimal("1.0"), Decimal("1.00")),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        ((1, 2), [1, 2]),
        ({1, 2}, [1, 2]),
        ({1, 2}, frozenset({1, 2})),
        (float("nan"), None),
        (float("inf"), float("-inf")),
        (2**64, 2**64 + 1),
        (2**64, str(2**64)),
        ({1: "a"}, {"1": "a"}),
        ({1: "a", "1": "b"}, {1: "b", "1": "a"}),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ({"$wb": "bytes", "v": "YQ=="}, b"a"),
        (["a::b", "c"], ["a", "b::c"]),
        ({"a": {}}, {"a": []}),
    ],
)
def test_values_that_differ_never_share_a_hash(one: object, two: object) -> None:
    """Another type or another part of the text is another request, so no other answer is served."""
    assert canonical(one) != canonical(two)
    assert canonical({"x": [one]}) != canonical({"x": [two]})


def test_an_integer_is_written_exactly_however_large() -> None:
    """Ids of 20 and more digits do not collide as floats would."""
    assert canonical({"id": 2**64}) == b'{"id":18446744073709551616}'
    assert canonical(-(2**63) - 1) == b"-9223372036854775809"
    assert canonical(2**53 + 1) == b"9007199254740993"
    assert canonical(10**4299) == b"1" + b"0" * 4299


def test_a_value_is_only_read() -> None:
    """Hashing a request changes nothing in it, whichever way it is written."""
    plain: dict[str, Any] = {"z": 1.0, "a": [{"y": 1e300, "b": "x"}], "\ufb33": -0.0}
    tagged: dict[str, Any] = {"z": 1.0, "a": ({3, 1, 2}, b"x", {2: "b", 1: "a"})}
    for value in (plain, tagged):
        before = copy.deepcopy(value)
        canonical(value)
        request_hash("tool", None, value, ["/a/0/y", "/z"])
        assert value == before
        assert list(value) == list(before)
        assert type(value["z"]) is float


def test_the_canonical_form_is_not_what_is_stored() -> None:
    """A stored reply keeps the key order and the numbers that the server sent."""
    raw = b'{"id":1,"choices":[],"created":2.0,"part":0.25}'
    value = loads(raw)
    assert dumps(encode(value)) == raw
    assert canonical(value) == b'{"choices":[],"created":2,"id":1,"part":0.25}'


MESSAGES = [
    {"role": "user", "content": "hi"},
    {"role": "tool", "tool_call_id": "a", "content": "x"},
]
BASE = {"model": "m-a", "messages": MESSAGES, "temperature": 0}


@pytest.mark.parametrize(
    "changed",
    [
        {**BASE, "tools": [{"type": "function"}]},
        {**BASE, "num_ctx": 4096},
        {**BASE, "seed": 1},
        {**BASE, "max_tokens": 5},
        {**BASE, "response_format": {"type": "json_object"}},
        {**BASE, "model": "m-b"},
        {**BASE, "messages": [MESSAGES[0], {**MESSAGES[1], "tool_call_id": "b"}]},
        {**BASE, "messages": MESSAGES[::-1]},
        {**BASE, "temperature": None},
        {key: value for key, value in BASE.items() if key != "temperature"},
    ],
)
def test_everything_in_a_request_counts(changed: dict[str, Any]) -> None:
    """No option, known or not, is left out of the identity: absent, null and 0 are three things."""
    ignore = DEFAULT_IGNORE["openai.chat"]
    one = request_hash("model", "openai.chat", {"body": BASE}, ignore)
    assert request_hash("model", "openai.chat", {"body": changed}, ignore) != one


def test_absent_null_and_zero_are_three_identities() -> None:
    """An option that was not given is not one that was given as null or 0."""
    bodies: list[dict[str, Any]] = [{}, {"temperature": None}, {"temperature": 0}]
    assert len({request_hash("model", None, {"body": body}) for body in bodies}) == 3


def test_kind_and_api_count() -> None:
    """A tool's call and a model's call with equal content are two calls."""
    hashes = {request_hash(k, a, {}) for k in ("model", "tool") for a in ("a", "b", None)}
    assert len(hashes) == 6
    assert all(len(h) == 64 and h == h.lower() for h in hashes)


@pytest.mark.parametrize("api", ["openai.chat", "openai.responses", "anthropic.messages"])
def test_how_an_answer_travels_does_not_count(api: str) -> None:
    """A recording made with streaming replays without it."""
    rules = DEFAULT_IGNORE[api]
    one = request_hash("model", api, {"body": {"model": "m", "stream": True}}, rules)
    assert request_hash("model", api, {"body": {"model": "m"}}, rules) == one
    assert request_hash("model", api, {"body": {"model": "m", "stream": True}}) != one
    if api != "anthropic.messages":
        options = {"body": {"model": "m", "stream_options": {"include_usage": True}}}
        assert request_hash("model", api, options, rules) == one


def test_default_rules_name_nothing_else() -> None:
    """A default rule can never hide a difference in what was asked."""
    assert set().union(*DEFAULT_IGNORE.values()) == {"/body/stream", "/body/stream_options"}


REQUEST = {
    "body": {
        "messages": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"id": 3, "text": "c"}],
        "a/b": 1,
        "m~n": 2,
        "": 3,
        "pair": (1, 2, 3),
    },
    "query": {"k": "v"},
}


@pytest.mark.parametrize(
    ("rules", "change"),
    [
        (["/query"], lambda r: r.pop("query")),
        (["/body/a~1b"], lambda r: r["body"].pop("a/b")),
        (["/body/m~0n"], lambda r: r["body"].pop("m~n")),
        (["/body/"], lambda r: r["body"].pop("")),
        (["/body/messages/1"], lambda r: r["body"]["messages"].pop(1)),
        (
            ["/body/messages/0", "/body/messages/1"],
            lambda r: r["body"]["messages"].__delitem__(slice(2)),
        ),
        (["/body/messages/*/id"], lambda r: [m.pop("id") for m in r["body"]["messages"]]),
        (["/body/messages/1/id"], lambda r: r["body"]["messages"][1].pop("id")),
        (["/body/messages/*"], lambda r: r["body"]["messages"].clear()),
        (["/*"], lambda r: r.clear()),
        (["/body/pair/0"], lambda r: r["body"].update(pair=(2, 3))),
        (["/body", "/body/messages/0"], lambda r: r.pop("body")),
        (["/body/messages/0", "/body"], lambda r: r.pop("body")),
        (["/*/k", "/query/x"], lambda r: r["query"].pop("k")),
    ],
)
def test_an_ignore_rule_leaves_out_what_it_names(
    rules: list[str], change: Callable[[Any], object]
) -> None:
    """A JSON pointer names exactly one part, `*` every one, and indexes are those before."""
    expected = copy.deepcopy(REQUEST)
    change(expected)
    before = copy.deepcopy(REQUEST)
    assert without(REQUEST, rules) == expected
    assert request_hash("t", None, REQUEST, rules) == request_hash("t", None, expected)
    assert before == REQUEST


@pytest.mark.parametrize(
    "rule",
    ["/nothing", "/body/messages/9", "/body/messages/-", "/body/a~1b/x", "/body/messages/01"],
)
def test_a_rule_that_names_nothing_has_no_effect(rule: str) -> None:
    """One set of rules serves requests that lack some of the parts."""
    assert without(REQUEST, [rule]) is REQUEST


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("body/stream", "is not a JSON pointer: it must begin with '/'"),
        ("/body/~2", "write '~' as '~0' and '/' as '~1'"),
        ("/body/~", "write '~' as '~0' and '/' as '~1'"),
        ("", "names the whole request"),
        (7, "an ignore rule is a text such as '/body/stream', not 7"),
    ],
)
def test_a_bad_rule_is_refused_before_anything_is_hashed(rule: Any, message: str) -> None:
    """A typing error in a rule is not a rule that quietly names nothing."""
    with pytest.raises(UsageError, match=message):
        request_hash("model", None, {"body": {}}, [rule])
    with pytest.raises(UsageError, match=message):
        parse_pointer(rule)


def test_a_single_rule_is_not_taken_for_a_list_of_letters() -> None:
    """``ignore="/body/x"`` means that one rule."""
    request = {"body": {"x": 1}}
    assert request_hash("m", None, request, "/body/x") == request_hash("m", None, {"body": {}})


def test_a_mutable_request_is_read_at_once() -> None:
    """What the agent appends to its messages later does not change the identity of this call."""
    messages = [{"role": "user", "content": "a"}]
    value = {"body": {"messages": messages}}
    first = request_hash("model", None, value)
    messages.append({"role": "user", "content": "b"})
    assert request_hash("model", None, value) != first
    messages.pop()
    assert request_hash("model", None, value) == first


def test_a_value_that_cannot_be_kept_cannot_be_hashed() -> None:
    """An object is refused, with its place, rather than hashed by its address or its text."""
    with pytest.raises(UnencodableError) as caught:
        request_hash("tool", None, {"args": [1, object()]})
    assert caught.value.path == "$.request.args[1]"


HASH_IN_A_PROCESS = """
from datetime import date
from workbench.trace.canonical import digest
tags = {"a", "b", "c", "delta", (1, "x"), 3, None, b"z"}
print(digest({"tags": tags, "deep": [frozenset({frozenset({"p", "q"}), "r"})],
              "map": {"k": {"s", "t"}, 1: date(2024, 1, 2)}}))
"""


def test_sets_hash_the_same_in_every_process() -> None:
    """The random order of a set in each process never makes a replay miss."""
    found = set()
    for seed in ("0", "1", "2", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = [sys.executable, "-c", HASH_IN_A_PROCESS]
        done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout.strip())
    assert len(found) == 1
    assert len(found.pop()) == 64


@given(st.sets(st.integers() | st.floats(allow_nan=False) | st.text()))
def test_equal_sets_hash_the_same(value: set[Any]) -> None:
    """The order in which a set was filled does not count."""
    backwards: set[Any] = set()
    backwards.update(reversed(list(value)))
    assert canonical(backwards) == canonical(value)
    assert dumps(encode(backwards)) == dumps(encode(value))
