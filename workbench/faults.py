"""The faults, for people: ``from workbench.faults import HttpError``."""

from workbench.trace.faults import (
    Aim,
    ConnectionReset,
    Fault,
    HttpError,
    StreamTruncate,
    Timeout,
)

__all__ = ["Aim", "ConnectionReset", "Fault", "HttpError", "StreamTruncate", "Timeout"]
