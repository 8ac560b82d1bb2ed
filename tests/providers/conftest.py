"""A local model of the tests' own, in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.providers.local import local_model, stop


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tests share the machine with other tests, where two threads would wait for each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_LOCAL_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running server, apart from any that the developer uses; stopped after the module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_LOCAL_DIR", str(tmp_path_factory.mktemp("local")))
        with local_model(idle_s=1) as url:
            yield url
        stop()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for a server that a test starts itself; stopped after the test."""
    path = tmp_path / "local"
    monkeypatch.setenv("WORKBENCH_LOCAL_DIR", str(path))
    yield path
    stop()
