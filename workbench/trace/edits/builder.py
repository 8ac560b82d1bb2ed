"""The list of edits on a trace, made step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import PlaceError
from workbench.trace.edits.making import Making
from workbench.trace.edits.models import (
    EDIT,
    EDIT_TYPES,
    DropEdit,
    Edit,
    FaultEdit,
    InsertEdit,
    ReplyEdit,
    RequestEdit,
)
from workbench.trace.edits.parts import from_stored
from workbench.trace.edits.places import target
from workbench.trace.values import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.trace.edits.mends import Mend
    from workbench.trace.edits.requests import Requests
    from workbench.trace.faults import Fault
    from workbench.trace.trace import Trace


class Edits(Making):
    """A list of edits on one trace, made step by step. Each method gives a new list.

    Two lists are equal when they are on the same trace and hold the same edits in the same order.
    """

    def __init__(self, trace: Trace, edits: Iterable[Edit] = ()) -> None:
        self.trace = trace
        self._edits = tuple(edits)
        self._before: Edits | None = None
        self._undone: Edits | None = None

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._edits)

    def __len__(self) -> int:
        return len(self._edits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Edits):
            return NotImplemented
        same = self.trace is other.trace or (
            self.trace.id == other.trace.id and self.trace.digest == other.trace.digest
        )
        return same and dumps(self.to_json()) == dumps(other.to_json())

    __hash__ = None  # type: ignore[assignment]  # its edits hold what cannot be hashed

    def __repr__(self) -> str:
        return f"<Edits of {self.trace.name or self.trace.id}: {len(self)}>\n{self.preview()}"

    # -- the list

    def add(self, edit: Edit, *, mend: bool = False) -> Edits:
        """One more edit, in place of one of the same kind at the same place.

        Args:
            edit: the edit.
            mend: where it would be refused and something mends that, do that too.

        Raises:
            EditError: it does not fit the trace or the other edits; ``problems`` says why, and
                ``mends`` what would put it right.
        """
        from workbench.trace.edits.checking import check
        from workbench.trace.edits.mends import mended, refusal

        new = self._then(self._with(edit))
        problems = check(new)
        found = mended(new) if problems and mend else None
        if found is not None:
            return self._then(found)
        if problems:
            raise refusal(problems)
        return new

    def _with(self, edit: Edit) -> list[Edit]:
        from workbench.trace.edits.checking import settle

        edit = settle(self.trace, edit)
        where = self._target(edit)
        return [*(each for each in self._edits if self._target(each) != where), edit]

    @classmethod
    def of(cls, trace: Trace, edits: Iterable[Edit]) -> Edits:
        """A list of edits as :meth:`add` would make it, of which nothing is checked yet: some fit
        only together."""
        out = cls(trace)
        for edit in edits:
            out = cls(trace, out._with(edit))
        return out

    def mend(self, mend: Mend) -> Edits:
        """The list that a mend of a refused edit makes.

        Raises:
            EditError: something else is still wrong.
        """
        from workbench.trace.edits.checking import check
        from workbench.trace.edits.mends import refusal

        new = self._then(mend.edits)
        problems = check(new)
        if problems:
            raise refusal(problems)
        return new

    def _then(self, edits: Iterable[Edit]) -> Edits:
        new = Edits(self.trace, edits)
        new._before = self
        return new

    def _target(self, edit: Edit) -> object:
        """What an edit changes: the same entry may be named by its turn or by its id."""
        try:
            entry = target(self.trace, edit)
        except PlaceError as error:
            return edit.type, str(error)
        if entry is not None:
            return edit.type, entry.id
        if isinstance(edit, DropEdit):
            return edit.type, str(edit.at)
        return object()  # several faults may hit the same call, and several things be put in

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self._before is not None or bool(self._edits)

    @property
    def can_redo(self) -> bool:
        """Whether a change was taken back."""
        return self._undone is not None

    def undo(self) -> Edits:
        """The list before its last change; of one that was read, without its last edit."""
        if not self.can_undo:
            return self
        before = self._before
        if before is None:
            before = Edits(self.trace, self._edits[:-1])
        new = Edits(self.trace, before)
        new._before, new._undone = before._before, self
        return new

    def redo(self) -> Edits:
        """The list with the change that was taken back last; itself where there is none."""
        return self if self._undone is None else self._undone

    def problems(self) -> list[str]:
        """What is wrong with these edits, a sentence each; empty when nothing is."""
        from workbench.trace.edits.checking import check

        return [problem.text for problem in check(self)]

    # -- what a session asks for

    def targets(self) -> dict[str, Edit]:
        """The edits by the id of the entry that they change (faults, and what is put in or
        dropped, aside). Where a reply edit and a request edit name one turn, it is the reply edit:
        its turn is answered by it, and :meth:`requests` has the other."""
        out: dict[str, Edit] = {}
        for edit in self._edits:
            entry = target(self.trace, edit)
            if entry is not None and not (
                isinstance(edit, RequestEdit) and isinstance(out.get(entry.id), ReplyEdit)
            ):
                out[entry.id] = edit
        return out

    def requests(self) -> Requests:
        """Which request edits hold for a model call."""
        from workbench.trace.edits.requests import Requests

        return Requests(self.trace, self._edits)

    def faults(self) -> list[Fault]:
        """The injected faults, in order."""
        return [edit.fault for edit in self._edits if isinstance(edit, FaultEdit)]

    @property
    def structural(self) -> bool:
        """Whether something is put in or dropped, so that a run goes by :meth:`apply`."""
        return any(isinstance(edit, InsertEdit | DropEdit) for edit in self._edits)

    def apply(self) -> Trace:
        """The trace with what is put in and without what is dropped, in memory.

        Entries keep their ids. A trace without such edits is returned itself.

        Raises:
            EditError: the edits do not fit.
        """
        from workbench.trace.edits.applying import apply

        return apply(self)

    def onto(self, applied: Trace) -> Edits:
        """The other edits, for the trace that :meth:`apply` gave.

        Raises:
            PlaceError: what one of them changes is not there.
        """
        from workbench.trace.edits.places import moved

        rest = [edit for edit in self._edits if not isinstance(edit, InsertEdit | DropEdit)]
        return Edits(applied, [moved(edit, self.trace, applied) for edit in rest])

    # -- as text and data

    def preview(self) -> str:
        """The difference that the edits make, as text: what was, what is said instead."""
        from workbench.trace.preview import preview

        return preview(self)

    def code(self, trace: str = "trace") -> str:
        """Python that makes these edits, ``edits = trace.edit()…``, with the imports it needs."""
        from workbench.trace.edits.code import code

        return code(self, trace)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data, as a fork's header keeps it; :meth:`from_json` reads it.

        Raises:
            UnencodableError: an edit holds what a trace cannot represent.
        """
        return [edit.as_json() for edit in self._edits]

    @classmethod
    def from_json(cls, trace: Trace, data: Iterable[Any]) -> Edits:
        """Read what :meth:`to_json` wrote.

        Raises:
            pydantic.ValidationError: the data are no edits.
        """
        return cls(trace, [_read(each) for each in data])


def _read(data: Any) -> Edit:
    kind = data.get("type") if isinstance(data, dict) else None
    return EDIT.validate_python(from_stored(data, EDIT_TYPES.get(str(kind))))
