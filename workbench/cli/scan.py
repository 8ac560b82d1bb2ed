"""``workbench scan``: whether there are secrets in files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.options import Debug, Json
from workbench.cli.output import DIFFERENT, OK, UNUSABLE, Output, command, error_text
from workbench.errors import TraceError

if TYPE_CHECKING:
    from workbench.trace.redaction.scanning import Report

_SKIPPED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
"""Folders of a version control system, or of what was installed."""


def scan_command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Traces, other files, or folders of them."),
    ],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Look for secrets in traces and other files: API keys, tokens, passwords, private keys.

    Says where each one is and what it looks like, never what it is. The secrets in this process's
    environment are looked for as well.
    """
    with command(as_json=as_json, debug=debug) as out:
        from workbench.trace.redaction import Redactor

        redactor = Redactor.for_recording(salt="scan")
        reports: list[tuple[Path, Report]] = []
        unreadable: list[dict[str, str]] = []
        for path in _files(paths):
            _scan(out, path, redactor, reports, unreadable)
        found = sum(len(report.findings) + report.more for _, report in reports)
        out.say(_summary(found, len(reports)))
        out.data(
            {
                "command": "scan",
                "files": len(reports),
                "findings": [f.to_json() for _, report in reports for f in report.findings],
                "more": sum(report.more for _, report in reports),
                "notices": [_notice(path, each) for path, report in reports
                            for each in report.notices],
                "unreadable": unreadable,
            }
        )  # fmt: skip
        raise typer.Exit(DIFFERENT if found else UNUSABLE if unreadable else OK)


def _scan(
    out: Output,
    path: Path,
    redactor: Any,
    reports: list[tuple[Path, Report]],
    unreadable: list[dict[str, str]],
) -> None:
    from workbench.trace.redaction.scanning import scan_file

    try:
        report = scan_file(path, redactor)
    except (TraceError, OSError) as error:
        out.warn(f"workbench: {error_text(error)}")
        unreadable.append({"file": str(path), "message": error_text(error)})
        return
    reports.append((path, report))
    for finding in report.findings:
        out.say(str(finding))
    if report.more:
        out.say(f"{path}: and {report.more:,} more")
    for notice in report.notices:
        out.warn(f"{path}: {notice}")


def _files(paths: Sequence[str]) -> Iterator[Path]:
    """The files that were named, and those in the folders; links in folders are not followed."""
    for name in paths:
        if not Path(name).is_dir():
            yield Path(name)
            continue
        for folder, below, files in os.walk(name):
            below[:] = sorted(each for each in below if each not in _SKIPPED)
            for each in sorted(files):
                path = Path(folder, each)
                if path.is_file() and not path.is_symlink():
                    yield path


def _summary(found: int, files: int) -> str:
    looked = f"{files:,} file{'' if files == 1 else 's'}"
    if not found:
        return f"no secrets in {looked}"
    return f"{found:,} secret{'' if found == 1 else 's'} in {looked}"


def _notice(path: Path, notice: Any) -> dict[str, Any]:
    return {"file": str(path), "line": notice.line, "message": notice.message}
