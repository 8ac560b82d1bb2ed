"""What redaction finds, and what it leaves alone."""

import base64
import json
import subprocess
import sys
from typing import Any

import pytest

from workbench.errors import UnencodableError
from workbench.trace.redaction import (
    PLACEHOLDER,
    Redactor,
    is_secret_in_query,
    is_secret_name,
    mask,
    placeholders,
    same_but_placeholders,
)
from workbench.trace.redaction.environment import secrets_of

KEY = "sk-proj-abcDEF0123456789abcdef"
ENVIRONMENT = {"SHOP_TOKEN": "envsecretvalue"}
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEabcdefghijklmnop\n" * 3 + (
    "-----END RSA PRIVATE KEY-----"
)  # fmt: skip


@pytest.fixture
def redactor() -> Redactor:
    """One with a salt and an environment of the test's own."""
    return Redactor.for_recording(salt="salt", environment=ENVIRONMENT)


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apiKey", "OPENAI_API_KEY", "x-api-key", "X-Goog-Api-Key", "apikey"),
        *("Authorization", "proxy-authorization", "auth", "password", "db_password", "passwd"),
        *("password2", "password_confirmation", "secret", "client_secret", "clientSecret"),
        *(
            "token",
            "access_token",
            "refreshToken",
            "id_token",
            "X-Amz-Security-Token",
            "auth_token",
        ),
        *("cookie", "Set-Cookie", "private_key", "privateKey", "secret_access_key", "signing_key"),
        *(
            "credentials",
            "passphrase",
            "jwt",
            "bearer",
            "api_key_1",
            "API_KEY_PROD",
            "secret_value",
        ),
        *("access_tokens", "api_keys", "seed_phrase", "recovery_codes", "smtp_pass", "csrf_token"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    """A value under such a name is hidden whatever it looks like."""
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("max_tokens", "tokens", "prompt_tokens", "completion_tokens_details", "token_count"),
        *("max_token", "next_page_token", "nextPageToken", "pad_token", "time_to_first_token"),
        *("country_code", "code", "postal_code", "status_code", "author", "authority", "authored"),
        *("authenticated", "key", "keys", "primary_key", "public_key", "cache_key", "keyboard"),
        *("prompt_cache_key", "idempotency_key", "monkey", "turkey", "signature", "assignee"),
        *("password_policy", "token_type", "token_url", "secret_name", "auth_method", "passenger"),
        *("password_min_length", "cookie_policy", "usage", "id", "tool_call_id", "session_id"),
        *("client_id", "secretary", "compass", "pass", "total_tokens", "tokenizer", "", "x" * 500),
    ],
)
def test_names_of_other_things(name: str) -> None:
    """What sounds alike stays readable: a trace of placeholders helps nobody."""
    assert not is_secret_name(name)


def test_a_query_has_names_of_its_own() -> None:
    """In a URL a signature is a secret, and so is a long ``key`` or ``code``."""
    assert is_secret_in_query("sig", "x")
    assert is_secret_in_query("X-Amz-Signature", "x")
    assert is_secret_in_query("access_token", "k")
    assert is_secret_in_query("code", "4/0AX4XfWh-abcdefghijk")
    assert is_secret_in_query("key")
    assert not is_secret_in_query("code", "DE")
    assert not is_secret_in_query("country_code", "x" * 40)
    assert not is_secret_in_query("page", "x" * 40)


