"""Laws of redaction, for any value."""

import copy
import json
import re
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from workbench.trace.redaction import PLACEHOLDER, Redactor, Rule, placeholders
from workbench.trace.redaction.streams import Stream
from workbench.trace.values import decode, dumps, encode

KEY = "sk-proj-abcDEF0123456789abcdef"
ENVIRONMENT = {"SHOP_TOKEN": "envsecretvalue", "DB_PASSWORD": 'pa"ss\\wört'}
RULE = Rule.pattern("ticket", r"TCK-\d+")


def redactor(*rules: Rule) -> Redactor:
    """One with a salt and an environment of the test's own."""
    return Redactor.for_recording(rules or True, salt="salt", environment=ENVIRONMENT)


SECRET_NAMES = st.sampled_from(["api_key", "Authorization", "password", "clientSecret", "cookie"])
PLAIN_NAMES = st.sampled_from(
    ["max_tokens", "content", "country_code", "id", "tool_call_id", "value", "name", "properties",
     "headers", "arguments", "tokens", "n", "token"]
)  # fmt: skip
SECRETS = st.sampled_from(
    [
        *(KEY, "AKIAIOSFODNN7EXAMPLE", "Bearer abcdefghij0123456789", "envsecretvalue"),
        *("https://u:p@h/?access_token=k", "Basic dXNlcjpwYXNz", "TCK-12", 'pa"ss\\wört'),
        *("api_key='abcd'", '{"api_key": "abc"}', "{'token': 'abc'} {", "DB_PASSWORD=hunter2"),
        *("--password hunter2", "x-api-key: abcdef12", "[redacted:ticket:0123456789abcdef]"),
        *("[redacted:secret:0123456789abcdef]", "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "Bearer "),
    ]
)
GLUE = st.sampled_from(["", " ", "\n", '"', "'", "=", ":", "&", "/", "\\", "@", "{", "}", "é", "a"])
TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(st.one_of(SECRETS, GLUE, st.text(max_size=6)), max_size=6).map("".join),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(SECRET_NAMES, PLAIN_NAMES, TEXTS), inner, max_size=4),
        st.dictionaries(SECRET_NAMES | PLAIN_NAMES, inner, max_size=3).map(json.dumps),
        st.lists(inner, max_size=3).map(lambda items: json.dumps(items, ensure_ascii=False)),
    ),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=150)
@example("api_key=[redacted:secret:0123456789abcdef]x")
@example({"id": f'pa"ss\\wört{KEY}'})
def test_cleaning_twice_is_cleaning_once(value: Any) -> None:
    """A replay is given placeholders and cleans them again: nothing may move."""
    for each in (redactor(), redactor(RULE)):
        once = each.clean(value)
        assert each.clean(once) is once or each.clean(once) == once
        fresh = redactor(RULE) if each.custom else redactor()
        assert fresh.clean(copy.deepcopy(once)) == once, "another process finds the same"


@given(VALUES)
def test_the_argument_is_never_changed(value: Any) -> None:
    """The agent sees the real value, whatever the trace holds."""
    before = copy.deepcopy(value)
    redactor(RULE).clean(value)
    assert repr(value) == repr(before)


@given(VALUES)
def test_what_is_found_does_not_depend_on_what_was_seen(value: Any) -> None:
    """The hash of a request is the same in a recording and in a replay that saw other things."""
    busy = redactor()
    for other in ({"a": value}, [value], {"api_key": value}, json.dumps([repr(value)])):
        busy.clean(other)
    assert busy.clean(value) == redactor().clean(value)


@given(st.recursive(
    st.one_of(st.integers(), st.booleans(), st.none(), st.text("abc xyz.,!", max_size=30)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(PLAIN_NAMES, inner, max_size=4)
    ),
    max_leaves=12,
))  # fmt: skip
def test_a_value_without_secrets_is_given_back_itself(value: Any) -> None:
    """Nothing is copied where there is nothing to hide."""
    assume("token" not in repr(value))
    each = redactor()
    assert each.clean(value) is value
    assert each.clean(value) is value, "also when it was seen before"


