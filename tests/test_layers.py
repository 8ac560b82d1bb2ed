"""A layer imports only from lower ones, and never sideways."""

import ast
import re
from pathlib import Path

import layers
import pytest


def test_every_arrow_points_down(repo_root: Path) -> None:
    """Each part can be read, tested and replaced without what stands above it."""
    assert layers.faults_in(repo_root / "workbench") == []


def test_every_part_has_a_layer(repo_root: Path) -> None:
    """A new folder or file can't stay outside the rule by being unknown to it."""
    unknown = set(layers.parts_of(repo_root / "workbench")) - set(layers.LAYERS)
    assert unknown == set()


def test_the_front_door_is_lazy(repo_root: Path) -> None:
    """`import workbench` stays cheap, whatever the layers import: it loads them on first use."""
    tree = ast.parse((repo_root / "workbench" / "__init__.py").read_text("utf-8"))
    loaded = [
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    allowed = {
        "__future__",
        "importlib",
        "typing",
        "collections.abc",
        "workbench.errors",
        "workbench.version",
    }
    assert set(loaded) <= allowed


def test_the_map_for_people_agrees(repo_root: Path) -> None:
    """Whoever reads docs/architecture.md sees the layers that the test holds."""
    text = (repo_root / "docs" / "architecture.md").read_text("utf-8")
    drawn = {name: int(level) for level, name in re.findall(r"\| L(\d) \| `(\w+)[./]", text)}
    assert drawn == {name: layers.LAYERS[name] for name in drawn}
    assert set(layers.LAYERS) - set(drawn) == {
        "edits",
        "faults",
        "redaction",
        "version",
        "__main__",
    }


@pytest.mark.parametrize(
    ("file", "code", "fault"),
    [
        (
            "trace/entries.py",
            "import os\nfrom workbench.seam.session import Session\n",
            (
                "workbench/trace/entries.py:2 imports workbench.seam.session: "
                "up from trace (L1) to seam (L2)"
            ),
        ),
        (
            "adapters/openai.py",
            "def hook():\n    from ..providers import local\n",
            (
                "workbench/adapters/openai.py:2 imports workbench.providers: "
                "sideways from adapters (L3) to providers (L3)"
            ),
        ),
        (
            "seam/run.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import workbench.cli\n",
            "workbench/seam/run.py:3 imports workbench.cli: up from seam (L2) to cli (L7)",
        ),
        (
            "ui/page.py",
            "from workbench import fork\n",
            (
                "workbench/ui/page.py:1 imports workbench.fork: "
                "take it from the layer that defines it, not from the front door"
            ),
        ),
        (
            "errors.py",
            "from .trace import entries\n",
            "workbench/errors.py:1 imports workbench.trace: up from errors (L0) to trace (L1)",
        ),
    ],
)
def test_a_wrong_arrow_is_named(tmp_path: Path, file: str, code: str, fault: str) -> None:
    """A planted bad import is found, wherever it hides, with its file and line."""
    planted = tmp_path / "workbench" / file
    planted.parent.mkdir(parents=True)
    planted.write_text(code)
    assert layers.faults_in(tmp_path / "workbench") == [fault]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("__init__.py", "from workbench.cli import main\n"),
        ("trace/diff.py", "from . import entries\nfrom .entries import Call\n"),
        ("cli/show.py", "from workbench.errors import UsageError\nimport workbench.trace\n"),
        ("adapters/openai.py", "import openai\nfrom workbench.seam import session\n"),
    ],
)
def test_a_right_arrow_passes(tmp_path: Path, file: str, code: str) -> None:
    """The rule does not cry over what the design allows."""
    planted = tmp_path / "workbench" / file
    planted.parent.mkdir(parents=True)
    planted.write_text(code)
    assert layers.faults_in(tmp_path / "workbench") == []
