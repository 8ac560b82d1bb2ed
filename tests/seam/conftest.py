"""What the tests of the seam share."""

import pytest
import scripted
from scripted import World
from tillshop import DONE, agent, call, fresh_shop, script

import workbench as wb


@pytest.fixture(autouse=True)
def world() -> scripted.World:
    """The world that the scripted model lives in, fresh for each test."""
    scripted.world.ran.clear()
    scripted.world.answer = scripted.World().answer
    return scripted.world


@pytest.fixture
def doubled(world: World) -> wb.Trace:
    """A run that refunded the same order three times, then gave up."""
    pay = call("refund", order_id=101, amount=149.99)
    world.answer = script(call("get_order", order_id=101), pay, pay, pay, DONE)
    with fresh_shop():
        recorded = wb.record(agent, 101)
    assert recorded.status == "ok"
    assert len(recorded.trace.turns) == 5
    world.ran.clear()
    return recorded.trace
