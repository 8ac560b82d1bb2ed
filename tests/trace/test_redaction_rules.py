"""A user's own rules, replays of what they redacted, and putting secrets back."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UsageError
from workbench.trace.entries import TraceLine
from workbench.trace.redaction import BUILTIN, Redactor, Rule, placeholders

KEY = "sk-proj-abcDEF0123456789abcdef"


def with_rules(*rules: Rule | str) -> Redactor:
    """A redactor with these rules and an empty environment."""
    return Redactor.for_recording(rules, salt="salt", environment={})


def header(each: Redactor) -> TraceLine:
    """The first line of a trace that a redactor cleaned."""
    return TraceLine(id="t", name="shop", redact=each.names, salt=each.salt)


def test_a_key_by_its_name() -> None:
    """The name is compared without case, dashes and underscores; what is under it is hidden."""
    each = with_rules(Rule.key("tax", "tax-id", "ssn"), "iban")
    value = {"TaxId": "12-345", "SSN": 123456, "IBAN": ["DE00"], "taxes": "kept", "n": None}
    cleaned = each.clean(value)
    assert [rule.split(":")[1] for rule in placeholders(cleaned)] == ["tax", "tax", "iban"]
    assert (cleaned["taxes"], cleaned["n"]) == ("kept", None)
    assert each.clean(json.dumps(value)) != json.dumps(value)


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("/arguments/customer/code", {"customer.code"}),
        ("/arguments/*/code", {"customer.code", "other.code"}),
        ("/**/code", {"customer.code", "other.code", "items.0.code", "code"}),
        ("$.arguments.customer.code", {"customer.code"}),
        ("$.arguments['customer'][\"code\"]", {"customer.code"}),
        ("$.arguments.items[*].code", {"items.0.code"}),
        ("$.arguments.items[0].code", {"items.0.code"}),
        ("$.arguments.items[1].code", set()),
        ("$..code", {"customer.code", "other.code", "items.0.code", "code"}),
        ("$.arguments.items", {"items.0.code", "items.0.n"}),
        ("/nothing/here", set()),
    ],
)
def test_a_place_by_its_path(path: str, hidden: set[str]) -> None:
    """JSON pointers and JSON paths name the same places, in a request or any other value."""
    value = {
        "arguments": {
            "customer": {"code": "A1", "n": 1},
            "other": {"code": "A2"},
            "items": [{"code": "A3", "n": 7}],
            "code": "A4",
        }
    }
    before = json.dumps(value)
    cleaned = with_rules(Rule.path("shop-code", path)).clean(value)
    assert json.dumps(value) == before
    assert {where for where, text in _leaves(cleaned["arguments"]) if text[:5] == "[reda"} == hidden
    assert (cleaned is value) == (not hidden)


def _leaves(value: Any, where: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, item in items for leaf in _leaves(item, f"{where}.{key}")]
    return [(where[1:], str(value))]


@pytest.mark.parametrize("path", ["", "/", "$", "a.b", "$.a..", "$.a[x]", "arguments"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    """A rule that would name nothing must not look as if it protected something."""
    with pytest.raises(UsageError, match="neither a JSON pointer"):
        Rule.path("x", path)


def test_a_pattern() -> None:
    """All of a match is hidden, or its group; ids are left alone, and placeholders too."""
    each = with_rules(
        Rule.pattern("ticket", r"TCK-\d+"),
        Rule.pattern("pin", r"PIN (?P<secret>\d{4})(?P<rest>\w*)"),
        Rule.pattern("digits", r"(?<!\w)(\d{6,})(?!\w)"),
    )
    cleaned = each.clean({"t": "TCK-1, PIN 1234 and 1234567", "id": "TCK-1", "k": KEY})
    assert "PIN [redacted:pin:" in cleaned["t"]
    assert [p.split(":")[1] for p in placeholders(cleaned["t"])] == ["ticket", "pin", "digits"]
    assert cleaned["id"] == "TCK-1"
    assert each.clean(cleaned) is cleaned


def test_a_function() -> None:
    """It says what the secrets in a text are, each of which is hidden wherever it is there."""
    each = with_rules(Rule.function("names", lambda text: ["Ada"] if "Ada" in text else []))
    cleaned = each.clean(["Ada and Ada", "Bob"])
    assert "Ada" not in cleaned[0]
    assert cleaned[1] == "Bob"
    assert len(placeholders(cleaned)) == 1


def test_a_function_that_fails_hides_the_text() -> None:
    """What a rule may have missed does not get into the trace, and the run goes on."""

    def broken(text: str) -> list[str]:
        raise KeyError(text)

    each = with_rules(Rule.function("broken", broken))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        cleaned = each.clean({"n": "private", "m": 1})
    assert "private" not in str(cleaned)
    assert 1 in cleaned.values()
    assert "the redaction rule 'broken' failed (KeyError)" in str(seen[0].message)
    assert "private" not in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "other" not in str(each.clean(["other text"]))


def test_a_rule_names_itself() -> None:
    """The name stands in each placeholder, so it must be one, and no other's."""
    for name in ("", "a b", "-x", "a:b", "x" * 65):
        with pytest.raises(UsageError, match="1 to 64 letters"):
            Rule.key(name)
    with pytest.raises(UsageError, match="'jwt' is there already"):
        Rule.pattern("jwt", "x")
    with pytest.raises(UsageError, match="two redaction rules named 'a'"):
        with_rules(Rule.key("a"), Rule.pattern("a", "x"))
    with pytest.raises(UsageError, match="no regular expression"):
        Rule.pattern("a", "(")
    with pytest.raises(UsageError, match="matches the empty text"):
        Rule.pattern("a", "x*")
    with pytest.raises(UsageError, match=r"made with Rule.key\(\).*this is a int"):
        Redactor.for_recording([5])  # type: ignore[list-item]