@given(st.dictionaries(SECRET_NAMES | PLAIN_NAMES, VALUES, max_size=4), st.booleans())
def test_json_in_a_text_stays_json(value: dict[str, Any], ascii_only: bool) -> None:
    """What was valid JSON is valid JSON, with the same secrets gone as outside of a text."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
    cleaned = redactor().clean(text)
    assert json.loads(cleaned) == json.loads(json.dumps(redactor().clean(json.loads(text))))


IDS = st.from_regex(r"(call|chatcmpl|resp|msg|toolu|req|fc)_[A-Za-z0-9]{6,40}", fullmatch=True)


@given(IDS, IDS, TEXTS)
def test_ids_come_out_as_they_went_in(call: str, response: str, text: str) -> None:
    """Parts of a conversation find each other by them: a fork breaks if one is lost."""
    value = {
        "id": response,
        "tool_calls": [{"id": call, "function": {"name": "f", "arguments": text}}],
        "messages": [{"role": "tool", "tool_call_id": call, "content": text}],
        "headers": {"x-request-id": response, "authorization": text},
        "previous_response_id": response,
        "item_ids": [call, response],
        "json": json.dumps({"call_id": call, "api_key": text}),
    }
    assert _ids(redactor(RULE).clean(value)) == _ids(value)


def _ids(value: Any) -> list[Any]:
    found: list[Any] = []
    if isinstance(value, str) and value.startswith('{"call_id'):
        return _ids(json.loads(value))
    if isinstance(value, dict):
        for key, item in value.items():
            found += [key, item] if re.search(r"ids?$", key) else _ids(item)
    elif isinstance(value, list):
        found += [each for item in value for each in _ids(item)]
    return found


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=6, unique=True))
def test_distinct_secrets_have_distinct_placeholders(secrets: list[str]) -> None:
    """Requests that differ only in their keys do not become one; the same key stays one."""
    assume(not any(PLACEHOLDER.search(each) or each[-1:] in "]}" for each in secrets))
    each = redactor()
    made = [each.clean({"password": secret})["password"] for secret in secrets]
    assert len({*map(str, made)}) == len(secrets)
    assert made == [each.clean({"password": secret})["password"] for secret in secrets]


@given(st.text(min_size=8).filter(lambda text: not text.isspace()), VALUES)
def test_a_secret_is_resolved_to_itself(secret: str, value: Any) -> None:
    """What goes to the live world is what the agent had."""
    assume(not PLACEHOLDER.search(secret) and "[redacted" not in repr(value))
    each = redactor()
    given_value = {"a": f"key {KEY} end", "t": json.dumps({"k": KEY}), "v": [KEY]}
    assert each.resolve(each.clean(given_value), [KEY]) == given_value
    assert each.resolve(each.clean({"a": KEY}), {"api-key": secret}) == {"a": secret}


@given(VALUES)
def test_encoded_values_stay_readable(value: Any) -> None:
    """Tags survive: what a tool returned comes back as its types, with placeholders for texts."""
    assume(not re.search(r"[\w-]" + KEY, repr(value)))  # then it is a part of another word
    tagged = encode({"t": (value, b"x " + KEY.encode()), 1: value, "f": {b"a", 2**80}})
    cleaned = redactor().clean(tagged)
    back = decode(json.loads(dumps(cleaned)))
    assert KEY not in repr(back)
    assert KEY.encode() not in back["t"][1]
    assert type(back["t"]) is tuple
    assert 2**80 in back["f"]


@given(st.lists(TEXTS, min_size=1, max_size=5).map("".join), st.integers(1, 9))
@example(text=f'pa"ss\\wört{KEY}', size=1)
def test_the_chunks_of_a_stream_make_up_the_clean_text(text: str, size: int) -> None:
    """However a reply is cut, its chunks hold together what the whole text would."""
    assume("[redacted" not in text and "TCK" not in text)
    each = redactor()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    stream, out = Stream(each), []
    for number, piece in enumerate(pieces):
        out += stream.add(number, {"choices": [{"index": 0, "delta": {"content": piece}}]})
    out += stream.flush()
    assert [number for number, _ in out] == list(range(len(pieces)))
    joined = "".join(data["choices"][0]["delta"]["content"] for _, data in out)
    for secret in (KEY, "abcdefghij0123456789", "envsecretvalue", "AKIAIOSFODNN7EXAMPLE"):
        if secret not in each.clean(text):
            assert secret not in joined
    assert len(placeholders(joined)) <= text.count(":") + text.count("=") + 40
