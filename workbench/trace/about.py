"""What the first and the last line of a trace say about the run as a whole."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from workbench.errors import UnavailableError
from workbench.trace.bodies import Bodies
from workbench.trace.checking import first_problem
from workbench.trace.entries import EndLine, ErrorInfo, ParentInfo, TraceLine
from workbench.trace.index import Index
from workbench.trace.lines import Lines
from workbench.trace.notices import Notice, Notices
from workbench.trace.times import parse_time
from workbench.trace.values import decode


class About:
    """A run as a whole; :class:`~workbench.trace.trace.Trace` sets the attributes."""

    header: TraceLine
    index: Index
    lines: Lines
    bodies: Bodies
    _notices: Notices

    @property
    def id(self) -> str:
        """The trace's own id."""
        return self.header.id

    @property
    def name(self) -> str | None:
        """A name for people."""
        return self.header.name

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is wrong with the file, as far as it was looked at."""
        return self._notices.all()

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is not in the trace, a sentence each: left out on purpose, or out of its reach."""
        out = []
        trimmed = self.header.trimmed
        if trimmed is not None:
            places = " to ".join(each for each in (trimmed.first, trimmed.last) if each)
            places = ", ".join([*([places] if places else []), *(trimmed.keep or [])])
            entries = "entry was" if trimmed.left_out == 1 else "entries were"
            kept = f" (kept: {places})" if places else ""
            whole = trimmed.name or trimmed.id
            out.append(f"{trimmed.left_out:,} {entries} left out of {whole}{kept}")
            if trimmed.lost:
                out.append(f"parts of {', '.join(trimmed.lost[:10])} were damaged there")
        if self.header.requests == "hash":
            out.append("prompts and arguments were not recorded, only their hashes")
        out += (self.end.notes or ()) if self.end is not None else ()
        return tuple(out)

    @property
    def parent(self) -> ParentInfo | None:
        """For a fork: where it comes from."""
        return self.header.parent

    @cached_property
    def end(self) -> EndLine | None:
        """How the run ended; None when it was cut short."""
        if not self.index.ends:
            return None
        line = self.index.ends[-1]
        try:
            data = self.lines.whole(line)
            if "output" in data:
                data["output"] = self.bodies.stored(line)
            return EndLine.model_validate(data)
        except UnavailableError as error:
            self._notices.add(f"the end cannot be read ({error})", line + 1)
        except ValidationError as error:
            self._notices.add(f"the end is not valid: {first_problem(error)}", line + 1)
        return None

    @property
    def status(self) -> str:
        """``ok``, ``failed``, ``drifted``, ``blocked``, ``cancelled``, ``cut short``, or ``by
        hand`` when it was written and never ran."""
        unended = "cut short" if self.header.hand is None else "by hand"
        return self.end.status if self.end is not None else unended

    @property
    def input(self) -> Any:
        """The agent's arguments, ``{"args": […], "kwargs": {…}}``, decoded."""
        return decode(self.header.input)

    @property
    def output(self) -> Any:
        """What the agent returned, decoded; None when it did not, or it was not recorded."""
        return None if self.end is None else decode(self.end.output)

    @property
    def error(self) -> ErrorInfo | None:
        """What the agent raised."""
        return None if self.end is None else self.end.error

    @cached_property
    def started_at(self) -> datetime | None:
        """When the run began, UTC: as the header says, or the first entry that has a time."""
        found = parse_time(self.header.created_at)
        if found is None:
            heads = (self.lines.read_head(line) for line in self.index.calls[:50])
            times = (parse_time(head.get("at")) for head in heads)
            found = next((time for time in times if time is not None), None)
        return found
