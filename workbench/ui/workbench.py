"""The workbench: look at a trace, change a turn, run on from there, compare.

::

    bench = wb.Workbench("refund.trace.jsonl", agent=refund_agent)
    bench                                   # in a notebook's cell: the page
    bench.select(4)
    bench.reply(4, tool_call=("send_email", {"to": "ada@example.com"}))
    bench.run(4, tools_after="allow")       # each click has its call, and runs without a page too
    print(bench.result.status, bench.compare().headline)
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.calls import ToolsAfter, ToolsBefore
from workbench.seam.forks import fork, plan
from workbench.trace.edits import EDIT, Edit, Edits
from workbench.trace.faults import FAULT, Fault
from workbench.trace.places import Place, turn
from workbench.trace.trace import Trace, Turn, load
from workbench.ui.desk import Desk
from workbench.ui.handlers import Requests
from workbench.ui.options import Guards, agent_input, plan_view, where
from workbench.ui.runs import Answer

if TYPE_CHECKING:
    from workbench.seam.result import Controller, Plan, Question, RunResult
    from workbench.trace.diff import Diff


class Workbench:
    """A trace opened for debugging, in a notebook's page and from Python.

    Args:
        trace: a trace, or the path of one.
        agent: what made it, called again by :meth:`run`: anything that ``workbench.fork`` takes.
            Without one the trace can be looked at and edits prepared.
        setup: called before each run, to make a fresh world for it (a database, a folder).
        args: the agent's positional arguments; by default those that the trace was recorded with.
        kwargs: the agent's keyword arguments, likewise.
        tools_before: what tools before the cut do: ``replay`` serves their recorded results,
            ``verify`` runs and compares them, ``live`` runs them.
        tools_after: whether tools past the cut may write: ``ask`` in the page, ``deny``, ``allow``.
        name: how the trace is called in the page; by default as it calls itself.
        height: of the page, in pixels.

    Raises:
        MissingExtraError: anywidget is not installed (extra ``lab``).
        UsageError: an option that does not exist, or has a value that does not.
        TraceError: the file is missing, empty, or no trace.
    """

    def __init__(
        self,
        trace: Trace | str | os.PathLike[str],
        agent: Callable[..., Any] | str | None = None,
        *,
        setup: Callable[[], Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        tools_before: ToolsBefore = "replay",
        tools_after: ToolsAfter = "ask",
        name: str | None = None,
        height: int | None = None,
        **unknown: Any,
    ) -> None:
        _refuse(unknown)
        self._guards = Guards(tools_before, tools_after)
        self._agent, self._setup = agent, setup
        self._args, self._kwargs = args, kwargs
        opened = trace if isinstance(trace, Trace) else load(Path(trace))
        title = name or opened.name or (Path(opened.path).name if opened.path else opened.id)
        self._desk = Desk(opened, title, has_agent=agent is not None)
        self._desk.page.guards = self._guards.words()
        self._requests = Requests(self, self._desk.sheets, self._desk.lock)
        self._desk.page.on_msg(self._requests.on_message)
        if height is not None:
            self._desk.page.layout.height = f"{int(height)}px"

    def __repr__(self) -> str:
        sheet = self._desk.sheets[0]
        forks = f", forks: {len(self.forks)}" if self.forks else ""
        return f"<Workbench on {sheet.name}: {len(sheet.trace.turns)} turns{forks}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)

    # What is looked at

    @property
    def widget(self) -> Any:
        """The widget itself, to put into a layout of other widgets."""
        return self._desk.page

    @property
    def trace(self) -> Trace:
        """The trace that is looked at: the parent, or the fork that is shown."""
        return self._desk.sheet.trace

    @property
    def parent(self) -> Trace:
        """The trace that the workbench was opened on."""
        return self._desk.sheets[0].trace

    @property
    def shown(self) -> int:
        """Which trace is looked at: 0 the parent, k the k-th fork."""
        return self._desk.shown

    @property
    def selected(self) -> int:
        """The number of the turn looked at, from 1; 0 when the trace has none."""
        return int(self.widget.selected)

    @property
    def turn(self) -> Turn | None:
        """The turn looked at."""
        return self.trace.turn(self.selected) if self.selected else None

    @property
    def edits(self) -> Edits:
        """The pending edits of the trace that is looked at."""
        return self._desk.history.edits

    @property
    def forks(self) -> list[RunResult]:
        """The result of each run that made a fork, in order."""
        return [sheet.result for sheet in self._desk.sheets if sheet.result is not None]

    @property
    def result(self) -> RunResult | None:
        """The result of the last run; its ``trace`` is the fork."""
        return self.forks[-1] if self.forks else None

    @property
    def running(self) -> dict[str, Any]:
        """The state of the run: ``state``, ``done``, ``expected``, ``message``, ``question``."""
        return self._desk.runner.state()

    @property
    def error(self) -> str:
        """What the page's alert line says."""
        return str(self.widget.error)

    @property
    def python(self) -> str:
        """The Python of what was clicked and called so far."""
        return self._desk.python

    def select(self, number: int) -> Turn:
        """Look at a turn.

        Raises:
            PlaceError: the trace has no such turn.
        """
        with self._desk.lock:
            found = self.trace.turn(number)
            self.widget.selected = number
        return found

    def show(self, number: int) -> Trace:
        """Look at the parent (0) or the k-th fork.

        Raises:
            UsageError: there are not that many.
        """
        last = len(self._desk.sheets) - 1
        if not 0 <= number <= last:
            raise UsageError(f"there is no fork {number}: there are {last}")
        with self._desk.lock:
            self.widget.shown = number
        return self.trace

    # What is changed

    def edit(self, edit: Edit | Mapping[str, Any]) -> Edits:
        """One more edit on the trace that is looked at, as an object or as plain data.

        Raises:
            EditError: it does not fit the trace or the other edits.
            pydantic.ValidationError: the data are no edit.
        """
        made = EDIT.validate_python(edit)
        return self._desk.change(self.edits.add(made))

    def reply(self, at: int | Place, **change: Any) -> Edits:
        """The model said this instead: ``text=``, ``tool_call=`` or ``tool_calls=``.

        Raises:
            EditError: see :meth:`workbench.trace.edits.Edits.reply`.
        """
        return self._desk.change(self.edits.reply(_place(at), **change))

    def tool_result(self, at: int | Place, result: Any, **which: Any) -> Edits:
        """The tool returned this instead; ``tool=`` and ``nth=`` say which one.

        Raises:
            EditError: see :meth:`workbench.trace.edits.Edits.tool_result`.
        """
        return self._desk.change(self.edits.tool_result(_place(at), result, **which))

    def fault(self, fault: Fault | Mapping[str, Any]) -> Edits:
        """A call fails: ``bench.fault(HttpError(429).at(turn(2)))``.

        Raises:
            EditError: the place that it aims at does not exist.
        """
        return self._desk.change(self.edits.fault(FAULT.validate_python(fault)))

    def undo(self) -> None:
        """Take the last change of the edits back."""
        with self._desk.lock:
            self._desk.history.undo()
            self._desk.publish()

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        with self._desk.lock:
            self._desk.history.redo()
            self._desk.publish()

    def clear(self) -> None:
        """Drop all edits; undo brings them back."""
        self._desk.change(self.trace.edit())

    # What is run

    def plan(
        self,
        from_turn: int | None = None,
        *,
        tools_before: ToolsBefore | None = None,
        tools_after: ToolsAfter | None = None,
        ripple: bool = False,
    ) -> Plan:
        """What a run would do: how many calls are served, how many run live, at what cost.

        Raises:
            PlaceError: there is no such turn.
            EditError: the edits do not fit.
        """
        guards = self._guards.but(tools_before, tools_after)
        cut = where(from_turn or self.selected, ripple=ripple)
        return plan(self.trace, edits=self.edits, **cut, **guards.words())

    def plan_view(self, number: int, **options: Any) -> dict[str, Any]:
        """:meth:`plan` as the page shows it; what makes it impossible is in ``problems``."""
        return plan_view(lambda: self.plan(number, **options), self.edits)

    def run(
        self,
        from_turn: int | None = None,
        *,
        wait: bool = True,
        tools_before: ToolsBefore | None = None,
        tools_after: ToolsAfter | None = None,
        ripple: bool = False,
        repeat: int = 1,
        answer: Answer | None = None,
    ) -> RunResult | None:
        """Run the agent with the edits, live from a turn on, into a new fork.

        Args:
            from_turn: the first turn that runs live; by default the one looked at.
            wait: return when the run has ended. Otherwise it goes on beside the kernel.
            tools_before: see the class.
            tools_after: see the class.
            ripple: no cut: only what the edits change goes live.
            repeat: how many runs to make, one after the other.
            answer: called with each live write's question; true lets it run. A run that is
                waited for is not asked in the page, so without this ``ask`` means ``deny``.

        Returns:
            The last run's result; None without ``wait``, or when no run began.

        Raises:
            UsageError: there is no agent, or another run is going on.
        """
        if self._agent is None:
            raise UsageError("there is nothing to run: open it with Workbench(trace, agent=…)")
        desk, edits, base = self._desk, self.edits, self.shown
        given = where(from_turn or self.selected, ripple=ripple)
        given |= self._guards.but(tools_before, tools_after).words()
        planned = plan(self.trace, edits=edits, **given)
        given |= {"setup": self._setup}
        before = len(self.forks)
        desk.runner.start(
            lambda controller: self._fork(base, edits, given, controller),
            lambda result: desk.add(result, base, edits, given | self._given()),
            expected=planned.served + planned.rerun + planned.live,
            answer=answer or (_nobody if wait else None),
            times=repeat,
        )
        desk.publish()
        if not wait:
            return None
        self._wait()
        return self.result if len(self.forks) > before else None

    def cancel(self) -> None:
        """Stop the run at its next call.

        Raises:
            UsageError: nothing runs.
        """
        self._desk.runner.cancel()

    def answer(self, question: str, *, allow: bool) -> None:
        """Answer the question that a live write asks, by its id.

        Raises:
            UsageError: it is no longer asked.
        """
        self._desk.runner.answer(question, allow=allow)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the run to end; false when it has not after ``timeout`` seconds."""
        return self._desk.runner.wait(timeout)

    def compare(self, fork: int | None = None, other: int | None = None) -> Diff:
        """The difference between a fork (the last one) and another trace (its parent).

        Raises:
            UsageError: there is no such fork.
        """
        return self._desk.compare(len(self._desk.sheets) - 1 if fork is None else fork, other)

    def save(self, path: str | os.PathLike[str] | None = None, *, fork: int | None = None) -> Path:
        """Write a fork (the last one) to a file, never over another one, and give its path.

        ``path`` is by default ``<parent>-fork1.trace.jsonl`` beside the parent.

        Raises:
            TraceExistsError: the file is there already.
            UsageError: there is no fork yet.
        """
        number = len(self._desk.sheets) - 1 if fork is None else fork
        return self._desk.save(number, Path(path) if path else None)

    def alert(self, text: str) -> None:
        """Show a text in the page's alert line; an empty one takes it away."""
        self._desk.alert(text)

    def close(self) -> None:
        """Take the page out of the notebook, and cancel what runs."""
        if self._desk.runner.busy:
            self._desk.runner.cancel()
        self.widget.close()

    def _fork(
        self, base: int, edits: Edits, given: Mapping[str, Any], controller: Controller
    ) -> RunResult:
        trace = self._desk.sheets[base].trace
        args, kwargs = agent_input(trace, self._args, self._kwargs)
        name = f"fork {len(self._desk.sheets)}"
        agent: Any = self._agent
        return fork(
            agent, trace, *args, edits=edits, name=name, controller=controller, **given, **kwargs
        )

    def _given(self) -> dict[str, Any]:
        return {"args": self._args, "kwargs": self._kwargs}

    def _wait(self) -> None:
        try:
            self._desk.runner.wait()
        except KeyboardInterrupt:
            self._desk.runner.cancel()
            raise


def _place(at: int | Place) -> Place:
    return at if isinstance(at, Place) else turn(at)


def _nobody(_question: Question) -> bool:
    return False


_OPTIONS = (
    "agent", "setup", "args", "kwargs", "tools_before", "tools_after", "name", "height",
)  # fmt: skip


def _refuse(unknown: Mapping[str, Any]) -> None:
    for name in unknown:
        near = difflib.get_close_matches(name, _OPTIONS, 1)
        hint = f" Did you mean {near[0]}=?" if near else ""
        raise UsageError(f"Workbench() has no option {name}=.{hint} It takes {', '.join(_OPTIONS)}")
