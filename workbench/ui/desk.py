"""What lies on the workbench: the traces with their edits, and the page that shows them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.trace.edits import Edits
from workbench.trace.trace import Trace
from workbench.ui import views
from workbench.ui.clips import clean
from workbench.ui.history import History
from workbench.ui.options import script_words
from workbench.ui.page import make_page
from workbench.ui.python_log import PythonLog, name_of
from workbench.ui.reports import failure_text
from workbench.ui.runs import Runner
from workbench.ui.saving import free_path
from workbench.ui.sheet import Sheet
from workbench.ui.static_view import mime_parts

if TYPE_CHECKING:
    from workbench.seam.result import RunResult
    from workbench.trace.diff import Diff

SMALL = 300
"""Turns up to which a trace is studied at once; a longer one is studied beside the kernel."""

STUDY_S = 1.0
"""Seconds after which that begins."""

FIRST_ROWS = 24
"""Rows that go to the page with it, so that the first paint waits for no answer."""

log = logging.getLogger("workbench.ui")


class Desk:
    """The state behind a workbench. All changes go through it, and from it to the page.

    Callbacks, runs and the user's own cells are threads of their own: ``lock`` is held while
    something changes.
    """

    def __init__(self, trace: Trace, name: str, *, has_agent: bool) -> None:
        self.lock = threading.RLock()
        self.sheets = [Sheet(trace, name=name)]
        self.has_agent = has_agent
        self.runner = Runner(self._send_run)
        self._histories: dict[int, History] = {}
        self._diffs: dict[tuple[int, int], Diff] = {}
        self._log = PythonLog(trace.path)
        self.page = make_page(self.lock, lambda: mime_parts(self.sheets))
        self.page.fault_forms = views.fault_forms()
        self.page.selected = 1 if len(trace.turns) else 0
        self.page.observe(self._looked_elsewhere, ["selected", "shown"])
        self._begin_study(self.sheets[0])
        self._publish_rows()
        self.publish()

    @property
    def shown(self) -> int:
        """Which trace is looked at: 0 the parent, k the k-th fork."""
        return min(max(0, int(self.page.shown)), len(self.sheets) - 1)

    @property
    def sheet(self) -> Sheet:
        """The trace that is looked at."""
        return self.sheets[self.shown]

    @property
    def history(self) -> History:
        """The edits of the trace that is looked at."""
        with self.lock:
            shown = self.shown
            if shown not in self._histories:
                self._histories[shown] = History(self.sheets[shown].trace)
            return self._histories[shown]

    @property
    def python(self) -> str:
        """The Python of what was done so far."""
        return self._log.text(name_of(self.shown), self.history.edits)

    def change(self, edits: Edits) -> Edits:
        """Put these edits in place of those that hold now."""
        with self.lock:
            self.history.put(edits)
            self.publish()
        return edits

    def publish(self) -> None:
        """Tell the page how things are. What did not change is not sent."""
        with self.lock:
            history, page = self.history, self.page
            page.traces = [sheet.info() for sheet in self.sheets]
            page.edits = history.lines()
            page.can = {
                "undo": history.can_undo,
                "redo": history.can_redo,
                "run": self.has_agent and not self.runner.busy,
                "agent": self.has_agent,
            }
            page.python = clean(self.python)

    def alert(self, text: str) -> None:
        """Show a text in the page's alert line; an empty one takes it away."""
        with self.lock:
            self.page.error = clean(text)

    def add(self, result: RunResult, base: int, edits: Edits, given: Mapping[str, Any]) -> None:
        """A run made a fork of the trace with the number ``base``."""
        number = len(self.sheets)
        name = result.trace.name or f"fork {number}"
        sheet = Sheet(result.trace, name=name, result=result, parent=base)
        sheet.study()
        diff = self.sheets[base].trace.diff(result.trace)
        sheet.divergence = views.divergence(diff)
        with self.lock:
            self.sheets.append(sheet)
            self._diffs[base, number] = diff
            self._log.ran(number, name_of(base), edits, script_words(given))
            self.publish()

    def compare(self, number: int, other: int | None) -> Diff:
        """The difference between a trace and another one, by default its parent.

        Raises:
            UsageError: there is no such trace, or it has no parent.
        """
        for each in (number, other):
            if each is not None and not 0 <= each < len(self.sheets):
                raise UsageError(f"there is no trace {each}: there are 0 to {len(self.sheets) - 1}")
        base = self.sheets[number].parent if other is None else other
        if base is None:
            raise UsageError("there is no fork to compare yet: run one first")
        if (base, number) not in self._diffs:
            self._diffs[base, number] = self.sheets[base].trace.diff(self.sheets[number].trace)
        return self._diffs[base, number]

    def save(self, number: int, path: Path | None) -> Path:
        """Write a trace that is in memory to a new file.

        Raises:
            TraceExistsError: the file exists.
            UsageError: the trace is in a file already.
        """
        sheet = self.sheets[number]
        if number == 0 and sheet.path is not None:
            raise UsageError(f"this is {sheet.path} itself: run a fork first, and save that")
        target = sheet.trace.save(path or free_path(self.sheets[0].path, max(1, number)))
        with self.lock:
            sheet.path = target
            self._log.saved(number, str(target))
            self.publish()
        return target

    def _looked_elsewhere(self, change: Any) -> None:
        """The page or Python moved on: keep it within what there is."""
        with self.lock:
            page, turns = self.page, len(self.sheet.trace.turns)
            if change["name"] == "shown":
                page.shown = self.shown
                self.publish()
            page.selected = min(max(int(page.selected), min(1, turns)), turns)

    def _begin_study(self, sheet: Sheet) -> None:
        if len(sheet.trace.turns) <= SMALL:
            sheet.study()
            return
        # The first paint comes first: both want the interpreter.
        timer = threading.Timer(STUDY_S, self._study, (sheet,))
        timer.daemon = True
        timer.start()

    def _study(self, sheet: Sheet) -> None:
        try:
            sheet.study()
        except Exception as error:
            log.exception("the trace could not be searched for what is wrong with it")
            self.alert(f"Looking for what is wrong with this trace failed: {failure_text(error)}")
            return
        # The rows that changed are there before the page hears that they did.
        self._publish_rows()
        self.publish()

    def _publish_rows(self) -> None:
        with self.lock:
            self.page.first = self.sheets[0].rows(1, FIRST_ROWS + 1)

    def _send_run(self, *, again: bool) -> None:
        with self.lock:
            page = self.page
            page.run = self.runner.state()
            if again:
                page.send_state("run")
            if not self.runner.busy:
                self.publish()
