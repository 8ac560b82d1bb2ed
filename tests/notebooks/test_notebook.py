"""The tutorial runs from top to bottom as a reader has it, live on the local model."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import workbench as wb
from workbench.providers.local import stop

NAME = "01_debug_a_failed_run.ipynb"


@pytest.fixture
def clone(tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folders of a clone that the notebook uses, where it may write."""
    for folder in ("notebooks", "sample_traces"):
        shutil.copytree(repo_root / folder, tmp_path / folder)
    monkeypatch.setenv("WORKBENCH_LOCAL_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("WORKBENCH_LOCAL_THREADS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    yield tmp_path
    stop()


def read(path: Path) -> Any:
    """A notebook, as nbformat gives it."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def outputs(notebook: Any) -> str:
    """All that the cells show as text."""
    shown = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]
    return "\n".join(shown)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_tutorial_finds_mends_and_proves_the_doubled_refund(clone: Path) -> None:
    """Each cell runs in a fresh kernel in the notebook's own folder, and the story comes true."""
    folder = clone / "notebooks"
    notebook = read(folder / NAME)
    client = nbclient.NotebookClient(
        notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    text = outputs(notebook)
    assert "refund called 6 times with the same arguments" in text
    assert "turn 4: refund → send_email" in text

    fork = wb.load(clone / "runs" / "refund-once.trace.jsonl")
    assert fork.output["status"] == "refunded"
    assert [turn.label for turn in fork.turns[:4]] == [
        "find_customer",
        "get_order",
        "refund",
        "send_email",
    ]
    assert fork.turns[4].model.source == "live"
    assert fork.parent is not None
    assert fork.parent.name == "refund-doubled"


def test_the_tutorial_is_kept_without_outputs(repo_root: Path) -> None:
    """A reader sees what their own run gives, and a change of it is a change of its text."""
    notebook = read(repo_root / "notebooks" / NAME)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 10
    assert [cell.source for cell in code if cell.outputs or cell.execution_count] == []


def test_the_image_opens_a_notebook_that_is_there(repo_root: Path) -> None:
    """The path that the README and the Binder image name leads to the tutorial."""
    named = f"notebooks/{NAME}"
    assert (repo_root / named).is_file()
    assert named in (repo_root / "README.md").read_text(encoding="utf-8")
    assert named in (repo_root / "binder" / "postBuild").read_text(encoding="utf-8")
