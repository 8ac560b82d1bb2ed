"""Finding the secrets in one text that is not JSON itself."""

from __future__ import annotations

import contextlib
import re
import warnings
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from workbench.trace.redaction import gates, shapes
from workbench.trace.redaction.names import is_secret_in_query, is_secret_name
from workbench.trace.redaction.placeholders import PLACEHOLDER, placeholder
from workbench.trace.redaction.rules import Rule

SHORTEST: Final = 8
"""No built-in rule finds anything in a shorter text."""

_SCHEME: Final = re.compile(r"\s*(?i:bearer|basic|token|bot|digest|apikey)\s+(?=\S)")
PASSES: Final = 8
"""A secret may stand within another's value: it is looked that often at what came out."""

_GATED: Final = (
    (gates.may_hold_pem, (("private-key", shapes.PRIVATE_KEY),)),
    (
        gates.may_hold_key,
        (("api-key", shapes.AWS_SECRET), ("api-key", shapes.API_KEY), ("jwt", shapes.JWT)),
    ),
    (gates.may_hold_userinfo, (("url-credentials", shapes.USERINFO),)),
    (gates.may_hold_bearer, (("secret", shapes.BEARER),)),
)
"""Rules for shapes, with a quick look that says whether there may be one; earlier ones win."""
_NAMED: Final = (
    (gates.may_hold_pair, (shapes.QUOTED,)),
    (gates.may_hold_assignment, (shapes.ASSIGNED, shapes.VARIABLE, shapes.QUERY)),
    (gates.may_hold_option, (shapes.OPTION,)),
    (gates.may_hold_header, (shapes.HEADER, shapes.COOKIE)),
)


class Match(NamedTuple):
    """A secret's place in a text."""

    start: int
    end: int
    rule: str


