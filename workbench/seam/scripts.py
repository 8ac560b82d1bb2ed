"""Scripts and modules as agents: run in this process as Python runs a main program."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from workbench.errors import UsageError
from workbench.seam.current import POOLS, is_foreign, module_of
from workbench.seam.hearing import Tee
from workbench.trace.entries import AgentInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

_one_script = threading.Lock()


class ScriptExit(Exception):  # noqa: N818 - what a script's exit code is kept as
    """A script ended with an exit code other than 0."""

    def __init__(self, code: int, output: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.output = output

    def __str__(self) -> str:
        return f"the script ended with exit code {self.code}"


@dataclass(frozen=True)
class Script:
    """A Python script, or a module to run like ``python -m``, as an agent.

    Calling it runs it in this process, as the main program. It gives what was printed to standard
    output, which is still printed.
    """

    target: str
    """The script's path, or the module's name."""
    argv: tuple[str, ...] = ()
    """Its arguments."""
    module: bool = False
    """Whether the target is a module's name."""
    folder: Path | None = None
    """Where it runs; by default where the process is."""

    @property
    def path(self) -> Path:
        """A script's file."""
        return (self.folder or Path()) / self.target

    @property
    def info(self) -> AgentInfo:
        """How a trace names it."""
        kind: Literal["module", "script"] = "module" if self.module else "script"
        return AgentInfo(kind=kind, target=self.target, argv=list(self.argv))

    def __call__(self) -> str:
        """Run it.

        Raises:
            UsageError: there is no such script, or another one runs in this process.
            ScriptExit: it ended with an exit code other than 0.
        """
        if not self.module and not self.path.is_file():
            raise UsageError(f"there is no script {self.path}")
        heard, path = Tee(sys.stdout), self.path.absolute()
        with _as_main(self, heard), _threads_ended():
            try:
                if self.module:
                    runpy.run_module(self.target, _globals(), "__main__", alter_sys=True)
                else:
                    _run_file(path)
            except SystemExit as stop:
                code = _exit_code(stop)
                if code:
                    raise ScriptExit(code, heard.text()) from None
        return heard.text()


def _run_file(path: Path) -> None:
    """Run a script as Python does: as ``__main__``, which its threads may still need."""
    if path.suffix == ".pyc":
        runpy.run_path(str(path), _globals(), "__main__")
        return
    main, loader = ModuleType("__main__"), _Loader("__main__", str(path))
    vars(main).update(_globals(), __file__=str(path), __loader__=loader, __cached__=None)
    sys.modules["__main__"] = main
    loader.exec_module(main)


class _Loader(SourceFileLoader):
    """Runs a script; Python keeps no compiled copy of a main program."""

    def set_data(self, *_: Any, **__: Any) -> None:
        """Writes nothing."""


@contextmanager
def _threads_ended() -> Iterator[None]:
    """A program ends when its threads have ended, but for daemons; so does a script here."""
    before = set(threading.enumerate())
    try:
        yield
    finally:
        for thread in set(threading.enumerate()) - before:
            # A pool's workers end when the process does: they wait for work until then.
            if not thread.daemon and not module_of(thread).startswith(POOLS):
                thread.join()


def _globals() -> dict[str, Any]:
    """What a script's globals begin with: in an ambient session, imports of ours."""
    ambient = sys.modules.get("workbench.seam.ambient")
    begin: dict[str, Any] = ambient.script_globals() if ambient is not None else {}
    return begin


@contextmanager
def _as_main(script: Script, out: Tee) -> Iterator[None]:
    if not _one_script.acquire(blocking=False):
        raise UsageError(
            "another script runs in this process: sys.argv and the output are the whole "
            "process's, so they run one after the other; give functions to run several at once"
        )
    before = sys.argv, list(sys.path), sys.stdout
    main, known, here = sys.modules.get("__main__"), set(sys.modules), Path.cwd()
    folder = (script.folder or here) if script.module else script.path.resolve().parent
    sys.argv = [script.target, *script.argv]
    sys.path.insert(0, str(folder))
    sys.stdout = cast("TextIO", out)
    try:
        if script.folder is not None:
            os.chdir(script.folder)
        yield
    finally:
        sys.argv, sys.path[:], sys.stdout = before[0], before[1], before[2]
        _leave(known, main)
        with contextlib.suppress(OSError):  # somebody removed it meanwhile
            os.chdir(here)
        _one_script.release()


def _leave(known: set[str], main: ModuleType | None) -> None:
    """Take the script out of the process: run once more, it imports its own modules anew."""
    for name in set(sys.modules) - known:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and not is_foreign(file):
            del sys.modules[name]
    if main is not None:
        sys.modules["__main__"] = main


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    sys.stderr.write(f"{stop.code}\n")
    return 1
