"""Adapters of other packages are found, also those that come while the process runs."""

import os
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import UsageError
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
