"""``verify``: the same recording replayed several times, and every replay the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import DriftError, UnencodableError, UsageError
from workbench.seam.opening import TraceLike, as_trace
from workbench.seam.run import areplay, replay
from workbench.seam.writing import clip
from workbench.trace.canonical import canonical
from workbench.trace.values import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.seam.result import RunResult
    from workbench.trace.diff import Row
    from workbench.trace.trace import Trace

_SHOWN = 10
"""So many differences of one replay are told."""


@dataclass(slots=True)
class Verification:
    """What several replays of one recording gave."""

    trace: Trace
    """What was replayed."""
    results: list[RunResult] = field(default_factory=list)
    """Each replay."""
    differences: list[str] = field(default_factory=list)
    """What was not the same, a sentence each."""

    @property
    def ok(self) -> bool:
        """Whether every replay did what was recorded, and all of them the same."""
        return not self.differences

    def raise_for_difference(self) -> Verification:
        """This verification, once it is sure that nothing differs.

        Raises:
            DriftError: something does; the text lists it.
        """
        if self.differences:
            raise DriftError("\n".join(self.differences))
        return self

    def __repr__(self) -> str:
        replays, count = len(self.results), len(self.differences)
        made = "1 replay" if replays == 1 else f"{replays} replays"
        found = "no difference" if self.ok else f"{count} difference{'s' if count > 1 else ''}"
        return f"<Verification of {self.trace.name or self.trace.id}: {made}, {found}>"


def verify(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    runs: int = 3,
    allow_failed: bool = False,
    **options: Any,
) -> Verification:
    """Replay a recording several times, strictly, and compare the replays.

    Compared are the status, the output or the error, every call and its outcome, what the agent
    read and the events that it wrote: with the recording, and from replay to replay. A recording
    written by hand says little of that, so there it is from replay to replay.

    Args:
        agent: as for :func:`workbench.record`.
        trace: what was recorded, or its file.
        *args: the agent's arguments; without any, the recorded ones.
        runs: how many replays, at least 1.
        allow_failed: whether an agent that raises, as it did when it was recorded, is fine.
        **options: the agent's keyword arguments, and the options of :func:`workbench.replay`
            (``tools``, ``setup``, ``ignore``, …), but for those that would make it lenient.

    Raises:
        UsageError: there is nothing to compare.
    """
    parent = _checked(trace, runs, options)
    found = Verification(parent)
    for _ in range(runs):
        found.results.append(replay(agent, parent, *args, **options))
    found.differences = list(_differences(found, allow_failed=allow_failed))
    return found


async def averify(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    runs: int = 3,
    allow_failed: bool = False,
    **options: Any,
) -> Verification:
    """:func:`workbench.verify`, to be awaited where a loop is running."""
    parent = _checked(trace, runs, options)
    found = Verification(parent)
    for _ in range(runs):
        found.results.append(await areplay(agent, parent, *args, **options))
    found.differences = list(_differences(found, allow_failed=allow_failed))
    return found


def _checked(trace: TraceLike, runs: int, options: dict[str, Any]) -> Trace:
    if type(runs) is not int or runs < 1:
        raise UsageError(f"runs={runs!r}: how many replays, a whole number from 1")
    if options.get("on_miss", "fail") != "fail":
        raise UsageError("verify replays strictly: leave on_miss= out")
    if options.get("to") is not None:
        raise UsageError("verify makes several replays, which one file cannot hold: leave to= out")
    for name in ("edits", "faults"):
        if options.get(name):
            raise UsageError(
                f"verify compares with the recording, which {name}= would change: leave it out"
            )
    return as_trace(trace)


def _differences(found: Verification, *, allow_failed: bool) -> Iterator[str]:
    recorded = found.trace
    for number, result in enumerate(found.results, 1):
        where = f"replay {number}"
        if result.drift is not None:
            yield f"{where}: {result.drift}"
            continue
        if result.status != "ok" and not (allow_failed and result.status == recorded.status):
            yield f"{where}: the run ended {result.status}: {result.error}"
            continue
        if recorded.header.hand is None:  # by hand nobody writes what was asked, or how it ended
            yield from _beside(f"{where}, beside the recording", recorded, result.trace)
    first = next((each for each in found.results if each.drift is None), None)
    for number, result in enumerate(found.results, 1):
        if first is not None and result is not first and result.drift is None:
            yield from _beside(
                f"replay {number}, beside replay {found.results.index(first) + 1}",
                first.trace,
                result.trace,
            )


def _beside(where: str, old: Trace, new: Trace) -> Iterator[str]:
    """What differs between two runs that both did what was recorded."""
    if old.status not in (new.status, "cut short"):
        yield f"{where}: the status is {new.status} instead of {old.status}"
    elif _ending(old) != _ending(new) and old.status != "cut short":
        yield f"{where}: it gives {_shown(new)} instead of {_shown(old)}"
    rows = [row for row in old.diff(new).rows if row.kind not in ("same", "moved")]
    # A strict replay goes by the requests: what differs in one and was let pass does not count.
    rows = [row for row in rows if not _only_requests(row)]
    for row in rows[:_SHOWN]:
        yield f"{where}: {row.text}"
    if len(rows) > _SHOWN:
        yield f"{where}: and {len(rows) - _SHOWN} more"


def _only_requests(row: Row) -> bool:
    return bool(row.what) and all(each.startswith(("request:", "request ")) for each in row.what)


def _ending(trace: Trace) -> Any:
    if trace.error is not None:
        return trace.error.type, trace.error.message
    try:
        return canonical(trace.output)
    except UnencodableError:
        return repr(trace.output)


def _shown(trace: Trace) -> str:
    if trace.error is not None:
        return clip(f"{trace.error.type}: {trace.error.message}")
    try:
        return clip(canonical(encode(trace.output, plain=True)).decode(errors="replace"))
    except UnencodableError:
        return clip(repr(trace.output))
