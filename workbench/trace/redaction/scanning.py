"""Looking for secrets in files: traces, other JSON, and any other text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from workbench.errors import TraceFormatError
from workbench.trace.encoding import step
from workbench.trace.notices import Notice, Notices
from workbench.trace.redaction.lines import clean_fields
from workbench.trace.redaction.placeholders import placeholders
from workbench.trace.redaction.reading import MAX_WHOLE, Reader
from workbench.trace.redaction.redactor import Redactor
from workbench.trace.redaction.rules import Rule
from workbench.trace.redaction.streams import Stream
from workbench.trace.values import loads

MAX_FINDINGS: Final = 1000
"""More of one file are only counted."""
_MAX_STREAMS: Final = 1000
_OVERLAP: Final = 20_000
"""Characters of a text that are looked at together with what follows them."""
_LINES: Final = frozenset(
    {"trace", "writer", "call", "chunk", "result", "event", "clock", "value", "input", "blob",
     "end"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a file. It never holds the secret itself."""

    file: str | None
    """The file; None for a trace in memory."""
    line: int | None
    """The line's number, from 1; None in a file that is one JSON value over several lines."""
    entry: str | None
    """The id of the trace's entry that the line belongs to."""
    rule: str
    """The rule that found it."""
    path: str | None
    """Where in the line's JSON, such as ``$.request.body.messages[0].content``; None in a line that
    is no JSON."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        where = " at ".join(part for part in (self.entry and f"entry {self.entry}", self.path)
                            if part)  # fmt: skip
        return f"{place or 'the trace'}: {self.rule}{f' in {where}' if where else ''}"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON."""
        return asdict(self)


@dataclass(slots=True)
class Report:
    """What was found in one file."""

    findings: list[Finding] = field(default_factory=list)
    """At most 1,000."""
    more: int = 0
    """How many findings were left out."""
    notices: tuple[Notice, ...] = ()
    """What could not be read as it should: it was scanned as bytes."""


def scan(path: Path | str, rules: Iterable[Rule | str] = ()) -> list[Finding]:
    """The secrets in a file: a trace, also compressed by gzip, or any other text.

    JSON, on one line or on each line, is looked at by names too; a line that cannot be parsed, and
    any other file, by what secrets look like. The environment of this process is looked for.

    Args:
        path: the file.
        rules: the user's own, beside those of this package.

    Raises:
        TraceNotFoundError: there is no such file.
        TraceFormatError: it is a folder, or cannot be read.
    """
    return scan_file(path, Redactor.for_recording(list(rules), salt="scan")).findings


def scan_file(path: Path | str, redactor: Redactor) -> Report:
    """The secrets in a file by a redactor's rules. Raises as :func:`scan`."""
    notices = Notices()
    with Reader.open(Path(path), notices) as reader:
        return _scan(reader, redactor, notices, str(path))


def scan_bytes(data: bytes, redactor: Redactor) -> Report:
    """The same for a trace in memory."""
    return _scan(Reader.of(data), redactor, Notices(), None)


def _scan(reader: Reader, redactor: Redactor, notices: Notices, name: str | None) -> Report:
    found = _Found(name)
    if reader.is_lines():
        _Lines(redactor, found, notices).run(reader.lines())
    else:
        whole = reader.whole() if reader.size_at_most(MAX_WHOLE) else None
        value = _parsed(whole) if whole is not None else None
        if value is not None:
            found.differing(value, redactor.clean(value), None, None)
        else:
            _scan_text(reader.texts(), redactor, found)
    return Report(found.kept, found.more, notices.all())


