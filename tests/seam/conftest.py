"""What the tests of the seam share."""

from collections.abc import Iterator

import pytest
import scripted


@pytest.fixture(autouse=True)
def world() -> Iterator[scripted.World]:
    """The world that the scripted model lives in, fresh for each test."""
    scripted.world.ran.clear()
    scripted.world.answer = scripted.World().answer
    yield scripted.world
