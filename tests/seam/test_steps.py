"""Going live from a step: with the step graph, that step and those that depend on it."""

import pytest
from scripted import World, ask

import workbench as wb

GRAPH = {"plan": [], "draft": ["plan"], "check": [], "publish": ["draft"]}


def agent() -> list[str]:
    """Four steps, of which one depends on none of the others."""
    out = []
    for name in GRAPH:
        with wb.step(name):
            out.append(ask(f"do {name}")["content"])
            with wb.step("inner"):
                out.append(ask(f"within {name}")["content"])
    return out


def lived(world: World) -> list[str]:
    """What was asked live."""
    return [body["messages"][-1]["content"] for body in world.ran]


def test_a_step_and_those_that_depend_on_it_go_live(world: World) -> None:
    """What does not depend on it is served, also where it comes later."""
    recorded = wb.record(agent, steps=GRAPH)
    world.ran.clear()
    fork = wb.fork(agent, recorded.trace, live_from=wb.step("draft"))
    assert fork.status == "ok"
    assert lived(world) == ["do draft", "within draft", "do publish", "within publish"]
    assert fork.plan is not None
    assert (fork.plan.served, fork.plan.live) == (4, 4)
    assert fork.trace.header.steps == GRAPH
    world.ran.clear()
    wb.fork(agent, fork.trace, live_from=wb.step("check"))
    assert lived(world) == ["do check", "within check"]


def test_without_a_graph_everything_from_there_on_goes_live(world: World) -> None:
    """Nothing is known of what depends on what, so all that came after may."""
    recorded = wb.record(agent)
    world.ran.clear()
    wb.fork(agent, recorded.trace, live_from=wb.step("check"))
    assert lived(world) == ["do check", "within check", "do publish", "within publish"]


def test_a_call_that_is_new_in_a_live_step_runs(world: World) -> None:
    """It was not recorded, and belongs to a step that is live."""

    def longer() -> list[str]:
        out = agent()
        with wb.step("publish"):
            out.append(ask("once more")["content"])
        return out

    recorded = wb.record(agent, steps=GRAPH)
    world.ran.clear()
    fork = wb.fork(longer, recorded.trace, live_from=wb.step("publish"))
    assert fork.status == "ok"
    assert lived(world)[-1] == "once more"


def test_a_graph_must_hold_together() -> None:
    """A step that none of them is, and one that is no list."""
    with pytest.raises(wb.UsageError, match="step 'b' depends on 'c'"):
        wb.record(agent, steps={"a": [], "b": ["a", "c"]})
    with pytest.raises(wb.UsageError, match="give a list"):
        wb.record(agent, steps={"a": "b"})
    recorded = wb.record(agent, steps=GRAPH)
    with pytest.raises(wb.PlaceError, match="check, draft, plan, publish"):
        wb.fork(agent, recorded.trace, live_from=wb.step("nothing"))
