"""Reads which parts of the package import which, and says where one reaches up or sideways."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "workbench"

LAYERS = {
    "errors": 0,
    "version": 0,
    "trace": 1,
    "seam": 2,
    "edits": 3,  # these three hand models out to people, so nothing below may take them there
    "faults": 3,
    "redaction": 3,
    "plugins": 3,
    "adapters": 3,
    "providers": 3,
    "analysis": 5,
    "ui": 6,
    "cli": 7,
    "__main__": 8,
}
"""Each folder and top-level file of the package, and how high it stands."""


@dataclass(frozen=True)
class Arrow:
    """One import of this package by itself: where it stands, and what it takes."""

    file: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.target}"


def parts_of(root: Path) -> list[str]:
    """The names of the package's folders and top-level files, without the front door."""
    folders = [item.name for item in root.iterdir() if any(item.glob("**/*.py"))]
    files = [item.stem for item in root.glob("*.py") if item.stem != "__init__"]
    return sorted(folders + files)


def arrows_of(path: Path, root: Path) -> Iterator[Arrow]:
    """Every import of this package in a file: inside functions and for type checking too."""
    file = path.relative_to(root.parent)
    package = file.parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        for target in _targets(node, package):
            if target.split(".")[0] == PACKAGE:
                yield Arrow(file.as_posix(), getattr(node, "lineno", 0), target)


def _targets(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        stem = package[: len(package) - node.level + 1]
        base = ".".join([*stem, *([base] if base else [])])
    if base == PACKAGE:
        return [f"{base}.{alias.name}" for alias in node.names]
    return [base]


def fault_of(arrow: Arrow) -> str | None:
    """Why an arrow is not allowed, or None. The front door, `__init__`, is exempt."""
    source = Path(arrow.file).parts[1].removesuffix(".py")
    if source == "__init__":
        return None
    target = [*arrow.target.split("."), ""][1]
    if target not in LAYERS:
        return f"{arrow}: take it from the layer that defines it, not from the front door"
    if target == source or LAYERS[target] < LAYERS[source]:
        return None
    way = "sideways" if LAYERS[target] == LAYERS[source] else "up"
    return f"{arrow}: {way} from {source} (L{LAYERS[source]}) to {target} (L{LAYERS[target]})"


def faults_in(root: Path) -> list[str]:
    """Every arrow below `root`, the package's folder, that the layers do not allow."""
    found = [
        fault_of(arrow) for path in sorted(root.rglob("*.py")) for arrow in arrows_of(path, root)
    ]
    return [fault for fault in found if fault]
