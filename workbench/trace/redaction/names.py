"""What a name says about the value under it: a secret, an id that must survive, or neither."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LONGEST: Final = 128


def each_word(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_SECRETS: Final = each_word(
    "password passwords passwd passwds passphrase passphrases passcode pwd secret secrets "
    "credential credentials authorization auth cookie cookies jwt bearer otp mnemonic csrf "
    "xsrf apikey apikeys apitoken apisecret authtoken accesstoken refreshtoken sessiontoken "
    "idtoken bottoken csrftoken xsrftoken accesskey secretkey privatekey clientsecret authkey "
    "sessioncookie setcookie phpsessid jsessionid"
)
"""Last words that name a secret whatever comes before them."""
_PASSWORDS: Final = each_word("password passwd passphrase")
"""Words that name a secret also when they are not the last (``password_again``)."""
_KEYS_OF: Final = each_word(
    "api private secret access signing signature encryption decryption subscription account "
    "master auth authentication shared service ssh admin deploy app application client "
    "consumer webhook crypto aes rsa hmac tls ssl storage sas bot session license licence "
    "openai anthropic gemini azure groq mistral cohere deepseek stripe openrouter huggingface "
    "hf tavily"
)
"""Words before ``key`` that make it a secret; a primary, public or cache key is none."""
_MANY_KEYS_OF: Final = each_word("api private secret access signing encryption")
_PLAIN_TOKENS: Final = each_word(
    "max min num total per next prev previous page continuation continue sync cancellation "
    "cancel pad eos bos unk sep cls mask stop start end begin first last special prompt "
    "completion input output image audio text word sub cached reasoning thinking logit "
    "logprob sampled chosen time current pagination cursor resume resumption skip delta draft "
    "visual vision"
)
"""Words before ``token`` that speak of a piece of text, a count or a place in a list."""
_MANY_TOKENS_OF: Final = each_word(
    "access refresh auth api bearer session secret authentication csrf device"
)
_PASSES_OF: Final = each_word(
    "db user smtp imap mysql pg postgres redis admin root login ftp ssh proxy mail email "
    "database rabbitmq mongo auth http basic"
)
_PAIRS: Final = frozenset(
    [
        *(("seed", "phrase"), ("recovery", "code"), ("recovery", "codes"), ("backup", "codes")),
        *(("auth", "code"), ("authorization", "code"), ("code", "verifier")),
        ("client", "assertion"),
    ]
)
_ABOUT: Final = each_word(
    "length min max policy count field fields name names hint required enabled disabled "
    "strength url uri endpoint type types rules expires expiry expiration at date time ttl "
    "format id ids file path version updated changed created manager provider label "
    "placeholder description prompt error errors status limit usage budget method mode scheme "
    "reset link valid input store vault ref reference generator protected protection size"
)
"""Last words that speak about a secret, which is itself somewhere else."""
_TRIMMED: Final = each_word(
    "prod production dev test testing staging live value values header b64 base64 "
    "raw encoded encrypted plain plaintext hash hashed digest old new current default primary "
    "secondary backup confirmation confirm again repeat env"
)
"""Last words that change nothing: ``secret_value`` is a ``secret``."""
_COUNTABLE: Final = each_word("token cookie cookies auth pass credential credentials")
"""Last words under which a number is a count, or the like."""

OPAQUE: Final = each_word(
    "signature thoughtsignature thoughtsignatures encryptedcontent encryptedstdout "
    "encryptedindex systemfingerprint b64json"
)
"""Names (lower case, letters only) of what a provider must get back bit by bit."""
_IDS: Final = frozenset({"id", "ids", "uuid", "ray", "etag"})
_SCHEMA_MAPS: Final = each_word(
    "properties patternProperties $defs definitions dependentSchemas dependentRequired dependencies"
)
_SCHEMA_WORDS: Final = each_word(
    "type $ref anyOf oneOf allOf not enum const description title default properties items "
    "format examples minLength maxLength pattern nullable"
)
_IN_QUERIES: Final = frozenset({"sig", "signature", "hmac", "x-amz-signature", "x-goog-signature"})
_LONG_IN_QUERIES: Final = frozenset({"key", "code", "ticket", "assertion", "samlresponse", "t"})
_LONG: Final = 16


def words(name: str) -> list[str]:
    """The words of a name, in lower case: ``["open", "ai", "api", "key"]`` of ``OpenAIApiKey``."""
    return [word.lower() for word in _WORD.findall(name)]


@lru_cache(maxsize=16_384)
def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is taken to be a secret.

    ``api_key``, ``Authorization``, ``clientSecret`` and ``X-Amz-Security-Token`` are;
    ``max_tokens``, ``country_code``, ``next_page_token``, ``author`` and ``primary_key`` are not.
    """
    if len(name) > _LONGEST:
        return False
    parts = words(name)
    while len(parts) > 1 and (parts[-1] in _TRIMMED or parts[-1].isdecimal()):
        parts.pop()
    if not parts or parts[-1] in _ABOUT:
        return False
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in _SECRETS or "".join(parts) in _SECRETS or (before, last) in _PAIRS:
        return True
    if last == "token":
        return before not in _PLAIN_TOKENS
    if last == "tokens":
        return before in _MANY_TOKENS_OF
    if last == "key":
        return before in _KEYS_OF
    if last == "keys":
        return before in _MANY_KEYS_OF
    if last == "pass":
        return before in _PASSES_OF
    return not _PASSWORDS.isdisjoint(parts)


def is_secret_in_query(name: str, value: str | None = None) -> bool:
    """Whether a parameter of a URL's query is taken to be a secret.

    Beside secret names these are signatures, and a ``key`` or ``code`` of 16 characters or more:
    of any length when no value is given.
    """
    low = name.lower()
    if is_secret_name(name) or low in _IN_QUERIES:
        return True
    return low in _LONG_IN_QUERIES and (value is None or len(value) >= _LONG)


@lru_cache(maxsize=16_384)
def is_countable(name: str) -> bool:
    """Whether a number under this secret name is no secret: ``cookies: 3``."""
    parts = words(name)
    return bool(parts) and parts[-1] in _COUNTABLE


@lru_cache(maxsize=16_384)
def is_id(name: str) -> bool:
    """Whether a text under this name is an id by which parts of a trace refer to each other."""
    parts = words(name)
    return bool(parts) and parts[-1] in _IDS


@lru_cache(maxsize=16_384)
def is_opaque(name: str) -> bool:
    """Whether a text under this name means something to its provider only, bit by bit."""
    return "".join(words(name)) in OPAQUE


def holds_schemas(name: str | None) -> bool:
    """Whether the keys of an object under this name are names that a JSON Schema declares."""
    return name in _SCHEMA_MAPS


def is_schema(value: Any) -> bool:
    """Whether a value is a JSON Schema, or a list of names that a schema requires."""
    if isinstance(value, dict):
        return not value or not _SCHEMA_WORDS.isdisjoint(value)
    return isinstance(value, bool) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


def is_piece_of_text(value: dict[str, Any]) -> bool:
    """Whether an object with the key ``token`` speaks of a model's token, not of a credential."""
    return not _PIECES.isdisjoint(value)


_PIECES: Final = frozenset({"logprob", "log_prob", "logprobs", "token_id", "score", "probability"})
