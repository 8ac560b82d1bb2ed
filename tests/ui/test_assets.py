"""The page's files, put together into one script and one style sheet."""

import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.ui import assets
from workbench.ui.assets import AssetError, assemble

node = pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")


def _write(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, "utf-8")
    return folder


def _run(script: str, tmp_path: Path, code: str) -> str:
    """What Node prints for code that gets the module's default export as ``widget``."""
    (tmp_path / "page.mjs").write_text(script, "utf-8")
    code = f"import('./page.mjs').then(({{ default: widget }}) => {{ {code} }})"
    done = subprocess.run(
        ["node", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@node
def test_a_notebook_can_load_the_page(tmp_path: Path) -> None:
    """The assembled script is one valid module without imports that offers `render`."""
    script = assets.esm()
    assert not [line for line in script.splitlines() if line.startswith(("import ", "export {"))]
    assert _run(script, tmp_path, "console.log(Object.keys(widget), typeof widget.render)") == (
        "[ 'render' ] function"
    )


@node
def test_private_names_stay_apart(tmp_path: Path) -> None:
    """Two modules may each have a helper of the same name; a shared one is loaded once."""
    folder = _write(
        tmp_path,
        widget="import { a } from './a.js';\nimport { b as other } from './b.js';\n"
        "const secret = 'w';\nexport default { all: [a(), other(), secret].join() };\n",
        a="import { count } from './shared.js';\nconst secret = 'a';\n"
        "export function a() {\n  return secret + count();\n}\n",
        b="import { count } from './shared.js';\nconst secret = 'b';\n"
        "export const b = () => secret + count();\n",
        shared="let n = 0;\nexport function count() {\n  return (n += 1);\n}\n",
    )
    assert _run(assemble(folder, "widget"), tmp_path, "console.log(widget.all)") == "a1,b2,w"


def test_every_module_is_part_of_the_page() -> None:
    """A file that nothing imports is a file that somebody forgot, types excepted."""
    script = assets.esm()
    names = {path.stem for path in (assets.STATIC / "js").glob("*.js")} - {"types"}
    assert [name for name in names if f"const ${name} = (() =>" not in script] == []


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"widget": "import { a } from './a.js';\n"}, "module a.js is missing in"),
        (
            {"widget": "import { a } from './a.js';\n", "a": "import { b } from './widget.js';\n"},
            "modules import in a circle: widget > a > widget",
        ),
        ({"widget": "import * as a from './a.js';\n"}, "widget.js: cannot assemble the line"),
        ({"widget": "export { a };\n"}, "export before a declaration"),
    ],
)
def test_what_cannot_be_assembled_is_named(
    tmp_path: Path, modules: dict[str, str], message: str
) -> None:
    """A form of import that the assembler does not know is an error, not a broken page."""
    with pytest.raises(AssetError) as caught:
        assemble(_write(tmp_path, **modules), "widget")
    assert message in str(caught.value)


def test_styles_come_in_order() -> None:
    """Colours are defined before they are used, and the rules for narrow pages come last."""
    css = assets.css()
    assert css.index("--wb-blue:") < css.index(".wb-row {") < css.rindex("@container wb")
