"""match='position': one place in the whole trace, for exploring after a change of code."""

from typing import Any

from scripted import World, ask

import workbench as wb


@wb.tool(effect="read")
def look(number: int) -> dict[str, int]:
    """Look something up."""
    return {"number": number}


def agent(*, first: str = "one", tool: int = 1, swap: bool = False) -> list[Any]:
    """Ask, look, ask."""
    out: list[Any] = []
    if swap:
        out.append(look(tool))
        out.append(ask(first)["content"])
    else:
        out.append(ask(first)["content"])
        out.append(look(tool))
    out.append(ask("two")["content"])
    return out


def test_an_unchanged_run_fits_by_position() -> None:
    """Every call is the next one of the trace."""
    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace, match="position")
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert [e.origin for e in replayed.trace.entries] == [e.id for e in recorded.trace.entries]


def test_equal_calls_in_another_order_fit_by_hash_and_not_by_position(world: World) -> None:
    """By hash each call finds its own answer; by position the order counts as well."""
    recorded = wb.record(agent)
    assert wb.replay(agent, recorded.trace, swap=True).status == "ok"
    strict = wb.replay(agent, recorded.trace, swap=True, match="position")
    assert strict.status == "drifted"
    assert "position 1" in str(strict.drift)
    assert "model" in str(strict.drift)


def test_a_changed_prompt_never_gets_the_old_answer_unsaid(world: World) -> None:
    """Strict it fails with the difference; lenient it is served and reported."""
    recorded = wb.record(agent)
    strict = wb.replay(agent, recorded.trace, first="one!", match="position")
    assert strict.status == "drifted"
    assert "one!" in str(strict.drift)
    world.ran.clear()
    lenient = wb.replay(
        agent, recorded.trace, first="one!", tool=2, match="position", on_miss="placeholder"
    )
    assert (lenient.status, lenient.output) == ("ok", recorded.output)
    assert world.ran == []
    said = "\n".join(lenient.notices)
    assert "one!" in said
    assert "arguments.number" in said
    assert [call.reason for call in lenient.calls] == ["placeholder", "placeholder", "hit"]
