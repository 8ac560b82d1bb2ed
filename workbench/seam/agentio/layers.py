"""A session of an io's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import DriftError, StopRun, UsageError
from workbench.seam.running import Ending, Run

if TYPE_CHECKING:
    from workbench.seam.drivers import Seam
    from workbench.seam.result import Plan, RunResult
    from workbench.seam.setting import Setting
    from workbench.seam.watching import Controller
    from workbench.trace.trace import Trace


class Layer:
    """A session between an io and its world, from its making to its end.

    Args:
        setting: what tells a recording from a replay and from injected faults.
        label: a word for it, such as ``recording``.
        strict: whether drift, or a fault that hit nothing, is raised at the end.
        controller: who watches.
        plan: a fork's plan.
    """

    def __init__(
        self,
        setting: Setting,
        label: str,
        *,
        strict: bool = True,
        controller: Controller | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.label = label
        self.keeps = label == "recording"
        """Whether it is there to keep what happens, so that a tool's own calls are kept too."""
        self.entered = False
        """Whether a ``with`` block will end it."""
        self._run = Run(setting, controller, plan)
        self._strict = strict
        self._result: RunResult | None = None

    @property
    def seam(self) -> Seam:
        """Where calls cross."""
        return self._run.seam

    def open_seam(self) -> Seam:
        """Where calls cross.

        Raises:
            UsageError: it is over.
        """
        if self._result is not None:
            raise UsageError(
                f"this {self.label} io is closed, and its trace is complete: make a new one for "
                "each run"
            )
        return self._run.seam

    @property
    def trace(self) -> Trace:
        """The trace as it is: what has happened until now."""
        if self._result is not None:
            return self._result.trace
        return self._run.setting.journal.trace()

    @property
    def result(self) -> RunResult:
        """How it went.

        Raises:
            UsageError: it has not ended.
        """
        if self._result is None:
            raise UsageError(
                "the result is there once the io is closed: leave its with block, or call close()"
            )
        return self._result

    def end(self, error: BaseException | None) -> BaseException | None:
        """End it, and give what is wrong with how it went, if anything.

        Args:
            error: what the agent raised.
        """
        self.entered = False
        if self._result is not None:
            return None
        seam = self.seam
        seam.end_streams()
        seam.over = True
        seam.release()
        self._result = result = self._run.close(_ending(error))
        if result.drift is None and self._strict and result.unfired:
            return DriftError(self._run.setting.faults.complaint())
        return result.drift if self._strict else None


def _ending(error: BaseException | None) -> Ending:
    if error is None:
        return Ending()
    stopped = isinstance(error, StopRun) or not isinstance(error, Exception)
    return Ending("cancelled" if stopped else "failed", error=error)
