"""What is wrong with edits, and what would put it right."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import EditError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.trace.edits.builder import Edits
    from workbench.trace.edits.models import Edit

_MOST_TRIED = 24


@dataclass(frozen=True, slots=True)
class Mend:
    """Something that would put a refused edit right."""

    label: str
    """What is done, as words on a button."""
    edits: tuple[Edit, ...]
    """The whole list of edits that it makes: give it to :meth:`Edits.mend`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a list of edits."""

    text: str
    """A sentence with the place and the reason."""
    mends: tuple[Mend, ...] = ()
    """What would put it right, the best first."""


def refusal(problems: Sequence[Problem]) -> EditError:
    """The error of a list of edits in which something is wrong."""
    texts = [problem.text for problem in problems]
    mends = [mend for problem in problems for mend in problem.mends]
    return EditError("this edit cannot be made: " + "; ".join(texts), problems=texts, mends=mends)


def without(edits: Edits, *gone: Edit) -> tuple[Edit, ...]:
    """The edits less some."""
    return tuple(each for each in edits if not any(each is one for one in gone))


def instead(edits: Edits, old: Edit, *new: Edit) -> tuple[Edit, ...]:
    """The edits with others in place of one."""
    out: list[Edit] = []
    for each in edits:
        out += new if each is old else (each,)
    return tuple(out)


def either(edits: Edits, one: Edit, other: Edit) -> tuple[Mend, ...]:
    """Two edits exclude each other: drop one of them, the older one first."""
    older, newer = (each for each in edits if each is one or each is other)
    return tuple(
        Mend(f"drop the edit “{each.label}”", without(edits, each)) for each in (older, newer)
    )


def mended(edits: Edits) -> tuple[Edit, ...] | None:
    """The first list in which nothing is wrong, by one mend after another; None without one."""
    from workbench.trace.edits.builder import Edits
    from workbench.trace.edits.checking import check

    waiting = deque([tuple(edits)])
    for _ in range(_MOST_TRIED):
        if not waiting:
            return None
        tried = waiting.popleft()
        problems = check(Edits(edits.trace, tried))
        if not problems:
            return tried
        waiting += [mend.edits for mend in problems[0].mends]
    return None
