"""The public names: one list, and every way to reach them agrees with it."""

import importlib
import inspect
import subprocess

import pytest

import workbench

Python = tuple[str, dict[str, str]]


def test_dir_is_the_public_list() -> None:
    """Tab completion shows what is public, all of it and nothing else."""
    assert dir(workbench) == sorted(workbench.__all__)


def test_the_list_is_sorted_and_has_no_twins() -> None:
    """Adding a name is one line in one place, and two branches that add one don't clash twice."""
    assert list(workbench.__all__) == sorted(set(workbench.__all__))


@pytest.mark.parametrize("name", workbench.__all__)
def test_every_name_leads_somewhere(name: str) -> None:
    """A lazy name that points to nothing would fail only in a user's hands."""
    value = getattr(workbench, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getdoc(value), f"workbench.{name} has no docstring"
    else:
        assert value is not None


def test_a_star_import_brings_them_all(bare_python: Python) -> None:
    """`from workbench import *` works in a fresh interpreter, in a notebook's first cell."""
    program, env = bare_python
    code = (
        "from workbench import *; import workbench; "
        "print(sorted(set(workbench.__all__) - set(globals())))"
    )
    run = subprocess.run(
        [program, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typing error is answered as everywhere else in Python, naming the module and the name."""
    with pytest.raises(AttributeError, match=r"module 'workbench' has no attribute 'replya'"):
        _ = workbench.replya


def test_a_lazy_name_is_the_layers_own() -> None:
    """The front door hands out the layer's object itself, so identity and isinstance hold."""
    errors = importlib.import_module("workbench.errors")
    assert workbench.WorkbenchError is errors.WorkbenchError
