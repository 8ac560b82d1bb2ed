"""The page's script and style sheet, each put together from its files.

The scripts are plain ES modules: tests and the type checker read them as they are. A notebook
front end loads a widget's script from one text, where a relative import leads nowhere. So each
module is wrapped in a function here, in the order of its imports: names that a module does not
export stay its own, and nothing is rewritten but the import and export words.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from workbench.errors import WorkbenchError

STATIC = Path(__file__).parent / "static"
"""The folder that holds ``js/`` and ``css/``."""

ENTRY = "widget"
"""The module whose default export is the widget."""

_IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w-]+)\.js';$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import\b|export\b).*$", re.MULTILINE)


class AssetError(WorkbenchError):
    """The page's files do not fit together."""


@cache
def esm() -> str:
    """The widget's script as one ES module.

    Raises:
        AssetError: a module is missing, imports in a circle, or uses a form of import or export
            that is not ``import { a, b } from './x.js';`` or ``export`` before a declaration.
    """
    return assemble(STATIC / "js", ENTRY)


@cache
def css() -> str:
    """The widget's style sheet: the files of ``css/`` in the order of their names."""
    return "\n".join(path.read_text("utf-8") for path in sorted((STATIC / "css").glob("*.css")))


def assemble(folder: Path, entry: str) -> str:
    """One ES module from the module ``entry`` of a folder and all that it imports.

    Raises:
        AssetError: as for :func:`esm`.
    """
    parts = [_wrapped(folder, name) for name in _in_order(folder, entry)]
    return "\n".join([*parts, f"export default {_variable(entry)}.$default;", ""])


def _in_order(folder: Path, entry: str) -> list[str]:
    """The names of the modules, each after those that it imports."""
    done: list[str] = []

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            raise AssetError(f"the page's modules import in a circle: {' > '.join((*trail, name))}")
        if name in done:
            return
        for match in _IMPORT.finditer(_source(folder, name)):
            visit(match.group(2), (*trail, name))
        done.append(name)

    visit(entry, ())
    return done


def _wrapped(folder: Path, name: str) -> str:
    """A module as a function that is called at once and returns what it exports."""
    source = _source(folder, name)
    exports = [match.group(1) for match in _EXPORT.finditer(source)]
    body = _IMPORT.sub(lambda found: _import(found.group(1), found.group(2)), source)
    body = _EXPORT.sub("", body)
    if _DEFAULT.search(body):
        body = _DEFAULT.sub("const $default = ", body)
        exports.append("$default")
    left = _LEFT_OVER.search(body)
    if left:
        raise AssetError(
            f"{name}.js: cannot assemble the line {left.group()!r}; write imports as "
            "import { a, b } from './x.js'; on one line, and export before a declaration"
        )
    return (
        f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();"
    )


def _import(names: str, module: str) -> str:
    return f"const {{{names.replace(' as ', ': ')}}} = {_variable(module)};"


def _variable(name: str) -> str:
    return "$" + name.replace("-", "_")


def _source(folder: Path, name: str) -> str:
    try:
        return (folder / f"{name}.js").read_text("utf-8")
    except FileNotFoundError:
        raise AssetError(
            f"the page's module {name}.js is missing in {folder}; install the package again"
        ) from None
