"""Every value that is kept comes back from the file as it went in."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from roundtrip import on_disk, same

from workbench.trace.values import decode, dumps, encode, loads

VALUES: list[object] = [
    b"",
    b"\x8c\x00",
    bytearray(b"\xff"),
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.0,
    1.0,
    1e300,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    -(2**63) - 1,
    10**4299,
    True,
    1 + 2j,
    complex(float("nan"), -0.0),
    date(2024, 2, 29),
    time(1, 2, 3, 4),
    time(1, 2, tzinfo=UTC),
    time(1, 2, tzinfo=ZoneInfo("Europe/Berlin")),
    time(1, fold=1),
    datetime(2024, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001 - naive on purpose
    datetime(1, 1, 1),  # noqa: DTZ001 - naive on purpose
    datetime(2024, 1, 2, tzinfo=UTC),
    datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    datetime(2024, 1, 2, tzinfo=timezone(timedelta(seconds=1, microseconds=5))),
    datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=2), "CEST")),
    datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=2), "odd \ud83d")),
    datetime(2024, 1, 2, tzinfo=ZoneInfo("America/New_York")),
    datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2024, 10, 27, 2, 30, fold=0, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2024, 10, 27, 2, 30, fold=1),  # noqa: DTZ001 - naive on purpose
    timedelta(days=-1, microseconds=1),
    timedelta.max,
    Decimal("1.10"),
    Decimal("-0"),
    Decimal("1E+6000"),
    Decimal("NaN"),
    Decimal("-Infinity"),
    UUID("12345678-1234-5678-1234-567812345678"),
    Path("a/b"),
    Path("/a/\udcff"),
    PurePosixPath("a//b"),
    PureWindowsPath("C:\\x\\y"),
    (),
    (1, (2, [3, (4,)])),
    set(),
    {1, "a", None, (2, b"x")},
    frozenset({frozenset({1}), (1, 2)}),
    {(1, 2), (3, 4)},
    {},
    {1: "a", "1": "b"},
    {None: 1, True: 2, 2.5: 3, (1, "x"): 4, b"k": 5, float("inf"): 6, date(2024, 1, 1): 7},
    {"z": 1, "a": {3: 1, 2: 2}},
    "\ud83d",
    "\ud83d\ude00",
    "a\udfffb\ud800é😀",
    {"\ud83d": "\ude00", "ok": 1},
    {"$wb": "bytes", "v": "AA=="},
    {"$wb": 1},
    [{"$wb": {"$wb": b"x"}, "v": None}],
    {"v": 1, "wb": 2, "$": 3},
    [{"when": date(2024, 1, 2), "text": "plain"}, None, "é", 1],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_from_disk_as_the_same_type(value: object) -> None:
    """A tool's result is the same in a replay as it was live, by value, type and order."""
    back = on_disk(value)
    assert same(back, value)
    assert same(on_disk([{"deep": (value,)}]), [{"deep": (value,)}])


def test_a_time_zone_comes_back_as_itself() -> None:
    """A zone's name is kept, so arithmetic over a change of clocks still works after a replay."""
    back = on_disk(datetime(2024, 3, 30, 12, tzinfo=ZoneInfo("Europe/Berlin")))
    assert back.tzinfo is ZoneInfo("Europe/Berlin")
    assert (back + timedelta(days=1)).utcoffset() == timedelta(hours=2)
    assert on_disk(datetime(2024, 1, 1, tzinfo=UTC)).tzinfo is UTC


hashables = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.timedeltas()
    | st.uuids()
    | st.decimals(allow_nan=False).filter(lambda d: not d or abs(d.adjusted()) <= 6144),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4),
    max_leaves=5,
)
anything = st.recursive(
    hashables | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(hashables, inner, max_size=5)
        | st.dictionaries(st.text(st.characters(exclude_categories=())), inner, max_size=5)
        | st.sets(hashables, max_size=5)
    ),
    max_leaves=15,
)


@given(anything)
def test_any_mixture_of_values_comes_back(value: Any) -> None:
    """Whatever is not refused is kept exactly, and what is written is JSON for any reader."""
    assert same(on_disk(value), value)
    assert same(decode(encode(value)), value)


@given(anything)
def test_writing_again_gives_the_same_bytes(value: Any) -> None:
    """Loading and saving a value changes nothing in the file."""
    written = dumps(encode(value))
    assert dumps(encode(decode(loads(written)))) == written


@pytest.mark.parametrize(
    "value",
    [{"a": [1, 2.5, None, True, "é", {"b": []}]}, [], "text", 7, None, {"n": 2**64 - 1}],
)
def test_json_stays_the_very_same_object(value: object) -> None:
    """Plain JSON costs no copy in either direction."""
    assert encode(value) is value
    assert decode(value) is value


def test_encoding_never_changes_its_input() -> None:
    """The agent's own objects stay as they are."""
    inner = {"b": b"x", 1: {3, 2}}
    value = {"a": [inner, (1, 2)], "$wb": 5}
    encode(value)
    assert value == {"a": [{"b": b"x", 1: {3, 2}}, (1, 2)], "$wb": 5}
    assert value["a"][0] is inner  # type: ignore[index]


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (b"\x8c", {"$wb": "bytes", "v": "jA=="}),
        (float("nan"), {"$wb": "float", "v": "nan"}),
        (2**64, {"$wb": "int", "v": "18446744073709551616"}),
        (datetime(2024, 1, 2, tzinfo=UTC), {"$wb": "datetime", "v": "2024-01-02T00:00:00+00:00"}),
        (
            datetime(2024, 1, 2, tzinfo=ZoneInfo("Asia/Tokyo")),
            {"$wb": "datetime", "v": {"iso": "2024-01-02T00:00:00", "zone": "Asia/Tokyo"}},
        ),
        (timedelta(1, 2, 3), {"$wb": "timedelta", "v": [1, 2, 3]}),
        (PurePosixPath("a"), {"$wb": "PurePosixPath", "v": "a"}),
        ((1, b""), {"$wb": "tuple", "v": [1, {"$wb": "bytes", "v": ""}]}),
        ({10, 9, 1}, {"$wb": "set", "v": [1, 10, 9]}),
        ("a\ud83d", {"$wb": "str", "v": ["a", 55357]}),
        ({1: "a", "b": 2}, {"$wb": "dict", "v": [[1, "a"], ["b", 2]]}),
        ({"$wb": "bytes", "v": ""}, {"$wb": "dict", "v": [["$wb", "bytes"], ["v", ""]]}),
    ],
)
def test_the_form_on_disk_is_the_documented_one(value: object, json: object) -> None:
    """Traces written today open tomorrow: the tagged form is part of the file format."""
    assert encode(value) == json
    assert same(decode(json), value)
