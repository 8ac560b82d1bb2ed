"""Commands to copy, made of what a command was given."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.cli.agents import Given
    from workbench.trace.trace import Trace

_RECORD = "workbench record …"
_FORK = "workbench fork … --on-miss live"


def drift_text(text: str, given: Given, parent: Trace) -> str:
    """A drift's text, with whole commands instead of those that leave something out.

    Where a part is not known, as when an argument is no JSON, they stay as they are.
    """
    words = given_words(given, parent)
    if words is None or parent.path is None:
        return text
    record = _shell("workbench", "record", *given.spelled, *_after(words))
    fork = ("workbench", "fork", str(parent.path), *_agent(given), "--on-miss", "live")
    return text.replace(_RECORD, record).replace(_FORK, _shell(*fork, *_after(given.words)))


def given_words(given: Given, parent: Trace) -> list[str] | None:
    """The words after ``--`` that give an agent its arguments; None when no words can."""
    from workbench.errors import UsageError
    from workbench.seam.opening import input_of
    from workbench.seam.scripts import Script

    if isinstance(given.agent, Script):
        return list(given.agent.argv)
    try:
        args, kwargs = input_of(parent, given.args, given.kwargs)
    except UsageError:
        return None
    given_values = [("", each) for each in args] + [(f"{name}=", kwargs[name]) for name in kwargs]
    out: list[str] = []
    for head, value in given_values:
        word = _word(value)
        if word is None:
            return None
        out.append(head + word)
    return out


def _word(value: Any) -> str | None:
    """A word that is read as that value; None when there is none."""
    from workbench.cli.agents import function_arguments

    words = [value] if isinstance(value, str) else []
    try:
        words.append(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return None
    for word in words:
        read, named = function_arguments([word])
        if not named and read == (value,) and type(read[0]) is type(value):
            return word
    return None


def _agent(given: Given) -> Sequence[str]:
    return ["--recorded-agent"] if given.spelled[:1] == ("-m",) else given.spelled


def _after(words: Sequence[str]) -> list[str]:
    return ["--", *words] if words else []


def _shell(*words: str) -> str:
    return shlex.join(words)
