"""Conventions that types can't hold, read from the source."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tripwires

# Each is put together from halves, so that this file does not trip over itself.
_FOREIGN = re.compile(
    "|".join(
        re.escape(left + right)
        for left, right in [
            ("pypi.", "org"),
            ("pythonhosted.", "org"),
            ("registry.npmjs", ".org"),
            ("npmmirror.", "com"),
            ("deb.debian", ".org"),
        ]
    )
    # This machine's own folders, whatever they are called here.
    + "".join(
        "|" + re.escape(f"{folder}/")
        for folder in {Path(__file__).resolve().parents[1], Path(sys.prefix), Path.home()}
        if len(folder.parts) > 1
    )
    + "|"
    + "/home/"
    + r"\w+/"
)
_MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcdoc"
)
_REMOTE = re.compile(r"""(?:src|href|from|import|url)\s*[=(]?\s*\(?["']?https?://[^"')\s]+""")


@pytest.fixture(scope="session")
def package(repo_root: Path) -> list[Path]:
    """The package's Python files."""
    return sorted((repo_root / "workbench").rglob("*.py"))


@pytest.fixture(scope="session")
def static(repo_root: Path) -> list[Path]:
    """What the package sends to a page."""
    kinds = {".js", ".css", ".html"}
    return sorted(p for p in (repo_root / "workbench").rglob("*") if p.suffix in kinds)


@pytest.fixture(scope="session")
def committed(repo_root: Path) -> list[Path]:
    """Every file in the repository, except a lock file's own text."""
    if not (repo_root / ".git").exists():
        pytest.skip("no git checkout, so nothing tells which files belong to the project")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repo_root, capture_output=True, text=True, check=True
    )
    paths = [repo_root / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_data_is_never_run(package: list[Path]) -> None:
    """Opening a trace from a stranger executes nothing."""
    assert tripwires.find(package, tripwires.running_code_from_data) == []


def test_values_are_never_written_by_their_looks(package: list[Path]) -> None:
    """A value that JSON can't hold is tagged or refused, not turned into text in silence."""
    assert tripwires.find(package, tripwires.default_str) == []


def test_no_error_disappears(package: list[Path]) -> None:
    """What went wrong reaches the result, the page or the log."""
    assert tripwires.find(package, tripwires.swallowed_exception) == []


def test_only_the_command_prints(package: list[Path]) -> None:
    """A library call leaves the caller's standard output alone."""
    library = [path for path in package if "cli" not in path.parts]
    assert tripwires.find(library, tripwires.bare_print) == []


def test_functions_fit_on_a_screen(package: list[Path], repo_root: Path) -> None:
    """Forty lines, here and in the sample agents that people read first."""
    agents = sorted((repo_root / "notebooks").rglob("*.py"))
    assert tripwires.find([*package, *agents], tripwires.long_function) == []


def test_files_hold_one_idea(package: list[Path], static: list[Path], repo_root: Path) -> None:
    """Four hundred lines, for the code, the page and the tests."""
    tests = sorted((repo_root / "tests").rglob("*.py"))
    assert tripwires.long_files([*package, *static, *tests]) == []


def test_text_never_becomes_markup(static: list[Path]) -> None:
    """Nothing from a trace is rendered as HTML or script."""
    assert tripwires.find_text(static, _MARKUP) == []


def test_a_page_loads_nothing_from_elsewhere(package: list[Path], static: list[Path]) -> None:
    """The workbench works offline, and no third party learns that a trace was opened."""
    assert tripwires.find_text([*package, *static], _REMOTE) == []


def test_no_machine_and_no_registry_is_named(committed: list[Path]) -> None:
    """Whoever clones the project installs from the registry that is set up where they are."""
    assert tripwires.find_text(committed, _FOREIGN) == []


@pytest.mark.parametrize(
    ("finder", "code", "what"),
    [
        (tripwires.running_code_from_data, "x = eval(text)", "eval()"),
        (tripwires.running_code_from_data, "from pickle import loads", "import pickle"),
        (tripwires.default_str, "dumps(x, default=str)", "default=str"),
        (
            tripwires.swallowed_exception,
            "try:\n    f()\nexcept Exception:\n    pass",
            "a broad except that does nothing",
        ),
        (tripwires.bare_print, "print(1)", "print()"),
        (tripwires.long_function, "def f():\n" + "    x = 1\n" * 41, "f() has 41 lines"),
    ],
)
def test_each_wire_trips(tmp_path: Path, finder: tripwires.Finder, code: str, what: str) -> None:
    """A wire that never trips protects nothing."""
    planted = tmp_path / "planted.py"
    planted.write_text(code)
    found = tripwires.find([planted], finder)
    assert len(found) == 1
    assert found[0].endswith(what)


def test_the_text_wires_trip(tmp_path: Path) -> None:
    """The patterns for pages and addresses find what they are for, and name the line."""
    page = tmp_path / "page.js"
    script = "https://cdn.example/x.js"
    home = "/ho" + "me/ada/x"
    page.write_text(f"ok\nnode.innerHTML = text;\nimport '{script}';\nopen('{home}')\n")
    assert tripwires.find_text([page], _MARKUP)[0].endswith("page.js:2 innerHTML")
    assert tripwires.find_text([page], _REMOTE)[0].endswith(script)
    assert len(tripwires.find_text([page], _FOREIGN)) == 1


def test_comments_alone_do_not_trip() -> None:
    """Words in a docstring are no code: `eval()` may be spoken of."""
    tree = ast.parse('"""Never calls eval() or pickle."""')
    assert [
        what for node in ast.walk(tree) if (what := tripwires.running_code_from_data(node))
    ] == []
