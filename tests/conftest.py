"""What holds for every test: no live calls, no keys, no proxies; and where the shared data is."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import netguard
import pytest

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests" / "support"

# A key in the developer's own environment must neither be used by a test nor end up in a trace.
# A proxy would take the place of the loopback servers.
_PRIVATE_SUFFIXES = ("_API_KEY", "_AUTH_TOKEN", "_ACCESS_TOKEN", "_BASE_URL", "_PROXY")

# A busy machine must not fail a law, and what fails in CI must fail in the same way elsewhere.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure() -> None:
    """Runs before any test module is imported, so that import-time code is under the same rules."""
    for name in list(os.environ):
        if name.upper().endswith(_PRIVATE_SUFFIXES):
            del os.environ[name]
    inherited = os.environ.get("PYTHONPATH")
    if str(SUPPORT) not in (inherited or "").split(os.pathsep):
        parts = [str(SUPPORT), *([inherited] if inherited else [])]
        os.environ["PYTHONPATH"] = os.pathsep.join(parts)
    # LiteLLM and DSPy would look up what models cost as soon as they are imported.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    netguard.install()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder says what it needs, so no file there can forget its marker."""
    for item in items:
        folder = item.path.relative_to(ROOT).parts[1]
        if folder == "browser":
            item.add_marker(pytest.mark.browser)
        elif folder == "benchmarks":
            item.add_marker(pytest.mark.benchmark)


@pytest.fixture(autouse=True, scope="session")
def _no_folder_of_one_s_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What commands remember of a user's recordings goes to a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_RUNS_DIR", str(tmp_path_factory.mktemp("own")))
        yield


@pytest.fixture(autouse=True)
def live_calls() -> Iterator[list[str]]:
    """The addresses outside this machine that the test tried to reach; it fails if any are left.

    The guard's error may be swallowed by the code under test: an SDK turns it into a connection
    error and retries. So the attempts themselves are looked at when the test ends.
    """
    netguard.attempts.clear()
    yield netguard.attempts
    left = list(netguard.attempts)
    netguard.attempts.clear()
    if left:
        pytest.fail(f"the test tried to reach {', '.join(left)}; live calls are off in tests")


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data kept beside the checkout (RFC 8785 vectors, other tools' traces).

    It is no part of the repository: a test that needs it is skipped where the folder is absent.
    """
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder


@pytest.fixture(scope="session")
def bare_python() -> tuple[str, dict[str, str]]:
    """An interpreter and an environment without the guard, to measure what an import loads."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env["PYTHONPATH"] = str(ROOT)
    return sys.executable, env
