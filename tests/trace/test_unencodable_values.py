"""What cannot be kept is refused at once, with its place, and within bounds."""

import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from foreign import Colour, Text
from pydantic import SecretStr
from roundtrip import on_disk, same

from workbench.errors import TraceFormatError, UnencodableError
from workbench.trace.values import MAX_DEPTH, decode, dumps, encode, loads


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([object()], "$[0]"),
        ({"a b": object()}, '$["a b"]'),
        ({"é\ud83d": object()}, '$["\\u00e9\\ud83d"]'),
        ({3: object()}, "$[3]"),
        ({"x": {Colour.RED: 1}}, "$.x[key 0]"),
        ({"x": {Colour}}, "$.x[item 0]"),
        ((1, (2, object())), "$[1][1]"),
        ({b"k": object()}, "$[a bytes]"),
    ],
)
def test_a_refusal_names_the_place(value: object, path: str) -> None:
    """The path leads to the one value that cannot be kept, through every kind of container."""
    for plain in (False, True):
        if plain and "key" in path:
            continue  # an Enum has data
        with pytest.raises(UnencodableError) as caught:
            encode(value, plain=plain)
        assert caught.value.path == path
        assert str(caught.value).startswith(path + ": ")


@pytest.mark.parametrize("value", [object(), print, Colour, iter([]), SecretStr("s"), ValueError()])
def test_what_has_no_data_is_refused_even_as_plain(value: object) -> None:
    """There is no last resort such as ``str(value)``."""
    with pytest.raises(UnencodableError, match="could not be turned into data"):
        encode({"x": value}, plain=True)


def test_an_object_whose_own_method_fails_is_refused_with_that_reason() -> None:
    """An error inside a foreign ``to_dict()`` is reported with the place of the object."""

    class Broken:
        def to_dict(self) -> dict[str, Any]:
            raise LookupError("no session")

    with pytest.raises(UnencodableError, match=r"^\$\.x: .*Broken.*LookupError: no session") as e:
        encode({"x": Broken()}, plain=True)
    assert isinstance(e.value.__cause__, LookupError)


def test_an_object_that_is_its_own_data_ends() -> None:
    """A ``to_dict()`` that returns itself is refused instead of going on for ever."""

    class Endless:
        def to_dict(self) -> Any:
            return self

    with pytest.raises(UnencodableError, match="contains itself"):
        encode([Endless()], plain=True)


def cyclic_list() -> object:
    """A list that stands within itself."""
    value: list[Any] = [1]
    value.append({"again": value})
    return {"top": value}


def cyclic_dict() -> object:
    """A map that holds itself twice."""
    value: dict[str, Any] = {"x": (1,)}
    value["me"] = value
    value["me2"] = value
    return [value]


@pytest.mark.parametrize(
    ("make", "path", "kind"), [(cyclic_list, "$.top", "list"), (cyclic_dict, "$[0]", "dict")]
)
def test_a_cycle_is_refused_by_name(make: Callable[[], object], path: str, kind: str) -> None:
    """A value that contains itself gives a clear error, at the place where the circle begins."""
    with pytest.raises(UnencodableError) as caught:
        encode(make())
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: this {kind} contains itself")


def nested(levels: int, wrap: Callable[[Any], Any] = lambda inner: [inner]) -> Any:
    """A value of so many levels."""
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    ("wrap", "cost"),
    [
        (lambda inner: [inner], 1),
        (lambda inner: {"k": inner}, 1),
        (lambda inner: (inner,), 2),
        (lambda inner: {1: inner}, 3),
        (lambda inner: frozenset({inner}), 2),
    ],
)
def test_depth_has_a_bound_that_can_be_written_and_read(
    wrap: Callable[[Any], Any], cost: int
) -> None:
    """What passes the bound also fits the file, inside a line; what does not is a clear error."""
    deepest = nested(MAX_DEPTH // cost, wrap)
    line = dumps({"request": {"body": [encode(deepest)]}})
    assert decode(loads(line)["request"]["body"][0]) == deepest
    with pytest.raises(UnencodableError, match="nested more than 200 levels deep; flatten"):
        encode(nested(MAX_DEPTH // cost + 1, wrap))


@pytest.mark.parametrize(
    "json",
    [
        nested(MAX_DEPTH + 1),
        nested(900),
        nested(MAX_DEPTH, lambda inner: {"$wb": "tuple", "v": [inner]}),
    ],
)
def test_reading_has_the_same_bound(json: Any) -> None:
    """A hostile file cannot overflow the stack."""
    with pytest.raises(TraceFormatError, match="nested more than 200 levels deep"):
        decode(json)


@pytest.mark.parametrize(
    "value",
    [10**4300, -(10**4300), 2**1_000_000, Decimal("1" * 4301)],
    ids=["long", "negative", "huge", "decimal"],
)
def test_a_number_too_long_to_read_is_not_written(value: object) -> None:
    """A trace never holds a number that Python would refuse to read back."""
    with pytest.raises(UnencodableError, match="may have 4300 digits at most") as caught:
        encode({"n": value})
    assert caught.value.path == "$.n"


def test_a_lower_digit_limit_of_the_process_is_an_error_with_a_place() -> None:
    """A process that allows fewer digits refuses the value, not the whole recording."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(UnencodableError) as caught:
            encode([10**1000])
        with pytest.raises(TraceFormatError, match="a malformed int"):
            decode({"$wb": "int", "v": "1" * 1000})
    finally:
        sys.set_int_max_str_digits(before)
    assert caught.value.path == "$[0]"


@pytest.mark.parametrize("value", [Decimal("1E+6145"), Decimal("1E-6145"), Decimal("9E+99999999")])
def test_a_decimal_of_absurd_size_is_refused(value: Decimal) -> None:
    """A short line must not become gigabytes when somebody calls int() on it."""
    with pytest.raises(UnencodableError, match="power of ten may be 6144 at most"):
        encode(value)
    with pytest.raises(TraceFormatError, match="power of ten may be 6144 at most"):
        decode({"$wb": "Decimal", "v": str(value)})


def test_a_zone_without_a_name_is_refused_or_kept_as_an_offset(tmp_path: Path) -> None:
    """A time zone read from a file has no key by which a reader could find it."""
    tzdata = next(p for p in (Path("/usr/share/zoneinfo/Asia/Tokyo"), tmp_path / "none"))
    if not tzdata.exists():
        pytest.skip("no zone files on this system")
    with tzdata.open("rb") as file:
        value = datetime(2024, 1, 2, tzinfo=ZoneInfo.from_file(file))
    with pytest.raises(UnencodableError, match="was read from a file and has no name"):
        encode(value)
    assert same(on_disk(value, plain=True), value.replace(tzinfo=timezone(timedelta(hours=9))))


@pytest.mark.parametrize("value", [b"x", {1: 2}, "\ud83d", 2**64, date(2024, 1, 1), Text("x")])
def test_only_encoded_values_can_be_written(value: object) -> None:
    """A forgotten encode() is an error, not a silent conversion by the JSON writer."""
    with pytest.raises(UnencodableError, match=r"pass it to encode\(\) first"):
        dumps({"x": value})
