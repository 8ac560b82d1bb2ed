"""What a tool raised is raised again: type, text, arguments, attributes, notes, groups."""

from typing import Any

import pytest

import workbench as wb


class OutOfStockError(LookupError):
    """One of the agent's own exceptions."""

    def __init__(self, item: str, left: int) -> None:
        super().__init__(f"{item}: {left} left")
        self.item, self.left = item, left


def raised(error: BaseException) -> BaseException:
    """What an agent gets on replay from a tool that raised this."""

    @wb.tool(effect="read")
    def broken() -> None:
        raise error

    def agent() -> Any:
        try:
            broken()
        except BaseException as caught:  # what this test is about
            return seen.append(caught)
        return None

    seen: list[BaseException] = []
    recorded = wb.record(agent)
    assert recorded.status == "ok"
    assert wb.replay(agent, recorded.trace).status == "ok"
    first, again = seen
    assert first is error
    return again


def test_attributes_come_back() -> None:
    """An agent may go by them, and its __init__ is not run again."""
    again = raised(OutOfStockError("pen", 3))
    assert isinstance(again, OutOfStockError)
    assert (str(again), again.item, again.left) == ("pen: 3 left", "pen", 3)


def test_notes_come_back() -> None:
    """What was added on the way is part of what a person reads."""
    error = ValueError("bad")
    error.add_note("while reading page 3")
    error.add_note("of 7")
    assert raised(error).__notes__ == ["while reading page 3", "of 7"]


def test_groups_come_back_with_their_members() -> None:
    """Also nested, so that except* finds them."""
    inner = ExceptionGroup("inner", [OutOfStockError("ink", 0)])
    again = raised(ExceptionGroup("several", [ValueError("one"), inner]))
    assert isinstance(again, ExceptionGroup)
    assert again.message == "several"
    one, nested = again.exceptions
    assert (type(one), str(one)) == (ValueError, "one")
    assert isinstance(nested, ExceptionGroup)
    (stock,) = nested.exceptions
    assert isinstance(stock, OutOfStockError)
    caught: list[BaseException] = []

    def unpack() -> None:
        try:
            raise again
        except* OutOfStockError as found:
            caught.extend(found.exceptions)

    with pytest.raises(ExceptionGroup) as rest:
        unpack()
    assert [type(each) for each in caught] == [ExceptionGroup]
    assert [str(each) for each in rest.value.exceptions] == ["one"]
