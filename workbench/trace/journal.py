"""Writing a trace: one line for each thing that happens, at once, by any number of writers.

A line is with the operating system when the call returns, so a process that dies loses nothing
that it was told of. Threads share a journal; a forked child goes on with it as a writer of its
own; other processes :meth:`~Journal.join` the file.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from workbench.errors import TraceWriteError
from workbench.trace.appender import Appender, FileAppender, MemoryAppender
from workbench.trace.beginning import (
    beside,
    checked_path,
    first_line,
    header_to_join,
    joined_line,
    new_writer,
    snapshot,
)
from workbench.trace.entries import (
    BaseLine,
    BlobLine,
    CallLine,
    ChunkLine,
    EndLine,
    ResultLine,
    TraceLine,
)
from workbench.trace.hashed import hash_only
from workbench.trace.losses import leaked, lost
from workbench.trace.redaction.lines import LineCleaner, clean_header
from workbench.trace.redaction.redactor import Redactor
from workbench.trace.redaction.scanning import Finding, scan_bytes, scan_file
from workbench.trace.saving import exists, make_folder, put_in_place, signature, unwritable
from workbench.trace.sharing import Packed, Sharing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.trace.trace import Trace

_JOURNALS: weakref.WeakSet[Journal] = weakref.WeakSet()


class Journal:
    """The writing end of a trace. Make one with :meth:`create`, :meth:`in_memory` or :meth:`join`.

    A line that cannot be written (a full disk) is missing from the trace, and by default nothing
    else: :attr:`errors` gets a :class:`TraceWriteError` for it, a warning is given once, and the
    agent goes on. With ``strict=True`` the error is raised.
    """

    def __init__(
        self,
        header: TraceLine,
        appender: Appender,
        *,
        writer: str,
        strict: bool = False,
        redactor: Redactor | None = None,
    ) -> None:
        self.header = header
        """The trace's first line, as it is written."""
        self.path: Path | None = None
        """Where the trace is when it is closed; None for one in memory."""
        self.writer = writer
        """This process's writer id: the first part of its entries' ids."""
        self.errors: list[TraceWriteError] = []
        """What could not be written."""
        self.findings: list[Finding] = []
        """Secrets that were found in the file when it was closed, in spite of redaction."""
        self._cleaner = LineCleaner(redactor or Redactor.off())
        self._appender = appender
        self._strict = strict
        self._lock = threading.RLock()
        self._count = 0
        self._sharing = Sharing()
        self._payloads: set[str] = set()  # open model calls: their bodies are providers' JSON
        self._lost: set[str] = set()  # calls that could not be written
        self._owner = True  # it made the file, so it ends it
        self._forked = self._fsync = self._scanned = False
        self._replaces: object = None  # the file that it may replace, where it must be that
        self._partial: Path | None = None  # where it is written, when it is to replace another
        self._later: Callable[[], Iterable[BaseLine]] | None = None
        self._end: EndLine | None = None  # what ends it, when other lines are still to be made
        _JOURNALS.add(self)

    @classmethod
    def create(
        cls,
        path: Path | str,
        header: TraceLine,
        *,
        durability: Literal["os", "fsync"] = "os",
        replace: bool | Literal["unchanged"] = False,
        strict: bool = False,
        redactor: Redactor | None = None,
    ) -> Self:
        """Begin a trace in a new file; missing folders are made, and only its owner may read it.

        With ``requests="hash"`` in its header, of what is asked only the hashes are written.

        Args:
            path: the file, by habit ``NAME.trace.jsonl``.
            header: its first line.
            durability: ``os``: a line survives the death of this process; ``fsync``: also a power
                loss, at the price of waiting for the disk at each line.
            replace: a trace that is there already is replaced when this one is closed. Until
                then this one lies beside it, in a hidden file ``.NAME.….partial``, and if this
                process dies it stays there.
                ``"unchanged"``: only if nobody has written to that one by then; else it is put
                beside it, and :attr:`errors` says where.
            strict: raise what could not be written, instead of collecting it.
            redactor: what takes the secrets out of each line; its rules and salt go into the
                header. Without one, lines are written as they are.

        Raises:
            TraceExistsError: something is there already, and ``replace`` was not given, or it is
                no trace that can be read: such a file is never overwritten.
            TraceWriteError: the file cannot be made.
        """
        path = checked_path(path)
        redactor = redactor or Redactor.off()
        header = clean_header(redactor, header)
        fsync = durability == "fsync"
        replaces = signature(path) if replace == "unchanged" else None
        partial = beside(path, replace=bool(replace))
        make_folder(path)
        try:
            appender = FileAppender(partial or path, new=True, fsync=fsync)
            journal = cls(header, appender, writer="1", strict=strict, redactor=redactor)
            appender.append(first_line(header))
        except FileExistsError as error:
            raise exists(path) from error
        except OSError as error:
            raise unwritable(path, error) from error
        journal.path, journal._partial, journal._fsync = path, partial, fsync
        journal._replaces = replaces
        return journal

    @classmethod
    def in_memory(
        cls, header: TraceLine, *, strict: bool = False, redactor: Redactor | None = None
    ) -> Self:
        """Begin a trace in memory; :meth:`trace` gives what it holds."""
        appender = MemoryAppender()
        redactor = redactor or Redactor.off()
        header = clean_header(redactor, header)
        appender.append(first_line(header))
        return cls(header, appender, writer="1", strict=strict, redactor=redactor)

    @classmethod
    def join(
        cls,
        path: Path | str,
        *,
        durability: Literal["os", "fsync"] = "os",
        strict: bool = False,
        redactor: Redactor | None = None,
    ) -> Self:
        """Go on with an existing trace as one more writer.

        A last line that a dying process left unfinished is ended first; it stays in the file.
        Secrets are taken out by the trace's own rules, which ``redactor`` need only bring when
        there are a user's among them.

        Raises:
            UsageError: the trace was recorded with redaction rules that are not here.
            TraceError: the file is no trace that can be read.
            TraceWriteError: the file cannot be written.
        """
        path = checked_path(path)
        header = header_to_join(path)
        if redactor is None or not redactor.on:
            redactor = Redactor.for_replay(header)
        writer = new_writer()
        try:
            appender = FileAppender(path, new=False, fsync=durability == "fsync")
            journal = cls(header, appender, writer=writer, strict=strict, redactor=redactor)
            appender.append(Packed(joined_line(writer).as_dict()).json())
        except OSError as error:
            raise TraceWriteError(f"{path}: cannot be continued ({error})") from error
        journal.path, journal._owner = path, False
        journal._fsync = durability == "fsync"
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close(None)

    def __repr__(self) -> str:
        return f"<Journal of {self.path or 'a trace in memory'}, writer {self.writer}>"

    def new_id(self) -> str:
        """The next entry's id, ``writer-n``, unique in the file."""
        with self._lock:
            if self._forked:
                self._follow_fork()
            self._count += 1
            return f"{self.writer}-{self._count}"

    def later(self, make: Callable[[], Iterable[BaseLine]]) -> None:
        """Lines that need not be made before somebody looks at the trace, or another is written.

        For a journal in memory only: in a file they would be lost with the process.
        """
        self._later = make

    def _catch_up(self) -> None:
        """Write what was to be written later."""
        make, self._later = self._later, None
        end, self._end = self._end, None
        for line in make() if make is not None else ():
            self.append(line)
        if end is not None:
            self.append(end)

    def append(self, line: BaseLine) -> None:
        """Write one line. It is with the operating system when this returns.

        The heavy field of a tool's, event's, value's or input's line is to be an encoded value
        (:func:`workbench.trace.values.encode`); a model's response and chunks are the provider's
        JSON as it is.

        Raises:
            UnencodableError: the line holds what JSON cannot.
            TraceWriteError: it could not be written, and the journal is strict.
        """
        if isinstance(line, CallLine):
            self.call(line)
            return
        with self._lock:
            if self._later is not None:
                self._catch_up()
            self._follow_fork()
            of = line.of if isinstance(line, ResultLine | ChunkLine) else None
            if of is not None and of in self._lost:
                return
            for each, fields in self._cleaner.ready(line):
                self._add(each, fields)
            if of is not None and isinstance(line, ResultLine):
                self._payloads.discard(of)

    def call(self, line: CallLine, clean: Any = None) -> None:
        """Write the beginning of a call. The line's request is whole, and is left untouched.
        ``clean`` is the very object in it that its redactor has cleaned already, if any.

        What the conversation has in common with that of an earlier call is referred to, and large
        values are written once (:mod:`workbench.trace.sharing`).

        Raises:
            UnencodableError: the request holds what JSON cannot.
            TraceWriteError: it could not be written, and the journal is strict.
        """
        with self._lock:
            if self._later is not None:
                self._catch_up()
            self._follow_fork()
            [(_, fields)] = self._cleaner.ready(line, clean)
            if not self._write(self._sharing.pack_call(self._kept(fields)), line):
                self._lost.add(line.id)
            elif line.kind == "model":
                self._payloads.add(line.id)

    def close(self, end: EndLine | None = None) -> None:
        """End the trace, and put it in its place if it replaces another.

        With redaction, the file is scanned once more: :attr:`findings`, and a warning if any.

        Only the journal that made the trace writes ``end``; in a forked child it is left out.

        Raises:
            TraceWriteError: the trace could not take the other one's place; the text says where
                it lies.
        """
        with self._lock:
            if self._forked:
                self._forked = self._owner = False  # a child that wrote nothing did not join
                self._cleaner.forget()
            for each, fields in self._cleaner.waiting():
                self._add(each, fields)
            if end is not None and self._owner and self._later is not None:
                self._end = snapshot(end)
            elif end is not None and self._owner:
                self.append(end)
            self._appender.close()
            if self._partial is not None and self._owner:
                partial, self._partial = self._partial, None
                path, replaces = self.path or partial, self._replaces
                self.path = put_in_place(partial, path, replaces, self.errors)
            if self._owner and self._cleaner.redactor.on and not self._scanned:
                self._scan(self._cleaner.redactor)

    def _scan(self, redactor: Redactor) -> None:
        """Look once more for secrets in what was written."""
        self._scanned = True
        if isinstance(self._appender, MemoryAppender):
            self.findings = scan_bytes(bytes(self._appender.data), redactor).findings
        elif self.path is not None and self.path.exists():
            self.findings = scan_file(self.path, redactor).findings
        if self.findings:
            _warn(leaked(self.findings))

    def trace(self) -> Trace:
        """What has been written until now, as a trace to read."""
        from workbench.trace.trace import Trace, load

        with self._lock:
            if self._later is not None:
                self._catch_up()
            if isinstance(self._appender, MemoryAppender):
                return Trace.from_bytes(bytes(self._appender.data))
        return load(self._file())

    def _kept(self, fields: dict[str, Any]) -> dict[str, Any]:
        return hash_only(fields, self.header) if self.header.requests == "hash" else fields

    def _file(self) -> Path:
        assert self.path is not None  # noqa: S101 - only a journal in memory has no path
        return self._partial or self.path

    def _add(self, line: BaseLine, fields: dict[str, Any]) -> None:
        """Write one line that begins no call."""
        of = line.of if isinstance(line, ResultLine | ChunkLine) else None
        heavy = None if isinstance(line, BlobLine) else line.heavy
        kept = self._kept(fields)
        self._write(self._sharing.pack(kept, heavy, payload=of in self._payloads), line)

    def _write(self, packed: Packed, line: BaseLine) -> bool:
        data = packed.json()
        try:
            self._appender.append(data)
        except OSError as error:
            self._failed(line, error)
            return False
        self._sharing.written(packed)
        return True

    def _failed(self, line: BaseLine, error: OSError) -> None:
        failure = lost(line, error, self.path, goes_on=not self._strict)
        self.errors.append(failure)
        if self._strict:
            raise failure
        if len(self.errors) == 1:
            _warn(str(failure))

    def _follow_fork(self) -> None:
        """In a forked child: go on as a writer of its own, with its own open file."""
        if not self._forked:
            return
        self._forked = False
        self._owner = False
        self.writer, self._count = new_writer(), 0
        self._sharing.new_writer()
        self._cleaner.forget()
        if isinstance(self._appender, FileAppender):
            self._appender.close()
            # The parent may have put the file in its place already.
            path = self._file() if self._file().exists() else self.path
            assert path is not None  # noqa: S101 - as in _file
            try:
                self._appender = FileAppender(path, new=False, fsync=self._fsync)
            except OSError as error:
                self._failed(joined_line(self.writer), error)
                return
        joined = joined_line(self.writer)
        self._write(Packed(joined.as_dict()), joined)


def _warn(text: str) -> None:
    # Where warnings are errors it would end the run, which goes on. It is said in the journal's
    # own list all the same.
    with contextlib.suppress(RuntimeWarning):
        warnings.warn(text, RuntimeWarning, stacklevel=5)


def _after_fork() -> None:
    # A thread of the parent may have held a lock at that moment; here it would never let go.
    for journal in list(_JOURNALS):
        journal._lock = threading.RLock()  # noqa: SLF001 - same module
        journal._forked = True  # noqa: SLF001 - same module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