class Texts:
    """The rules that look at texts.

    Args:
        names: the names of the built-in rules in force.
        environment: values that are secrets wherever they stand.
        custom: the user's rules; those without a regular expression or function do nothing here.
        salt: of the placeholders.
    """

    def __init__(
        self, names: Iterable[str], environment: Iterable[str], custom: Iterable[Rule], salt: str
    ) -> None:
        self.names = frozenset(names)
        self.salt = salt
        self.custom = tuple(r for r in custom if r.regex is not None or r.finder is not None)
        values = sorted(set(environment), key=lambda each: (-len(each), each))
        self._values = tuple(values)
        self._environment = re.compile("|".join(map(re.escape, values))) if values else None

    def suspicious(self, text: str) -> bool:
        """Whether there may be a secret in a text, by the built-in rules. Fast where there is not;
        a few texts joined by newlines may be asked about at once."""
        return next(self._builtin(text), None) is not None

    def clean(self, text: str) -> str:
        """The text with placeholders for its secrets; itself when there are none."""
        for _ in range(PASSES):
            found = self.find(text)
            if not found:
                break
            text = self._replaced(text, found)
        return text

    def clean_id(self, text: str) -> str:
        """The same for an id, by which parts of a trace refer to each other: only a provider's key
        and a value of the environment are no id."""
        for _ in range(PASSES):
            found = self._apart(text, self._on_ids(text))
            if not found:
                break
            text = self._replaced(text, found)
        return text

    def find(self, text: str) -> list[Match]:
        """The secrets in a text, in order and apart from each other and from placeholders."""
        return self._apart(text, (*self._customs(text), *self._builtin(text)))

    def named(self, text: str) -> str | None:
        """What is written for a text that a name says is a secret; None when it holds none.

        A scheme before it (``Bearer``) stays. What other rules recognise keeps their name, so
        that a secret has the same placeholder wherever it stands.
        """
        scheme = _SCHEME.match(text)
        begin = scheme.end() if scheme is not None else 0
        secret = text[begin:]
        if not secret.strip() or PLACEHOLDER.fullmatch(secret.strip()):
            return None
        found = self.find(secret)
        if len(found) == 1 and (found[0].start, found[0].end) == (0, len(secret)):
            return text[:begin] + placeholder(found[0].rule, secret, self.salt)
        return text[:begin] + placeholder("secret", secret, self.salt)

    def stand_in(self, rule: str, secret: str) -> str:
        """What is written for a secret that a rule found in a text."""
        new = self.named(secret) if rule == "secret" else None
        return new or placeholder(rule, secret, self.salt)

    def begins_at_end(self, text: str) -> bool:
        """Whether a value of the environment may begin at the end of a text."""
        apart = not text[-2:-1].isalnum()  # one letter alone is none within a word
        return any(
            text.endswith(value[:n])
            for value in self._values
            for n in range(len(value), 0 if apart else 1, -1)
        )

    def _replaced(self, text: str, found: list[Match]) -> str:
        parts, at = [], 0
        for start, end, rule in found:
            parts += [text[at:start], self.stand_in(rule, text[start:end])]
            at = end
        return "".join((*parts, text[at:]))

    def _apart(self, text: str, found: Iterable[Match]) -> list[Match]:
        """Those that overlap neither an earlier one nor a placeholder."""
        held = [match.span() for match in PLACEHOLDER.finditer(text)] if "[red" in text else []
        kept: list[Match] = []
        for one in found:
            inside = [span for span in held if span[0] < one.end and one.start < span[1]]
            for part in self._parts(text, one, inside) if inside else (one,):
                at = bisect(kept, part)
                after = at == len(kept) or part.end <= kept[at].start
                if after and (at == 0 or kept[at - 1].end <= part.start):
                    kept.insert(at, part)
        return kept

    def _parts(self, text: str, one: Match, inside: list[tuple[int, int]]) -> Iterator[Match]:
        """What of a match that overlaps placeholders is still to be replaced."""
        if one.rule == "secret":
            whole = one.start <= inside[0][0] and inside[-1][1] <= one.end
            if whole and self.named(text[one.start : one.end]) is not None:
                yield one
        elif one.rule not in self.names:
            at = one.start
            for start, end in (*inside, (one.end, one.end)):
                if text[at:start].strip():
                    yield Match(at, start, one.rule)
                at = max(at, end)

    def _on_ids(self, text: str) -> Iterator[Match]:
        if "api-key" in self.names and len(text) >= SHORTEST:
            yield from _matches("api-key", shapes.API_KEY, text)
        yield from self._from_environment(text)

    def _from_environment(self, text: str) -> Iterator[Match]:
        if self._environment is not None and any(value in text for value in self._values):
            yield from _matches("environment", self._environment, text)

    def _customs(self, text: str) -> Iterator[Match]:
        for rule in self.custom:
            if rule.regex is not None:
                yield from _matches(rule.name, rule.regex, text)
            if rule.finder is not None:
                yield from _called(rule.name, rule.finder, text)

    def _builtin(self, text: str) -> Iterator[Match]:
        if len(text) < SHORTEST:
            return
        for may_hold, shaped in _GATED:
            if may_hold(text):
                for name, regex in shaped:
                    if name in self.names:
                        yield from _matches(name, regex, text)
        if "secret" in self.names and gates.may_hold_basic(text):
            for found in _matches("secret", shapes.BASIC, text):
                if shapes.is_basic(text[found.start : found.end]):
                    yield found
        yield from self._from_environment(text)
        if "secret" in self.names:
            yield from _named(text)


def _named(text: str) -> Iterator[Match]:
    """Values that a name in the text says are secrets."""
    for may_hold, regexes in _NAMED:
        if not may_hold(text):
            continue
        for regex in regexes:
            for found in regex.finditer(text):
                name, value = found["name"], found["secret"]
                in_query = regex is shapes.QUERY and is_secret_in_query(name, value)
                if value.strip() and (in_query or is_secret_name(name)):
                    yield Match(*found.span("secret"), "secret")


def _matches(name: str, regex: re.Pattern[str], text: str) -> Iterator[Match]:
    group: Any = 0
    if "secret" in regex.groupindex:
        group = "secret"
    elif regex.groups == 1:
        group = 1
    for found in regex.finditer(text):
        start, end = found.span(group)
        if start < end:
            yield Match(start, end, name)


def _called(name: str, finder: Callable[[str], Iterable[str]], text: str) -> Iterator[Match]:
    try:
        secrets = [str(secret) for secret in finder(text) if secret]
    except Exception as error:  # noqa: BLE001 - a user's own code; what it may have missed is hidden
        with contextlib.suppress(RuntimeWarning):  # where warnings are errors: the run goes on
            warnings.warn(
                f"the redaction rule {name!r} failed ({type(error).__name__}), so the text that it "
                "was given is redacted as a whole; mend the rule",
                RuntimeWarning,
                stacklevel=2,
            )
        yield Match(0, len(text), name)
        return
    for secret in secrets:
        at = text.find(secret)
        while at >= 0:
            yield Match(at, at + len(secret), name)
            at = text.find(secret, at + len(secret))
