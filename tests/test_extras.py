"""Without an optional package, what needs it says which command installs it."""

import subprocess

import pytest

Python = tuple[str, dict[str, str]]

_LOCAL = "from workbench import local_model\nwith local_model(): pass"


def _without(python: Python, packages: list[str], code: str) -> subprocess.CompletedProcess[str]:
    """Runs the code where the packages are as good as not installed."""
    program, env = python
    hide = f"import sys; sys.modules.update(dict.fromkeys({packages!r}))"
    return subprocess.run(
        [program, "-c", f"{hide}\n{code}"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


_YAML = """
import pathlib, tempfile, workbench
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "by-hand.yaml")
    path.write_text("step: {content: hello}")
    workbench.load(path)
"""

_WORKBENCH = "import workbench\nworkbench.Workbench(workbench.record(lambda: 1).trace)"


@pytest.mark.parametrize(
    ("package", "extra", "code"),
    [
        ("anywidget", "lab", _WORKBENCH),
        ("pandas", "analysis", "from workbench import analysis\nanalysis.turns([])"),
        ("typer", "cli", "from workbench.cli import main\nmain()"),
        ("xllamacpp", "local", _LOCAL),
        ("yaml", "yaml", _YAML),
    ],
)
def test_a_missing_extra_names_the_command(
    bare_python: Python, package: str, extra: str, code: str
) -> None:
    """Whoever installed the bare package learns in one line how to get the rest."""
    run = _without(bare_python, [package], code)
    assert run.returncode != 0
    assert f'pip install "trace-workbench[{extra}]"' in run.stderr
    assert package in run.stderr


def test_the_command_says_it_without_a_traceback(bare_python: Python) -> None:
    """At the shell, a missing extra is a usage error: a message and exit code 2."""
    run = _without(bare_python, ["typer", "rich"], "from workbench.cli import main\nmain()")
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_the_core_needs_no_extra_at_all(bare_python: Python) -> None:
    """Recording and replaying work with pydantic and orjson alone."""
    hidden = ["anywidget", "ipywidgets", "IPython", "pandas", "numpy", "genai_prices"]
    hidden += ["openai", "typer", "rich", "xllamacpp", "wrapt"]
    hidden += ["agents", "anthropic", "dspy", "google", "langchain_core", "langgraph"]
    hidden += ["langsmith", "mcp"]
    hidden += ["pydantic_ai", "smolagents"]
    code = (
        "import workbench as wb\n"
        "first = wb.record(lambda: wb.now().isoformat())\n"
        "again = wb.replay(lambda: wb.now().isoformat(), first.trace)\n"
        "print(again.status, first.output == again.output)"
    )
    run = _without(bare_python, hidden, code)
    assert run.stderr == ""
    assert run.stdout.split() == ["ok", "True"]
