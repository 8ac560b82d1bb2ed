"""Which modules an ambient session reaches, and what of them it cannot see."""

import sys
import time as real_time
import uuid as real_uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

MODULE = """
import time
from dataclasses import dataclass, field
from uuid import uuid4


def hidden():
    import random

    return random.random()


def kept(clock=time.time):
    return clock()


@dataclass
class Order:
    id: str = field(default_factory=uuid4)


def seen():
    return [str(uuid4()), time.time()]
"""


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of the agent's that nobody has imported yet."""
    package = tmp_path / "lateshop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "lateshop"
    for name in [each for each in sys.modules if each.partition(".")[0] == "lateshop"]:
        del sys.modules[name]


def test_what_cannot_be_seen_is_named(late: str) -> None:
    """Of modules that were there before: imports inside functions, and what was kept elsewhere."""
    from lateshop import parts  # type: ignore[import-not-found]

    recorded = wb.record(parts.seen, ambient=True)
    assert len(recorded.notices) == 3
    hidden, kept, order = recorded.notices
    assert "parts.py:8 imports random inside a function" in hidden
    assert "lateshop.parts.kept holds time.time itself" in kept
    assert "lateshop.parts.Order.id holds uuid.uuid4 itself" in order
    assert recorded.trace.gaps == tuple(recorded.notices)
    assert [entry.name for entry in recorded.trace.entries] == ["uuid.uuid4", "time.time"]


def test_modules_that_are_imported_later_are_seen_whole(late: str) -> None:
    """What the run itself imports is seen from its first line on, inside functions too."""

    def agent() -> list[Any]:
        for name in ("lateshop.parts", "lateshop"):
            sys.modules.pop(name, None)
        from lateshop import parts

        assert type(parts.__loader__).__module__.startswith("_frozen_importlib")
        return [parts.hidden(), parts.kept(), parts.Order().id, parts.seen()]

    recorded = wb.record(agent, ambient=["lateshop"])
    assert recorded.notices == []
    names = [entry.name for entry in recorded.trace.entries]
    assert names == ["random.random", "time.time", "uuid.uuid4", "uuid.uuid4", "time.time"]
    replayed = wb.replay(agent, recorded.trace)
    assert replayed.output == recorded.output
    parts = sys.modules["lateshop.parts"]
    assert parts.time is real_time
    assert parts.uuid4 is real_uuid.uuid4
    assert parts.__builtins__["__import__"] is __import__
    assert parts.kept() != parts.kept()


SCRIPT = """
import sys
import uuid
from datetime import datetime

from helper import stamp


def main():
    import random

    print(uuid.uuid4(), datetime.now().isoformat(), random.randint(1, 10**9), stamp())


if __name__ == "__main__":
    main()
"""


def test_a_script_is_ambient_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that a script and the modules beside it read is recorded, wherever it imports it."""
    (tmp_path / "agent.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("import time\n\ndef stamp():\n    return time.time_ns()\n")
    script = str(tmp_path / "agent.py")
    recorded = wb.record(script, ambient=True)
    assert recorded.status == "ok", recorded.error
    replayed = wb.replay(script, recorded.trace)
    assert replayed.output == recorded.output
    assert recorded.notices == []
    sites = {entry.site for entry in recorded.trace.entries}
    assert sites == {"__main__:main", "helper:stamp"}
