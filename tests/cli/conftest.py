"""What the tests of the command line share: a folder with a shop's agent, and a trace of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shopcli import AGENTS, Shop


@pytest.fixture
def shop(tmp_path: Path, repo_root: Path) -> Shop:
    """A folder that holds nothing but ``shop.py``."""
    shutil.copy(AGENTS / "shop.py", tmp_path)
    inherited = os.environ["PYTHONPATH"]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(repo_root), inherited]),
        "PYTHONUTF8": "1",
    }
    env.pop("FORCE_COLOR", None)
    return Shop(tmp_path, env)


@pytest.fixture(scope="session")
def recorded_once(tmp_path_factory: pytest.TempPathFactory, repo_root: Path) -> Path:
    """A trace of the shop's agent, recorded by the command."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copy(AGENTS / "shop.py", folder)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(repo_root), os.environ["PYTHONPATH"]])}
    subprocess.run(
        [sys.executable, "-m", "workbench", "record", "shop.py", "--", "--order", "101"],
        cwd=folder,
        env=env,
        check=True,
        capture_output=True,
        timeout=60,
    )
    return folder / "runs" / "shop-01.trace.jsonl"


@pytest.fixture
def recorded(shop: Shop, recorded_once: Path) -> str:
    """That trace as ``a.trace.jsonl`` in the test's own folder."""
    shutil.copy(recorded_once, shop.folder / "a.trace.jsonl")
    return "a.trace.jsonl"
