"""A fork reduced to what it was made from: its parent, the edits, the cut and the options.

::

    recipe = fork.trace.recipe()
    recipe.to_json()                     # small enough for a note or a ticket
    parent = recipe.open_parent()        # the very trace it was made from, or an error
    recipe.edits_on(parent)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.errors import TraceFormatError, TraceNotFoundError, UsageError
from workbench.trace.places import Place, parse_place

if TYPE_CHECKING:
    from workbench.trace.edits import Edits
    from workbench.trace.header import TraceLine
    from workbench.trace.trace import Trace

_TEXTS = ("id", "name", "path", "digest")
_KNOWN = frozenset({*_TEXTS, "cut", "options", "edits", "ignore", "input"})


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a fork was made from: enough to make it again."""

    id: str
    """The parent's trace id."""
    name: str | None = None
    """The parent's name."""
    path: str | None = None
    """Where the parent lay when the fork was made: a hint, not a promise."""
    digest: str | None = None
    """SHA-256 of the parent's bytes at that moment."""
    cut: Place | None = None
    """From where on calls ran live."""
    options: dict[str, Any] = field(default_factory=dict)
    """The fork's other choices, as its header has them, such as ``on_miss``."""
    edits: tuple[dict[str, Any], ...] = ()
    """What a person changed, as plain data; :meth:`edits_on` reads it."""
    ignore: dict[str, list[str]] = field(default_factory=dict)
    """JSON pointers into requests that did not count, per api."""
    input: dict[str, Any] | None = None
    """The agent's arguments as tagged values; None where the fork has none recorded."""

    @classmethod
    def from_header(cls, header: TraceLine) -> Self:
        """The recipe of the fork that a header begins.

        Raises:
            UsageError: it has no parent, so it is no fork.
        """
        parent = header.parent
        if parent is None:
            raise UsageError(
                f"{header.name or header.id} has no parent: it was recorded, and only a fork or a "
                "replay can be reduced to what it was made from"
            )
        return cls(
            id=parent.id,
            name=parent.name,
            path=parent.path,
            digest=parent.digest,
            cut=None if parent.cut is None else parse_place(parent.cut),
            options=dict(parent.options),
            edits=tuple(parent.edits),
            ignore=dict(header.hash.ignore) if header.hash is not None else {},
            input=header.input,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` gives the recipe back. What is not set is left out."""
        out: dict[str, Any] = {
            name: value for name in _TEXTS if (value := getattr(self, name)) is not None
        }
        if self.cut is not None:
            out["cut"] = str(self.cut)
        if self.input is not None:
            out["input"] = self.input
        lists = {"options": self.options, "edits": list(self.edits), "ignore": self.ignore}
        return out | {name: value for name, value in lists.items() if value}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what :meth:`to_json` gave.

        Raises:
            TraceFormatError: the data are no recipe; the text says why.
            PlaceError: its cut is no place.
        """
        if not isinstance(data, dict) or not isinstance(data.get("id"), str):
            raise TraceFormatError('a recipe is an object with the parent\'s "id"')
        if unknown := sorted(str(key) for key in data if key not in _KNOWN):
            raise TraceFormatError(
                f"a recipe has no key '{unknown[0]}'; the keys are {', '.join(sorted(_KNOWN))}"
            )
        fields = dict(data)
        for name, kind in (("options", dict), ("edits", list), ("ignore", dict), ("input", dict)):
            if not isinstance(fields.get(name, kind()), kind):
                raise TraceFormatError(f"a recipe's '{name}' is a {kind.__name__}")
        if "cut" in fields:
            fields["cut"] = parse_place(fields["cut"])
        return cls(**fields | {"edits": tuple(fields.get("edits", ()))})

    def open_parent(self, path: Path | str | None = None) -> Trace:
        """The parent, from a file or from where it lay when the fork was made.

        Raises:
            TraceNotFoundError: it is not there.
            UsageError: it is no longer the trace that the fork was made from.
        """
        from workbench.trace.trace import load

        where = path or self.path
        if where is None:
            raise TraceNotFoundError(
                f"the parent {self.name or self.id} was in no file when the fork was made: pass "
                "the trace itself"
            )
        found = load(where)
        self.check(found)
        return found

    def check(self, parent: Trace) -> None:
        """Make sure that a trace is the one that the fork was made from.

        Raises:
            UsageError: it is another one, or it has changed since.
        """
        where = parent.path or parent.name or parent.id
        if parent.id != self.id:
            raise UsageError(
                f"{where} is the trace {parent.id}, and the fork was made from {self.id}"
                + (f" ({self.name})" if self.name else "")
            )
        if self.digest is not None and parent.digest != self.digest:
            raise UsageError(
                f"{where} has changed since the fork was made from it (its digest was "
                f"{self.digest[:12]}…, and is {parent.digest[:12]}…): the same edits would make "
                "another fork. Use the unchanged file"
            )

    def edits_on(self, parent: Trace) -> Edits:
        """The fork's edits, faults among them, on its parent.

        Raises:
            UsageError: it is not the parent.
            pydantic.ValidationError: they are no edits.
        """
        from workbench.trace.edits import Edits

        self.check(parent)
        return Edits.from_json(parent, self.edits)
