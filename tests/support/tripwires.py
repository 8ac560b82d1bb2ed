"""Finds, by reading the source, what conventions forbid and types can't."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40

Finder = Callable[[ast.AST], str | None]

_CODE_CALLS = {"eval", "exec", "compile", "__import__"}
_CODE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}


def running_code_from_data(node: ast.AST) -> str | None:
    """A trace is untrusted: nothing may turn what it holds into code."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return f"{node.func.id}()" if node.func.id in _CODE_CALLS else None
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    return next((f"import {name}" for name in names if name.split(".")[0] in _CODE_MODULES), None)


def default_str(node: ast.AST) -> str | None:
    """`default=str` would write a value's looks for the value, and nobody would notice."""
    if isinstance(node, ast.keyword) and node.arg == "default":
        is_lossy = isinstance(node.value, ast.Name) and node.value.id in {"str", "repr"}
        return f"default={ast.unparse(node.value)}" if is_lossy else None
    return None


def swallowed_exception(node: ast.AST) -> str | None:
    """An error that nobody sees is a result that nobody can trust."""
    if not isinstance(node, ast.ExceptHandler):
        return None
    broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
    silent = all(
        isinstance(step, ast.Pass | ast.Continue)
        or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
        for step in node.body
    )
    return "a broad except that does nothing" if broad and silent else None


def bare_print(node: ast.AST) -> str | None:
    """A library writes to the streams of the program that uses it only when asked to."""
    is_print = isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    return "print()" if is_print else None


def long_function(node: ast.AST) -> str | None:
    """A function that fits on a screen can be read in one sitting."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # a docstring, and the arguments above it, are read as a table is
    if not body:
        return None
    lines = (node.end_lineno or node.lineno) - body[0].lineno + 1
    return f"{node.name}() has {lines} lines" if lines > MAX_FUNCTION_LINES else None


def find(paths: list[Path], finder: Finder) -> list[str]:
    """`file:line what` for each place in the Python files where the finder says something."""
    found = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
            what = finder(node)
            if what:
                line = getattr(node, "lineno", 0)
                found.append(f"{path.name}:{line} {what}")
    return found


def find_text(paths: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """`file:line what` for each match of a pattern in the files that hold text."""
    return [
        f"{path.as_posix()}:{number} {match.group()}"
        for path in paths
        for number, line in enumerate(_lines(path), start=1)
        for match in pattern.finditer(line)
    ]


def long_files(paths: list[Path]) -> list[str]:
    """The files that hold more than one idea, to judge by their length."""
    counts = {path: sum(1 for _ in _lines(path)) for path in paths}
    return [f"{path.as_posix()} {n} lines" for path, n in counts.items() if n > MAX_FILE_LINES]


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:  # a picture, or a broken trace kept on purpose
        return
    yield from text.splitlines()