class _Found:
    """Collects the findings of one file."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.kept: list[Finding] = []
        self.more = 0

    def add(self, rule: str, line: int | None, entry: str | None, path: str | None) -> None:
        finding = Finding(self.name, line, entry, rule, path)
        if len(self.kept) < MAX_FINDINGS:
            if finding not in self.kept[-20:]:
                self.kept.append(finding)
        else:
            self.more += 1

    def differing(
        self, old: Any, new: Any, line: int | None, entry: str | None, path: str = "$"
    ) -> None:
        """Note each place in which a value differs from what it is without secrets."""
        if new is old:
            return
        if type(old) is dict and type(new) is dict and len(old) == len(new):
            for (key, item), (new_key, cleaned) in zip(old.items(), new.items(), strict=True):
                if new_key != key:
                    self._new(key, new_key, line, entry, f"{path} (a key)")
                where = path + (step(key) if new_key == key else f"[{new_key!r}]")
                self.differing(item, cleaned, line, entry, where)
        elif type(old) is type(new) is list and len(old) == len(new):
            for number, (item, cleaned) in enumerate(zip(old, new, strict=True)):
                self.differing(item, cleaned, line, entry, f"{path}[{number}]")
        else:
            self._new(old, new, line, entry, path)

    def _new(self, old: Any, new: Any, line: int | None, entry: str | None, path: str) -> None:
        known = set(placeholders(old))
        names = [text.split(":")[1] for text in placeholders(new) if text not in known]
        for rule in dict.fromkeys(names):
            self.add(rule, line, entry, path)


class _Lines:
    """Scans JSON Lines."""

    def __init__(self, redactor: Redactor, found: _Found, notices: Notices) -> None:
        self.redactor = redactor
        self.found = found
        self.notices = notices
        self.streams: dict[str, Stream] = {}

    def run(self, lines: Iterable[tuple[int, bytes, bool]]) -> None:
        for number, data, whole in lines:
            value = _parsed(data) if whole else None
            if value is not None:
                self._line(number, value)
            elif data.strip():
                why = "is no JSON" if whole else "is too long"
                self.notices.add(f"{why}, so it was scanned as bytes", number)
                text = data.decode("utf-8", "replace")
                for match in self.redactor.texts.find(text):
                    self.found.add(match.rule, number, None, None)
        for call in list(self.streams):
            self._end(call)

    def _line(self, number: int, value: Any) -> None:
        if not (isinstance(value, dict) and value.get("line") in _LINES):
            self.found.differing(value, self.redactor.clean(value), number, None)
            return
        kind = value["line"]
        entry = value.get("of", value.get("id") if kind not in ("trace", "writer") else None)
        entry = entry if isinstance(entry, str) else None
        if kind == "chunk" and entry is not None:
            data = value.pop("data", None)
            self._chunk(entry, number, data)
        elif kind == "result" and entry is not None:
            self._end(entry)
        if not self.redactor.is_clean(value):
            self.found.differing(value, clean_fields(self.redactor, value), number, entry)

    def _chunk(self, call: str, number: int, data: Any) -> None:
        if call not in self.streams and len(self.streams) >= _MAX_STREAMS:
            self._end(next(iter(self.streams)))
        stream = self.streams.setdefault(call, Stream(self.redactor))
        self._seen(call, stream.add((number, data), data))

    def _end(self, call: str) -> None:
        stream = self.streams.pop(call, None)
        if stream is not None:
            self._seen(call, stream.flush())

    def _seen(self, call: str, chunks: Iterable[tuple[tuple[int, Any], Any]]) -> None:
        for (number, old), new in chunks:
            self.found.differing(old, new, number, call, "$.data")
            self.found.differing(new, self.redactor.clean(new), number, call, "$.data")


def _scan_text(texts: Iterator[str], redactor: Redactor, found: _Found) -> None:
    """Scan a text that comes in pieces; what may go on in the next is looked at with it."""
    window, line = "", 1
    for piece in _and_end(texts):
        window += piece or ""
        sure = len(window) - (_OVERLAP if piece else 0)
        if sure <= 0:
            continue
        done = sure
        for match in redactor.texts.find(window):
            if match.start < sure:
                found.add(match.rule, line + window.count("\n", 0, match.start), None, None)
                done = max(done, match.end)
        line += window.count("\n", 0, done)
        window = window[done:]


def _and_end(texts: Iterator[str]) -> Iterator[str]:
    yield from texts
    yield ""


def _parsed(data: bytes) -> Any:
    """The JSON in a line; None when it is none."""
    try:
        return loads(data.strip())
    except TraceFormatError:
        return None
