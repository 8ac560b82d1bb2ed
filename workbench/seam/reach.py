"""How far a recording reaches: whether a call belongs to it still."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Ticket
    from workbench.seam.setting import Setting
    from workbench.trace.trace import Entry


class Reach:
    """Answers about one call, by the setting alone."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._policy = setting.policy

    def drifts(self, ticket: Ticket) -> bool:
        """Whether a call ends a strict run, which a fault aimed at it must not hide."""
        if ticket.entry is not None or not self._policy.strict or self._setting.recording:
            return False
        return not self.runs_tools(ticket.call) and not self.past_cut(ticket.call)

    def runs_tools(self, call: Call) -> bool:
        """Whether a tool runs that was not recorded."""
        return call.kind == "tool" and self._policy.tools_before == "live"

    def past_cut(self, call: Call) -> bool:
        """Whether a call that was not recorded comes after the place where the run goes live."""
        cut = self._setting.cut
        if cut.covers_step(call.step):
            return True
        return cut.is_set and not self._setting.tape.waits_before_cut(call.step)

    def void(self, call: Call, entry: Entry) -> bool:
        """Whether a recorded result does not hold once a live write has changed the world."""
        if call.kind != "tool" or self._setting.cut.why(entry) is not None:
            return False
        if entry.id in self._setting.edits:
            return False  # what a person put there is theirs to say
        return self._policy.tools_before == "replay"
