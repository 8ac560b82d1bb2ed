"""What `import workbench` loads, and how long it takes."""

import json
import statistics
import subprocess
import time

import pytest

Python = tuple[str, dict[str, str]]

_EXTRAS = ["anthropic", "anywidget", "genai_prices", "IPython", "ipywidgets", "jupyterlab"]
_EXTRAS += ["numpy", "openai", "pandas", "rich", "typer", "wrapt", "xllamacpp"]


def _loaded(python: Python, code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running the code."""
    program, env = python
    report = "import json, sys; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    run = subprocess.run(
        [program, "-c", f"{code}\n{report}"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(run.stdout))


def test_importing_loads_no_extra(bare_python: Python) -> None:
    """The bare install works, and a test suite that imports it pays for nothing it doesn't use."""
    assert _loaded(bare_python, "import workbench") & set(_EXTRAS) == set()


def test_the_core_in_use_loads_no_extra(bare_python: Python) -> None:
    """Reading and replaying a trace need no extra: only using one's own layer loads it."""
    code = "from workbench import Trace, fork, load, record, replay, turn"
    loaded = _loaded(bare_python, code)
    assert loaded & (set(_EXTRAS) - {"wrapt"}) == set()
    assert "workbench" in loaded


def _milliseconds(python: Python, code: str) -> float:
    program, env = python
    start = time.perf_counter()
    subprocess.run([program, "-c", code], env=env, check=True, timeout=60)
    return (time.perf_counter() - start) * 1000


@pytest.mark.benchmark
def test_import_time(bare_python: Python) -> None:
    """Prints what `import workbench` adds to starting Python (the promise: under 100 ms)."""
    pairs = [
        (_milliseconds(bare_python, "pass"), _milliseconds(bare_python, "import workbench"))
        for _ in range(15)
    ]
    bare = statistics.median(pair[0] for pair in pairs)
    with_it = statistics.median(pair[1] for pair in pairs)
    print(f"\nimport workbench: {with_it - bare:.1f} ms (Python alone {bare:.1f} ms)")