HIDDEN: list[tuple[Any, str]] = [
    (f"my key {KEY} is", KEY),
    ("sk-ant-api03-abcdefghij0123456789", "api03"),
    ("(AIzaSyA1234567890abcdefghijklmnopqrstuv)", "AIza"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
    ("AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "github_pat"),
    ("xoxb-123456789012-abcdefghijkl", "xoxb"),
    ("sk_live_abcdefghijklmnop", "sk_live"),
    ("hf_abcdefghijklmnopqrstuvwxyz", "hf_"),
    ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJ"),
    ("Authorization: Bearer abcdefghij0123456789", "abcdefghij0123456789"),
    ("bearer mF_9.B5f-4.1JqM", "mF_9"),
    ("Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw"),
    ("https://user:pa55@host/path", "pa55"),
    ("postgres://bob:hunter2@db:5432/shop", "hunter2"),
    ("git clone https://abcdefghij0123456789xyz@git.example.com/r", "abcdefghij"),
    ("GET https://api.example.com/?page=2&access_token=k3y&x=1", "k3y"),
    ("https://x.example.com/?sig=abc%2Bdef", "abc%2B"),
    ("https://x.example.com/cb?code=4/0AX4XfWhabcdefghijk", "0AX4"),
    (PEM, "MIIE"),
    (PEM.replace("\n", "\\n"), "MIIE"),
    ("export DB_PASSWORD=hunter22 && run", "hunter22"),
    ("mysql --password hunter22 -u bob", "hunter22"),
    ("curl -H 'x-api-key: abc123def' u", "abc123def"),
    ("Cookie: session=abcdef; theme=dark", "abcdef"),
    ("Client(api_key='abcdef', region='eu')", "abcdef"),
    ("{'password': 'hunter2', 'user': 'bob'}", "hunter2"),
    ('the reply was {"password": "hunter2", "user"', "hunter2"),
    ('log: {\\"password\\": \\"hunter2\\", ', "hunter2"),
    ("it says envsecretvalue here", "envsecretvalue"),
    ({"deep": [{"config": {"api_key": "abc"}}]}, "abc"),
    ({"password": 12345678}, "12345678"),
    ({"credentials": {"user": "bob7", "roles": ["admin7"]}}, "admin7"),
    ({"authorization": {"$wb": "tuple", "v": ["x7", "y7"]}}, "y7"),
    ({"$wb": "dict", "v": [["password", "hunter2"], [1, 2]]}, "hunter2"),
    ({"$wb": "tuple", "v": [KEY]}, KEY),
    ({"$wb": "PosixPath", "v": f"/srv/{KEY}"}, KEY),
    ({KEY: 1}, KEY),
    ({"password": {KEY: None}}, KEY),
    ({"name": "API_KEY", "value": "abc"}, "abc"),
    ({"headers": [["x-api-key", "abc7"], ["accept", "*/*"]]}, "abc7"),
    ({"response_headers": {"set-cookie": "sid=abc"}}, "sid=abc"),
    (["login", "--password", "hunter2", "-v"], "hunter2"),
    (["--token=abcdef7"], "abcdef7"),
    ({"arguments": '{"api_key": "abc", "n": 1}'}, "abc"),
    ({"id": KEY}, KEY),
]


@pytest.mark.parametrize(("value", "secret"), HIDDEN, ids=[str(each[0])[:40] for each in HIDDEN])
def test_secrets_are_found(redactor: Redactor, value: Any, secret: str) -> None:
    """Each kind of secret, in each kind of place."""
    cleaned = redactor.clean(value)
    assert secret not in json.dumps(cleaned)
    assert placeholders(cleaned)
    assert redactor.clean(cleaned) == cleaned


KEPT: list[Any] = [
    "Please reset my password; the token budget is 5. What is a secret key, and a cookie?",
    "The Bearer token authentication scheme, and basic authentication, are described in RFC 6750.",
    "Your verification code: 1234. Set-Cookie: is a header. Authorization: required for all.",
    "max_tokens=100, temperature=0.5, key=value, tokens: 5, password=, token=<your token>",
    "api_key=os.environ['OPENAI_API_KEY'] and api_key=config.key; --token $TOKEN --help",
    "https://example.com/search?q=password&page=2&lang=en#token",
    "git@github.com:a/b.git, bob@example.com, http://[::1]:8080/a@b, 10:30@noon",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709, 550e8400-e29b-41d4-a716-446655440000",
    "pip install sk-learn scikit-learn-intelex; ask-me-anything-about-the-weather-in-rome",
    "export PATH=/usr/bin:/bin; OPENAI_API_KEY=$KEY; MAX_TOKENS=1000; PASSWORD_MIN=12345",
    {"max_tokens": 5, "usage": {"prompt_tokens": 3, "total_tokens": 4}, "tokens": ["a", "b"]},
    {"country_code": "DE", "postal_code": "10115", "status_code": 401},
    {"logprobs": {"content": [{"token": "Hello", "logprob": -0.1, "bytes": [72]}]}},
    {"token": {"id": 5, "text": " the", "logprob": -1.5}},
    {"cookies": 3, "token": 7, "secret": None, "password": "", "auth": False},
    {
        "parameters": {
            "type": "object",
            "properties": {
                "password": {"type": "string", "description": "the user's password"},
                "api_key": {"$ref": "#/$defs/token"},
                "n": {"type": "integer"},
            },
            "$defs": {"token": {"type": "string"}},
            "required": ["password", "api_key"],
        }
    },
    {"id": "call_abc", "tool_call_id": "call_abc", "previous_response_id": "resp_0123456789abcdef"},
    {"url": "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 20).decode()},
    {"$wb": "bytes", "v": base64.b64encode(bytes(range(256)) * 20).decode()},
    {"signature": "EqoBCkgIARABGAIiQL" * 20, "encrypted_content": "gAAAAABsk-" + "aB1-" * 50},
    {"thinking": "x", "signature": f"{KEY}"},
    {"name": "get_password", "arguments": '{"user": "bob"}'},
    {"name": "page", "value": "2"},
    {"$wb": "int", "v": "123456789012345678901234567890"},
    {"prompt_cache_key": "user-1", "idempotency_key": "refund:101", "key": "A1"},
    {"headers": {"content-type": "application/json", "x-request-id": "req_0123456789abcdef"}},
    "[redacted:secret:0123456789abcdef] and more",
    {"api_key": "[redacted:api-key:0123456789abcdef]"},
    {"authorization": "Bearer [redacted:api-key:0123456789abcdef]"},
    "https://[redacted:url-credentials:0123456789abcdef]@h/?token=[redacted:secret:0123456789abcdef]",
    "[]", "{}", "", None, True, 0, 1.5, [], {},
]  # fmt: skip


@pytest.mark.parametrize("value", KEPT, ids=[str(each)[:40] for each in KEPT])
def test_what_is_no_secret_stays_the_very_same_object(redactor: Redactor, value: Any) -> None:
    """A false alarm makes a trace less readable, and a fork harder to continue."""
    assert redactor.clean(value) is value
    text = json.dumps({"v": value})
    assert redactor.clean(text) is text


def test_a_secret_has_one_placeholder_wherever_it_stands(redactor: Redactor) -> None:
    """A replayed agent moves the placeholder to where the recorded one had moved the secret."""
    cleaned = redactor.clean(
        {
            "api_key": KEY,
            "text": f"use {KEY}!",
            "Authorization": f"Bearer {KEY}",
            "json": json.dumps({"token": KEY}),
            "url": f"https://h/?key={KEY}",
            "repr": f"Client(api_key='{KEY}')",
            "bytes": {"$wb": "bytes", "v": base64.b64encode(KEY.encode()).decode()},
        }
    )
    one = cleaned["api_key"]
    assert PLACEHOLDER.fullmatch(one)
    assert one.startswith("[redacted:api-key:")
    assert placeholders({k: v for k, v in cleaned.items() if k != "bytes"}) == [one]
    assert base64.b64decode(cleaned["bytes"]["v"]).decode() == one
    assert cleaned["text"] == f"use {one}!"
    assert cleaned["Authorization"] == f"Bearer {one}"
    assert redactor.clean({"password": "x"})["password"] == redactor.clean("?token=x")[7:]


def test_placeholders_belong_to_one_trace() -> None:
    """Another trace's placeholder for the same secret is another one: they tell nothing."""
    a, b = (Redactor.for_recording(environment={}) for _ in range(2))
    assert a.salt != b.salt
    assert len(str(a.salt)) >= 32
    assert a.clean(KEY) != b.clean(KEY)
    again = Redactor.for_recording(salt=a.salt, environment={})
    assert again.clean([KEY]) == a.clean([KEY])


def test_a_subtree_keeps_its_shape(redactor: Redactor) -> None:
    """A replayed agent that reads ``credentials["password"]`` finds something there."""
    value = {"credentials": {"user": "bob", "ttl": 60, "ok": True, "more": [{"k": "v"}, None]}}
    cleaned = redactor.clean(value)["credentials"]
    assert (cleaned["ok"], cleaned["ttl"], cleaned["more"][1]) == (True, 60, None)
    assert cleaned["user"] != "bob"
    assert cleaned["more"][0]["k"] != "v"


def test_json_in_a_text_keeps_its_form(redactor: Redactor) -> None:
    """An agent that writes its arguments anew in its own way is still recognised in a replay."""
    text = (
        '{ "n":1.50,  "big": 123456789012345678901234567890,\n "api_key" : "abc", "é": "\\u00e9"}'
    )
    cleaned = redactor.clean(text)
    assert cleaned == text.replace('"abc"', json.dumps(json.loads(cleaned)["api_key"]))
    inner = json.dumps({"a": [json.dumps({"b": json.dumps({"password": "hunter2"})})]})
    cleaned = redactor.clean(inner)
    assert "hunter2" not in cleaned
    deep = json.loads(json.loads(json.loads(cleaned)["a"][0])["b"])
    assert PLACEHOLDER.fullmatch(deep["password"])


def test_a_key_that_comes_twice_in_json_hides_nothing(redactor: Redactor) -> None:
    """A parser keeps the last value only; the first one is in the text all the same."""
    assert "abc" not in redactor.clean('{"api_key": "abc", "api_key": ""}')


def test_ids_survive_the_generic_rules(redactor: Redactor) -> None:
    """An id that looks like a credential is still an id, unless it is a provider's key."""
    value = {"id": "https://u:p@h/", "call_id": "Bearer abcdefghij0123456789", "ids": ["--x"]}
    assert redactor.clean(value) == value
    assert KEY not in redactor.clean({"id": KEY})["id"]
    assert redactor.clean({"request_id": "envsecretvalue"}) != {"request_id": "envsecretvalue"}


def test_the_environment_is_read_once_and_by_name() -> None:
    """Only secret-looking variables, of a length that is not found by accident; no folders."""
    found = secrets_of(
        {
            "OPENAI_API_KEY": "abcdefgh",
            "MY_KEY": "ijklmnop",
            "SHORT_TOKEN": "1234567",
            "PWD": "/srv/shop/now",
            "OLDPWD": "/srv/shop/before",
            "SSH_AUTH_SOCK": "/run/agent.sock",
            "GOOGLE_APPLICATION_CREDENTIALS": sys.executable,
            "PATH": "/usr/bin:/bin",
            "SOME_SECRET": "/not/a/file/at/all",
            "AUTH_URL": "https://login.example.com",
        }
    )
    assert found == ("/not/a/file/at/all", "abcdefgh", "ijklmnop")
    environment = {"A_TOKEN": "abcdefgh"}
    each = Redactor.for_recording(environment=environment)
    environment["A_TOKEN"] = "ijklmnop"
    assert placeholders(each.clean("abcdefgh"))
    assert not placeholders(each.clean("ijklmnop"))


def test_a_redactor_shows_no_secret(redactor: Redactor) -> None:
    """It is in frames and logs; what it knows of the environment is not."""
    assert "envsecretvalue" not in repr(redactor)
    assert "secret" in repr(redactor)
    assert repr(Redactor.off()) == "<Redactor off>"


def test_a_value_without_an_end_is_refused(redactor: Redactor) -> None:
    """It would be walked for ever; recording refuses it as any other that JSON cannot hold."""
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = [loop]
    with pytest.raises(UnencodableError, match="contains itself"):
        redactor.clean(loop)
    loop["password"] = "x"
    with pytest.raises(UnencodableError, match="contains itself"):
        redactor.clean(loop)
    deep = "[" * 5000 + "]" * 5000
    assert redactor.clean(deep) is deep


def test_masks_tell_what_differs_in_secrets_only(redactor: Redactor) -> None:
    """A key that was changed since the recording is told from a changed request."""
    a = redactor.clean({"t": f"with {KEY}", "n": 1})
    b = redactor.clean({"t": f"with {KEY}x1", "n": 1})
    assert a != b
    assert same_but_placeholders(a, b)
    assert mask(a) == {"t": "with [redacted]", "n": 1}
    assert not same_but_placeholders(a, {**b, "n": True})
    assert same_but_placeholders({"x": 1}, {"x": 1.0})
    assert not same_but_placeholders({"x": 1}, {"x": 2})
    plain = {"t": ["no placeholder"]}
    assert mask(plain) is plain


def test_another_process_finds_the_same() -> None:
    """Placeholders depend on the salt and the secret, not on the process's own hash seed."""
    code = (
        "from workbench.trace.redaction import Redactor\n"
        "print(Redactor.for_recording(salt='s', environment={}).clean({'password': 'hunter2'}))"
    )
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = Redactor.for_recording(salt="s", environment={}).clean({"password": "hunter2"})
    assert outs == {f"{here}\n"}


def test_a_placeholder_stands_for_a_secret_that_was_not_seen_as_one(redactor: Redactor) -> None:
    """A tool gave a password by name, and the agent put it into a sentence: the recording has it
    there as it is, and a replay, which was served the placeholder, has that."""
    one, two = (redactor.clean({"password": each})["password"] for each in ("hunter2", "other!"))
    recorded = {"m": [{"t": f"it is hunter2, or {one}"}], "n": 1, "pin": 1234}
    asked = {"m": [{"t": f"it is {one}, or {two}"}], "n": 1, "pin": 1234}
    assert redactor.same_but_placeholders(recorded, asked)
    assert redactor.same_but_placeholders(
        {"x": 1}, {"x": redactor.clean({"password": 1})["password"]}
    )
    for other in (
        {**asked, "n": 2},
        {**asked, "n": True},
        {**asked, "m": []},
        {"m": asked["m"], "n": 1},
        {**asked, "m": [{"t": f"it is {two}, or {one}"}]},
        {**asked, "m": [{"t": f"it was {one}, or {one}"}]},
    ):
        assert not redactor.same_but_placeholders(recorded, other)
