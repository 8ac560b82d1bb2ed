"""Adapters of other packages are found, also those that come while the process runs."""

import os
import sys
from functools import partial
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import UsageError
from workbench.plugins import Adapter, Patches
from workbench.seam import hooks


def _package(folder: Path, name: str, code: str) -> None:
    """A package as pip leaves it behind, with an adapter."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{hooks.GROUP}]\n{name} = {name}:adapter\n")
    # A file system may tell times in steps, in which a test does it all at once.
    os.utime(folder, ns=(1, folder.stat().st_mtime_ns + 1))


COUNTING = """
from workbench.plugins import Adapter
seen = []
adapter = Adapter(name=__name__, module="json", hook=lambda patches: seen.append(1))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are found."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(hooks, "_installed", set(hooks._installed))
    return tmp_path


def test_an_adapter_that_comes_later_is_installed_once(folder: Path) -> None:
    """Whoever installs a package in a notebook need not start it again; each is installed once."""
    _package(folder, "first_adapter", COUNTING)
    wb.record(lambda: None)
    import first_adapter  # type: ignore[import-not-found]

    assert first_adapter.seen == [1]
    _package(folder, "second_adapter", COUNTING)
    for _ in range(2):
        wb.record(lambda: None)
    import second_adapter  # type: ignore[import-not-found]

    assert (first_adapter.seen, second_adapter.seen) == ([1], [1])


_MADE = "import json\nfrom workbench.plugins import Adapter\nadapter = Adapter(name='x', {})"
_MISFIT = "module='json', hook=lambda patches: patches.wrap(json, 'gone', print)"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def adapter(patches): pass", "no workbench.plugins.Adapter"),
        ("raise ValueError('no SDK')", "ValueError: no SDK"),
        (_MADE.format("module='', hook=print"), "give the module as text"),
        (_MADE.format("module='json', hook='json:loads'"), "is no function"),
        (_MADE.format(_MISFIT), r"the adapter 'x' does not fit .*json.*gone"),
    ],
)
def test_an_adapter_that_is_wrong_is_named_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, why: str
) -> None:
    """Nothing is recorded without the adapter that was asked for, however often one tries."""
    monkeypatch.delitem(sys.modules, "broken_adapter", raising=False)
    _package(folder, "broken_adapter", code)
    for _ in range(2):
        with pytest.raises(UsageError, match=rf"(?s)'broken_adapter' of broken_adapter .*{why}"):
            wb.record(lambda: None)


def test_two_packages_may_call_their_adapters_alike(folder: Path) -> None:
    """Neither of two adapters with one name keeps the other from recording its library."""
    for name in ("left_adapter", "right_adapter"):
        _package(folder, name, COUNTING.replace("__name__", "'alike'"))
        points = folder / f"{name}-1.0.dist-info" / "entry_points.txt"
        points.write_text(f"[{hooks.GROUP}]\nalike = {name}:adapter\n")
    os.utime(folder, ns=(1, folder.stat().st_mtime_ns + 1))
    wb.record(lambda: None)
    import left_adapter  # type: ignore[import-not-found]
    import right_adapter  # type: ignore[import-not-found]

    assert (left_adapter.seen, right_adapter.seen) == ([1], [1])


def _note(seen: list[str], name: str, _patches: Patches) -> None:
    seen.append(name)


def test_adapters_of_one_name_each_wait_for_their_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adapter is hooked when its library is imported, whoever else waits under its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    seen: list[str] = []
    for name in ("late_left", "late_right"):
        (tmp_path / f"{name}.py").write_text("")
        Adapter("alike", name, partial(_note, seen, name)).install()
    import late_left  # type: ignore[import-not-found]  # noqa: F401
    import late_right  # type: ignore[import-not-found]  # noqa: F401

    assert seen == ["late_left", "late_right"]


@pytest.mark.parametrize(
    ("name", "command"),
    [("openai", 'pip install "trace-workbench[openai]"'), ("orbit", "pip install wrapt")],
)
def test_what_the_hooks_need_is_named_with_a_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    """An adapter of another package is no extra of this one, and pip is not sent for it."""
    monkeypatch.setitem(sys.modules, "wrapt", None)
    adapter = Adapter(name, "json", lambda _: None)
    with pytest.raises(UsageError) as told:
        adapter.install()
    assert str(told.value).endswith(f"Install it with:  {command}")


def test_one_can_go_without_an_adapter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of a release that nobody knows does not keep one from recording the rest."""
    monkeypatch.delitem(sys.modules, "misfit_adapter", raising=False)
    _package(folder, "misfit_adapter", _MADE.format(_MISFIT))
    with pytest.raises(UsageError, match="or go without it: WORKBENCH_WITHOUT=x"):
        wb.record(lambda: None)
    monkeypatch.setenv("WORKBENCH_WITHOUT", "another, x")
    assert wb.record(lambda: 1).output == 1
