"""Redaction: secrets never reach a trace. ``docs/redaction.md`` tells what is found and what not.

:class:`Redactor` is the door; :func:`scan` looks for what is in a file already.
"""

from .names import is_secret_in_query, is_secret_name
from .placeholders import PLACEHOLDER, mask, placeholders, same_but_placeholders
from .redactor import Redact, Redactor
from .resolving import Secrets
from .rules import BUILTIN, Rule
from .scanning import Finding, scan

__all__ = [
    "BUILTIN",
    "PLACEHOLDER",
    "Finding",
    "Redact",
    "Redactor",
    "Rule",
    "Secrets",
    "is_secret_in_query",
    "is_secret_name",
    "mask",
    "placeholders",
    "same_but_placeholders",
    "scan",
]
