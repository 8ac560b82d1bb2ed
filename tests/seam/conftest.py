"""What the tests of the seam share."""

import pytest
import scripted


@pytest.fixture(autouse=True)
def world() -> scripted.World:
    """The world that the scripted model lives in, fresh for each test."""
    scripted.world.ran.clear()
    scripted.world.answer = scripted.World().answer
    return scripted.world
