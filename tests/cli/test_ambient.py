"""`--ambient` on the command line."""

from shopcli import Shop

import workbench as wb

AGENT = """
import random
import uuid


def draw():
    return [str(uuid.uuid4()), random.random()]


if __name__ == "__main__":
    print(*draw())
"""


def test_a_script_s_ids_come_back(shop: Shop) -> None:
    """Recorded with --ambient, a script prints the same ids in each replay, with no more words."""
    shop.script("draws.py", AGENT)
    recorded = shop("record", "--ambient", "draws.py")
    said = recorded.out.splitlines()[0]
    assert (recorded.code, recorded.err) == (0, "")
    trace = wb.load(shop.folder / "runs" / "draws-01.trace.jsonl")
    assert trace.header.ambient is True
    assert [entry.name for entry in trace.entries] == ["uuid.uuid4", "random.random"]
    replayed = shop("replay", "runs/draws-01.trace.jsonl")
    assert replayed.out.splitlines()[0] == said
    verified = shop("verify", "runs/draws-01.trace.jsonl")
    assert verified.code == 0, verified.out


def test_modules_can_be_named(shop: Shop) -> None:
    """`--ambient=MODULE` means that module; a replay may ask for it where the recording did not."""
    shop.script("draws.py", AGENT)
    named = shop("record", "--ambient=draws", "draws:draw", "--json").json
    header = wb.load(shop.folder / named["path"]).header
    assert header.ambient == ["draws"]
    replayed = shop("replay", named["path"], "--json").json
    assert replayed["output"] == named["output"]
    plain = shop("record", "draws:draw", "--json").json
    assert wb.load(shop.folder / plain["path"]).header.ambient is None
    other = shop("record", "--ambient=not a module", "draws:draw")
    assert other.code == 2
    assert "the agent's own modules" in other.err
