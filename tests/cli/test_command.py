"""The command itself: help, version, terminals, pipes."""

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from shopcli import Shop, here

import workbench as wb

Python = tuple[str, dict[str, str]]
COMMANDS = ("record", "replay", "fork", "verify", "rebuild", "show", "diff", "lab", "scan")


def test_help_names_the_commands_and_the_exit_codes() -> None:
    """Who types --help learns what there is and what the codes mean."""
    ran = here("--help")
    assert ran.code == 0
    for name in ("record", "replay", "fork", "show", "diff", "lab", "scan"):
        assert re.search(rf"^  {name}  ", ran.out, re.MULTILINE), name
        text = here(name, "--help").out
        assert "--json" in text, name
        assert "Exit codes: " in text, name
    assert "Exit codes: 0 ok; 1 drift" in ran.out
    assert "[-- ARGS...]" in here("record", "--help").out


def test_every_option_is_explained() -> None:
    """No option and no argument stands in a --help without a word on what it does."""
    from typer.main import get_command

    from workbench.cli.app import app

    group: Any = get_command(app)
    assert set(group.commands) == set(COMMANDS)
    bare = [
        f"{name} {parameter.name}"
        for name, each in group.commands.items()
        for parameter in each.params
        if not (parameter.help or "").strip()
    ]
    assert bare == []


def test_the_version(bare_python: Python) -> None:
    """A bug report can name it, from an install without the extra too."""
    assert here("--version").out == f"workbench {wb.__version__}\n"
    program, env = bare_python
    code = "import sys\nsys.modules['typer'] = None\nsys.argv = ['workbench', '--version']\n"
    code += "from workbench.cli import main\nmain()"
    run = subprocess.run(
        [program, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == f"workbench {wb.__version__}\n"


def test_help_loads_nothing_heavy(bare_python: Python) -> None:
    """--help answers at once: neither traces nor notebooks nor colours are loaded for it."""
    program, env = bare_python
    code = (
        "import sys\nsys.argv = ['workbench', '--help']\nfrom workbench.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        "print([name for name in sys.modules if name.startswith('workbench.')], file=sys.stderr)"
    )
    run = subprocess.run(
        [program, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    heavy = ("pydantic", "orjson", "rich", "pandas", "openai", "anywidget")
    for name in (*heavy, "workbench.trace", "workbench.seam", "workbench.ui"):
        assert f"'{name}" not in run.stderr, name


def test_no_colours_and_no_bar_without_a_terminal(shop: Shop, recorded: str) -> None:
    """A log holds text only."""
    words = ["--live-from", "turn:3"]
    ran = shop("fork", recorded, "shop.py", *words, env={"FORCE_COLOR": "1"})
    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
    assert "\r" not in ran.out + ran.err


def test_an_ascii_terminal(shop: Shop, recorded: str) -> None:
    """Arrows and dots become what such a terminal has; nothing fails."""
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    ran = shop("fork", recorded, "shop.py", "--live-from", "turn:3", env=env)
    assert ran.code == 0
    assert ran.out.splitlines()[-2:] == ["no difference", "-> a-fork1.trace.jsonl"]
    assert "ok | 4 calls from the trace, 1 live" in ran.out


def test_a_reader_that_goes_away(shop: Shop, recorded: str) -> None:
    """`workbench show … | head -1` ends quietly."""
    shell = f"{sys.executable} -m workbench show {recorded} --raw | head -c 1"
    run = subprocess.run(
        ["sh", "-c", shell],
        cwd=shop.folder,
        env=shop.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.stdout, run.stderr) == ("{", "")


@pytest.mark.benchmark
def test_help_time(bare_python: Python, tmp_path: Path) -> None:
    """Prints how long `workbench --help` takes (the promise: under 250 ms)."""
    program, env = bare_python
    times = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run(
            [program, "-m", "workbench", "--help"],
            env=env, cwd=tmp_path, check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        times.append((time.perf_counter() - start) * 1000)
    print(f"\nworkbench --help: {statistics.median(times):.0f} ms, at best {min(times):.0f} ms")
