"""Rules of redaction, for people: ``from workbench.redaction import Rule``."""

from workbench.trace.redaction import BUILTIN, Finding, Redactor, Rule, placeholders, scan

__all__ = ["BUILTIN", "Finding", "Redactor", "Rule", "placeholders", "scan"]
