"""The death of the process that the agent runs in."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from workbench.trace.faults.aims import ANY, Aim, Kind
from workbench.trace.faults.base import BaseFault, Phase


class Crash(BaseFault):
    """The process "dies" there: a ``SimulatedCrash`` that no ``except Exception`` catches.

    ``Crash(after="tool_succeeded")`` is short for ``Crash(when="after").at(event=…)``.
    """

    kinds: ClassVar[frozenset[Kind]] = ANY
    in_form: ClassVar[bool] = False

    type: Literal["crash"] = "crash"
    when: Literal["before", "after"] = "after"
    """Before the call happens, or once it is over and written down."""

    def __init__(self, *, before: str | None = None, after: str | None = None, **data: Any) -> None:
        if before is not None and after is not None:
            raise ValueError("a process crashes once: give before= or after=, not both")
        if before is not None or after is not None:
            data["when"] = "before" if before is not None else "after"
            data["aim"] = Aim(event=before if before is not None else after)
        super().__init__(**data)

    @property
    def phase(self) -> Phase:
        """``before`` or ``after``."""
        return self.when

    @property
    def label(self) -> str:
        """Such as ``crash after``."""
        return f"crash {self.when}"

    @property
    def words(self) -> str:
        """Such as ``ends in a crash``."""
        return "is ended by a crash" if self.when == "after" else "never happens: a crash"
