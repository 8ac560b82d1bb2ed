"""Objects of other types: refused, or kept as data and rebuilt where the type is known."""

from collections import Counter, OrderedDict, deque
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from foreign import (
    Basket,
    Colour,
    Dictable,
    Discounted,
    Level,
    Line,
    Order,
    Point,
    Text,
    Whole,
    Word,
    Zone,
)
from pydantic import HttpUrl
from roundtrip import on_disk, same

from workbench.errors import TraceFormatError, UnencodableError, UsageError
from workbench.trace.values import decode, decode_as, dumps, encode, loads


def numpy_values() -> list[tuple[object, object]]:
    """Scalars and arrays of numpy, and what they are as data."""
    numpy = pytest.importorskip("numpy")
    return [
        (numpy.float64(1.5), 1.5),
        (numpy.float32(0.5), 0.5),
        (numpy.int64(3), 3),
        (numpy.bool_(1), True),
        (numpy.str_("x"), "x"),
        (numpy.array([[1, 2]]), [[1, 2]]),
    ]


FOREIGN: list[tuple[object, object]] = [
    (Colour.RED, "red"),
    (Level.LOW, 1),
    (Word.YES, "yes"),
    (Order(1, date(2024, 1, 2)), {"id": 1, "when": date(2024, 1, 2), "colour": "red"}),
    (
        Line(sku="a", price=Decimal("1.5"), tags={"x"}),
        {"sku": "a", "price": Decimal("1.5"), "tags": {"x"}},
    ),
    (
        Basket(lines=[Discounted(sku="a", price=Decimal(1), off=2)], url=HttpUrl("http://a.b/c")),
        {
            "lines": [{"sku": "a", "price": Decimal(1), "tags": set(), "off": 2}],
            "url": "http://a.b/c",
        },
    ),
    (Point(1, b"x"), (1, b"x")),
    (Text("real"), "real"),
    (Whole(7), 7),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (Counter("aab"), {"a": 2, "b": 1}),
    (deque([1, (2,)]), [1, (2,)]),
    ({"a": 1}.keys(), {"a"}),
    (memoryview(b"xy"), b"xy"),
    (Dictable(), {"a": (1, 2)}),
    (
        datetime(2024, 1, 2, tzinfo=Zone()),
        datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=5))),
    ),
]


def check_foreign(value: object, data: object) -> None:
    """The value is refused where it stands, and kept as its data when that will do."""
    with pytest.raises(UnencodableError) as caught:
        encode({"items": [0, {"when": value}]})
    assert caught.value.path == "$.items[1].when"
    assert type(value).__qualname__ in str(caught.value)
    assert str(caught.value).startswith("$.items[1].when: this ")
    assert same(on_disk(value, plain=True), data)
    assert same(on_disk([{"x": value}], plain=True), [{"x": data}])


@pytest.mark.parametrize(("value", "data"), FOREIGN, ids=lambda value: type(value).__name__)
def test_an_object_is_refused_unless_its_data_will_do(value: object, data: object) -> None:
    """Nothing turns quietly into another type: it is refused at once, or the user asked for it."""
    check_foreign(value, data)


def test_numpy_values_are_refused_unless_their_data_will_do() -> None:
    """A numpy number is no Python number, also where it is a subclass of one."""
    for value, data in numpy_values():
        check_foreign(value, data)


def test_a_timestamp_finer_than_microseconds_is_not_rounded() -> None:
    """Nanoseconds of pandas are refused rather than cut off."""
    pandas = pytest.importorskip("pandas")
    exact = pandas.Timestamp("2024-01-01T00:00:00.123456")
    assert same(on_disk(exact, plain=True), datetime(2024, 1, 1, 0, 0, 0, 123456))  # noqa: DTZ001 - naive on purpose
    with pytest.raises(UnencodableError, match="as a datetime it would lose precision"):
        encode(pandas.Timestamp("2024-01-01T00:00:00.123456789"), plain=True)


def test_the_refusal_says_where_what_and_what_to_do() -> None:
    """The message alone is enough to mend the call."""
    with pytest.raises(UnencodableError) as caught:
        encode({"items": [{"when": Colour.RED}]})
    assert str(caught.value) == (
        "$.items[0].when: this foreign.Colour cannot be kept so that it comes back as the "
        "same type. Give a dict, list, text or number instead, name the type where the value is "
        "read, or say plain=True if its data will do"
    )


REBUILT: list[tuple[object, Any]] = [
    (Colour.RED, Colour),
    (Level.LOW, Level),
    (Order(1, date(2024, 1, 2)), Order),
    ([Order(1, date(2024, 1, 2))], list[Order]),
    (Line(sku="a", price=Decimal("1.50"), tags={"x"}), Line),
    ({"a": Colour.RED}, dict[str, Colour]),
    (None, Order | None),
    ((Colour.RED, b"x"), tuple[Colour, bytes]),
    (Basket(lines=[], url=HttpUrl("http://a.b/c")), Basket),
    (b"x", bytes),
    (1.5, float),
    ({"any": [1]}, Any),
]


@pytest.mark.parametrize(("value", "annotation"), REBUILT, ids=lambda value: repr(value)[:40])
def test_a_reader_with_the_type_gets_the_type_back(value: object, annotation: Any) -> None:
    """An Enum, dataclass or model comes back as itself where the annotation is known."""
    json = loads(dumps(encode(value, plain=True)))
    back = decode_as(json, annotation)
    assert back == value
    assert type(back) is type(value)


def test_a_field_added_since_the_recording_takes_its_default() -> None:
    """A model that grew an optional field still reads what was recorded before."""
    assert decode_as({"id": 1, "when": encode(date(2024, 1, 2))}, Order).colour is Colour.RED


@pytest.mark.parametrize(
    ("json", "annotation", "message"),
    [
        ("1", int, r"as a int the recorded value would change at \$\. decode"),
        ({"id": "7", "when": {"$wb": "date", "v": "2024-01-02"}}, Order, r"would change at \$\.id"),
        ({"sku": "a", "price": 1, "gone": 2}, Line, r"would change at \$\.price"),
        ([1, "2"], list[int], r"would change at \$\[1\]"),
        ("blue", Colour, "the recorded value is not a Colour: the value: Input should be 'red'"),
        ({"id": 1}, Order, "the recorded value is not a Order: when: Field required"),
        (1, bool, "as a bool the recorded value would change"),
    ],
)
def test_a_value_that_does_not_fit_its_annotation_is_refused(
    json: Any, annotation: Any, message: str
) -> None:
    """Conversions by pydantic never change what was recorded; the raw value stays readable."""
    with pytest.raises(TraceFormatError, match=message):
        decode_as(json, annotation)
    assert decode(json) is json or "$wb" in str(json)


def test_an_annotation_that_cannot_be_rebuilt_says_so() -> None:
    """A class that nothing knows how to build is the annotation's fault, not the trace's."""
    with pytest.raises(UsageError, match="values of Dictable cannot be rebuilt"):
        decode_as({"a": 1}, Dictable)