def test_the_header_lists_the_rules() -> None:
    """Whoever reads the trace knows what was taken out of it."""
    assert with_rules().names == list(BUILTIN)
    assert with_rules(Rule.key("b"), Rule.key("a")).names == [*BUILTIN, "b", "a"]
    assert Redactor.for_recording(False).names == []
    assert Redactor.for_recording(False).salt is None


def test_a_replay_redacts_as_the_recording_did() -> None:
    """The same rules and the same salt give the same request, and so the same hash."""
    rule = Rule.pattern("ticket", r"TCK-\d+")
    each = with_rules(rule)
    again = Redactor.for_replay(header(each), [rule, Rule.key("unused")], environment={})
    value = {"t": f"TCK-1 {KEY}", "unused": "stays"}
    assert again.clean(value) == each.clean(value)
    assert again.names == each.names


def test_a_replay_without_a_rule_of_the_trace_names_it() -> None:
    """Without it no request would be found again, and the reason would be hard to see."""
    line = header(with_rules(Rule.key("tax"), Rule.key("iban")))
    with pytest.raises(UsageError) as error:
        Redactor.for_replay(line, [Rule.key("tax")])
    assert str(error.value) == (
        "the trace shop was recorded with the redaction rule 'iban', which is not here, so its "
        "requests would not be found again. Pass what it was recorded with: redact=[Rule.key(…), …]"
    )
    with pytest.raises(UsageError, match="rules 'tax', 'iban', which are not here"):
        Redactor.for_replay(line)


def test_a_trace_without_redaction_is_replayed_without() -> None:
    """Its requests hold what they held."""
    each = Redactor.for_replay(TraceLine(id="t"), [Rule.key("tax")])
    value = {"api_key": KEY, "tax": 1}
    assert each.clean(value) is value
    assert not each.on


def test_a_trace_with_some_of_the_rules_is_replayed_with_these() -> None:
    """A rule that came later, or was not in force, takes nothing out of an old trace."""
    line = TraceLine(id="t", redact=["api-key"], salt="salt")
    each = Redactor.for_replay(line, environment={"A_TOKEN": "abcdefgh"})
    value = {"password": "hunter2", "t": "Bearer abcdefghij0123456789 abcdefgh", "k": "x " + KEY}
    cleaned = each.clean(value)
    assert cleaned == {**value, "k": cleaned["k"]}
    assert KEY not in cleaned["k"]


@pytest.fixture
def redactor() -> Redactor:
    """One without rules of a user."""
    return with_rules()


def test_secrets_go_back_into_a_live_call(redactor: Redactor) -> None:
    """The live world gets what the agent had: also within JSON, and in keys."""
    value = {
        "api_key": 'pa"ss',
        "json": json.dumps({"token": 'pa"ss', "n": 1}),
        "nested": [(f"with {KEY}", 5)],
        KEY: None,
    }
    cleaned = redactor.clean(value)
    assert redactor.resolve(cleaned, [KEY, 'pa"ss']) == value
    assert redactor.resolve(cleaned, {"SHOP": KEY, "OTHER": 'pa"ss'}) == value
    untouched = {"a": [1, "x"]}
    assert redactor.resolve(untouched, []) is untouched


def test_a_changed_secret_goes_in_by_its_placeholder_or_rule(redactor: Redactor) -> None:
    """A key that is no longer valid is replaced by the one that is."""
    cleaned = redactor.clean({"k": f"key {KEY}", "password": "old"})
    (one,) = placeholders(cleaned["k"])
    assert redactor.resolve(cleaned, {one: "new-1", "secret": "new-2"}) == {
        "k": "key new-1",
        "password": "new-2",
    }


def test_a_placeholder_without_its_secret_is_refused(redactor: Redactor) -> None:
    """A live call with a placeholder in it would go wrong somewhere else."""
    cleaned = redactor.clean({"arguments": {"items": [{"the key": f"key {KEY}"}]}})
    (one,) = placeholders(cleaned)
    with pytest.raises(UsageError) as error:
        redactor.resolve(cleaned, ["not-this"])
    assert f'{one} at $.arguments.items[0]["the key"] stands for a secret' in str(error.value)
    assert "secrets=[…]" in str(error.value)
    assert "not-this" not in str(error.value)


def test_the_placeholder_on_the_format_page_is_the_real_one(repo_root: Path) -> None:
    """Whoever computes one in another language, by the page, gets ours."""
    page = (repo_root / "docs" / "trace-format.md").read_text("utf-8")
    found = re.search(r"\[redacted:secret:[0-9a-f]{16}\]", page)
    assert found is not None
    each = Redactor.for_recording(salt="5f0c", environment={})
    assert each.clean({"password": "hunter2"}) == {"password": found.group()}
    assert str(each.clean({"password": 10})) != str(each.clean({"password": "1e1"}))
    assert each.clean({"password": 10}) == each.clean({"password": "10"})


def test_the_page_on_redaction_names_every_rule(repo_root: Path) -> None:
    """Each rule that a header can list is explained, and none that there is not."""
    page = (repo_root / "docs" / "redaction.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == set(BUILTIN)
