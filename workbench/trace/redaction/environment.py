"""Secrets that this process was given in its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from workbench.trace.redaction.names import is_secret_name, words
from workbench.trace.redaction.placeholders import PLACEHOLDER

SHORTEST: Final = 8
"""A shorter value would be found by accident."""

_NO_SECRETS: Final = frozenset({"PWD", "OLDPWD"})
"""Folders, although ``pwd`` is a password elsewhere."""


def secrets_of(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of the variables with secret-looking names, of 8 characters or more.

    The path of an existing file is no secret (``GOOGLE_APPLICATION_CREDENTIALS``).

    Args:
        environment: that of this process when not given.
    """
    found = os.environ if environment is None else environment
    return tuple(
        sorted({value.strip() for name, value in found.items() if _is_secret(name, value.strip())})
    )


def _is_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST or name.upper() in _NO_SECRETS or PLACEHOLDER.search(value):
        return False
    if not is_secret_name(name) and words(name)[-1:] not in (["key"], ["pat"]):
        return False
    return not _is_file(value)


def _is_file(value: str) -> bool:
    if value[:1] not in ("/", "~", ".") and value[1:3] != ":\\":
        return False
    try:
        return Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long for a path, no such home, a zero byte
        return False
