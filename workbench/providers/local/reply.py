"""A reply that is JSON, read as it arrives and given back as text or as a tool call."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_CALL = re.compile(r'\s*\{\s*"tool"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*')
_ANSWER = re.compile(r'\s*\{\s*"answer"\s*:\s*(?=\S)')
# One unit of a JSON string: plain characters, a surrogate pair, one escape, or the first half of
# a pair that is seen to have no second.
_UNIT = re.compile(
    r'[^"\\]+'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
    r'|\\["\\/bfnrt]'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])"
)


@dataclass(frozen=True)
class Name:
    """A tool is being called; its arguments follow."""

    text: str


@dataclass(frozen=True)
class Arguments:
    """The next piece of the call's arguments, as JSON text."""

    text: str


@dataclass(frozen=True)
class Text:
    """The next piece of the answer."""

    text: str


Piece = Name | Arguments | Text


class ReplyReader:
    """Feed it the model's JSON in any pieces; it gives back what each piece adds.

    What it has given at the end does not depend on how the JSON was cut.
    """

    def __init__(self, stops: tuple[str, ...] = ()) -> None:
        self._buffer = ""
        self._value: _RawValue | None = None
        self._make: type[Arguments | Text] = Text
        self._in_string = False
        self._cutter = StopCutter(stops)

    def feed(self, text: str) -> list[Piece]:
        """Add the next piece of JSON."""
        self._buffer += text
        pieces: list[Piece] = []
        if self._value is None and not self._in_string:
            self._begin(pieces)
        if self._in_string:
            self._add(pieces, Text, self._cutter.feed(self._take_string()))
        elif self._value is not None:
            self._add(pieces, self._make, self._value.take(self._buffer))
            self._buffer = ""
        return pieces

    def end(self) -> list[Piece]:
        """What was held back because more could have changed it."""
        rest = self._cutter.end()
        return [Text(rest)] if rest else []

    def _begin(self, pieces: list[Piece]) -> None:
        """Find out what the reply is, once enough of it is there to tell."""
        if call := _CALL.match(self._buffer):
            pieces.append(Name(json.loads(call.group(1))))
            self._value, self._make = _RawValue(), Arguments
            self._buffer = self._buffer[call.end() :]
        elif answer := _ANSWER.match(self._buffer):
            self._buffer = self._buffer[answer.end() :]
            if self._buffer.startswith('"'):
                self._in_string = True
                self._buffer = self._buffer[1:]
            else:
                self._value = _RawValue()

    def _take_string(self) -> str:
        """Decode as much of the string as is complete; what follows its end is dropped."""
        at, pieces = 0, []
        while unit := _UNIT.match(self._buffer, at):
            raw = unit.group()
            pieces.append(_unescape(raw) if raw[0] == "\\" else raw)
            at = unit.end()
        # At the closing quote the rest stays where it is, and nothing matches any more.
        self._buffer = self._buffer[at:]
        return "".join(pieces)

    @staticmethod
    def _add(pieces: list[Piece], make: type[Arguments | Text], text: str) -> None:
        if text:
            pieces.append(make(text))


def _unescape(raw: str) -> str:
    char: str = json.loads(f'"{raw}"')
    # Half of a surrogate pair is no character: it could not be sent on.
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char


class _RawValue:
    """Follows a JSON object, array or scalar to its end; drops the space between its parts."""

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._done = False

    def take(self, text: str) -> str:
        """The part of ``text`` that belongs to the value."""
        return "".join(char for char in text if self._keeps(char))

    def _keeps(self, char: str) -> bool:
        if self._done:
            return False
        if self._quoted:
            self._in_quotes(char)
            return True
        if char == '"':
            self._quoted = True
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            self._done = self._depth <= 0
            # Below zero, the brace belongs to the object around a bare scalar.
            return self._depth >= 0
        return not char.isspace()

    def _in_quotes(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._quoted = False


class StopCutter:
    """Ends a text before the first of the stop texts, however the text is cut into pieces."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = stops
        self._held = ""
        self._stopped = False

    def feed(self, text: str) -> str:
        """The part of what has come so far that no stop can take back."""
        if self._stopped:
            return ""
        self._held += text
        found = [(at + len(stop), at) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            # The one that is complete first, as if the text came one character at a time.
            self._stopped = True
            done, self._held = self._held[: min(found)[1]], ""
            return done
        keep = max((self._overlap(stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        done, self._held = self._held[:cut], self._held[cut:]
        return done

    def end(self) -> str:
        """What was held back as the possible start of a stop text."""
        rest, self._held = self._held, ""
        return rest

    def _overlap(self, stop: str) -> int:
        """How many of the last characters could begin ``stop``."""
        longest = min(len(stop) - 1, len(self._held))
        return next(
            (size for size in range(longest, 0, -1) if stop.startswith(self._held[-size:])), 0
        )
