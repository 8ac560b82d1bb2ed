"""A library that the agent imports itself, in the middle of a run, is hooked as one from before."""

import subprocess
import sys

PROGRAM = """
import importlib
import warnings

warnings.simplefilter("ignore")  # the libraries' own, while they are imported

import workbench as wb

NAMES = [
    "smolagents", "dspy", "langgraph.graph", "langchain_core.tools", "agents", "pydantic_ai",
    "mcp", "google.genai", "anthropic", "openai",
]


def agent():
    for name in NAMES:
        importlib.import_module(name)


run = wb.record(agent)
print(run.status, run.error, run.notices)
"""


def test_every_library_can_be_imported_in_a_run() -> None:
    """None of the adapters looks for what its library has not defined yet."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=240
    )
    assert ran.stdout == "ok None []\n", ran.stderr
