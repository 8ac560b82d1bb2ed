"""The redaction rules that a user adds, and the names of those that are always there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from workbench.errors import UsageError

BUILTIN: Final = ("secret", "api-key", "jwt", "private-key", "url-credentials", "environment")
"""The rules of this package, by the names that a trace's header lists:

- ``secret``: what stands under a secret-looking name, after ``Bearer`` or ``Basic``
- ``api-key``: texts of the shape of a provider's keys
- ``jwt``: JSON web tokens
- ``private-key``: PEM blocks
- ``url-credentials``: ``user:password`` before a URL's host
- ``environment``: values of this process's secret-looking environment variables
"""

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_STEP: Final = re.compile(
    r"\.\.(?P<deep>[\w$-]+|\*)|\.(?P<key>[\w$-]+|\*)|\[(?P<item>\d+|\*)\]"
    r"|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]"
)
ANY: Final = "*"
DEEP: Final = "**"


@dataclass(frozen=True, slots=True)
class Rule:
    """One more thing to redact. Make one with :meth:`key`, :meth:`path`, :meth:`pattern` or
    :meth:`function`; its name stands in the placeholders and in the trace's header, and a replay
    of that trace needs the rule again."""

    name: str
    """Letters, digits, ``_``, ``.`` and ``-``; at most 64."""
    keys: frozenset[str] = frozenset()
    """Keys under which everything is a secret: in lower case, without ``_`` and ``-``."""
    paths: tuple[tuple[str, ...], ...] = ()
    """Places that hold a secret: steps, where ``*`` is any one and ``**`` any number of them."""
    regex: re.Pattern[str] | None = None
    """What matches is a secret: its group ``secret``, else its only group, else all of it."""
    finder: Callable[[str], Iterable[str]] | None = None
    """Gives the secrets in a text."""

    def __post_init__(self) -> None:
        """Refuse a name that cannot stand in a placeholder, or that is taken."""
        if not _NAME.fullmatch(str(self.name)):
            raise UsageError(
                f"a redaction rule's name has 1 to 64 letters, digits, '_', '.' and '-', and "
                f"begins with a letter or digit; this is {self.name!r}"
            )
        if self.name in BUILTIN:
            raise UsageError(
                f"the redaction rule {self.name!r} is there already; name it otherwise"
            )

    @classmethod
    def key(cls, name: str, *keys: str) -> Rule:
        """Everything under these keys, at any depth; without any, under the rule's own name."""
        return cls(name, keys=frozenset(map(plain_key, keys or (name,))))

    @classmethod
    def path(cls, name: str, *paths: str) -> Rule:
        """What stands at these places of a request, a response or another value.

        Args:
            name: the rule's name.
            paths: JSON pointers such as ``/arguments/customer/ssn``, where ``*`` stands for any
                one step and ``**`` for any number of them; or JSON paths such as
                ``$.arguments.items[*].code`` and ``$..ssn``.

        Raises:
            UsageError: one of them is neither.
        """
        return cls(name, paths=tuple(map(_steps, paths)))

    @classmethod
    def pattern(cls, name: str, regex: str | re.Pattern[str]) -> Rule:
        """What a regular expression finds in any text: its group ``secret``, else its only group,
        else all of it. Ids of calls, responses and messages are left alone."""
        try:
            compiled = re.compile(regex)
        except re.error as error:
            raise UsageError(
                f"the redaction rule {name!r} is no regular expression: {error}"
            ) from error
        if compiled.search("") is not None:
            raise UsageError(
                f"the redaction rule {name!r} matches the empty text, so it names no secret"
            )
        return cls(name, regex=compiled)

    @classmethod
    def function(cls, name: str, finder: Callable[[str], Iterable[str]]) -> Rule:
        """What a function of a text says: it gives the secrets in it. It must give the same for
        the same text each time. A text for which it fails is redacted as a whole."""
        return cls(name, finder=finder)


def as_rule(given: Any) -> Rule:
    """A rule as it is, or a text as the name of a key. Raises UsageError for anything else."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        return Rule.key(given)
    raise UsageError(
        f"a redaction rule is made with Rule.key(), .path(), .pattern() or .function(), or is the "
        f"name of a key; this is a {type(given).__name__}"
    )


def as_rules(given: Iterable[Any]) -> tuple[Rule, ...]:
    """Several rules. Raises UsageError as :func:`as_rule`, and for two of one name."""
    rules = tuple(map(as_rule, given))
    names = [rule.name for rule in rules]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"there are two redaction rules named {twice!r}; name one otherwise")
    return rules


def plain_key(name: str) -> str:
    """A key as rules compare it: in lower case, without ``_`` and ``-``."""
    return name.lower().replace("_", "").replace("-", "")


def _steps(path: str) -> tuple[str, ...]:
    if path.startswith("/") and len(path) > 1:
        return tuple(s.replace("~1", "/").replace("~0", "~") for s in path[1:].split("/"))
    steps: list[str] = []
    at = 1 if path.startswith("$") and len(path) > 1 else len(path) + 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            break
        if found["deep"] is not None:
            steps.append(DEEP)
        steps.append(next(found[n] for n in ("deep", "key", "item", "quoted") if found[n]))
        at = found.end()
    if at != len(path) or not steps:
        raise UsageError(
            f"{path!r} is neither a JSON pointer such as '/arguments/ssn' nor a JSON path such as "
            "'$.arguments.items[*].code' or '$..ssn'"
        )
    return tuple(steps)
