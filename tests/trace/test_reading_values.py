"""Damaged, hostile and hand-written values: a clear error, or exactly what they say."""

from pathlib import Path, PurePath, WindowsPath
from typing import Any

import pytest
from roundtrip import on_disk

from workbench.errors import TraceFormatError, UnknownTagError
from workbench.trace.values import decode, loads


@pytest.mark.parametrize("tag", ["pickle", "builtins.eval", "", "Bytes", "numpy.int64", "é" * 500])
def test_an_unknown_tag_is_loud_and_the_raw_value_stays(tag: str) -> None:
    """A type that this version does not know is never handed out as a dict that looks real."""
    raw = {"a": [{"$wb": tag, "v": "x"}]}
    with pytest.raises(UnknownTagError) as caught:
        decode(raw)
    assert caught.value.path == "$.a[0]"
    assert repr(tag[:60]) in str(caught.value)
    assert "Known are: int, float, str, complex, bytes" in str(caught.value)
    assert raw == {"a": [{"$wb": tag, "v": "x"}]}


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ({"$wb": "bytes"}, "is a tagged value and must be"),
        ({"$wb": "bytes", "v": "", "x": 1}, "this one has the keys '\\$wb', 'v', 'x'"),
        ({"$wb": 5, "v": ""}, "is a tagged value and must be"),
        ({"$wb": ["bytes"], "v": ""}, "is a tagged value and must be"),
        ({"$wb": "bytes", "v": "a"}, "a malformed bytes: "),
        ({"$wb": "bytes", "v": "é==="}, "a malformed bytes: "),
        ({"$wb": "bytes", "v": "YQ==\n"}, "a malformed bytes: "),
        ({"$wb": "bytearray", "v": 7}, 'its "v" must be a str, not a int'),
        ({"$wb": "float", "v": "1e5"}, "'1e5' is none of nan, inf, -inf"),
        ({"$wb": "int", "v": "1_0"}, "'1_0' is not an integer's decimal digits"),
        ({"$wb": "int", "v": " 1"}, "is not an integer's decimal digits"),
        ({"$wb": "int", "v": "١"}, "is not an integer's decimal digits"),
        ({"$wb": "int", "v": "9" * 5000}, "may have 4300 digits at most"),
        ({"$wb": "int", "v": True}, 'its "v" must be a str, not a bool'),
        ({"$wb": "str", "v": ["a", 65]}, "a piece of text must be"),
        ({"$wb": "str", "v": "a"}, 'its "v" must be a list, not a str'),
        ({"$wb": "complex", "v": [1.0]}, r'its "v" must be \[real, imaginary\], each a float'),
        ({"$wb": "Decimal", "v": "1e999999999999999999999"}, "not a decimal number, or far too"),
        ({"$wb": "Decimal", "v": "1" * 9999}, "may have 4300 digits at most"),
        ({"$wb": "Decimal", "v": "x"}, "'x' is not a decimal number"),
        ({"$wb": "UUID", "v": "zz"}, "a malformed UUID: "),
        ({"$wb": "date", "v": "2024-13-01"}, "a malformed date: "),
        ({"$wb": "datetime", "v": {"iso": "x"}}, "a malformed datetime: "),
        ({"$wb": "datetime", "v": {}}, 'its "v" must be a str, not a NoneType'),
        ({"$wb": "datetime", "v": {"iso": "2024-01-01", "cls": 1}}, "unknown parts: 'cls'"),
        (
            {"$wb": "datetime", "v": {"iso": "2024-01-01T00:00:00+00:00", "fold": 1}},
            '"iso" must be without an offset',
        ),
        ({"$wb": "datetime", "v": {"iso": "2024-01-01", "fold": 2}}, "a malformed datetime: "),
        (
            {"$wb": "datetime", "v": {"iso": "2024-01-01", "zone": "Nowhere/Land"}},
            "this system does not know the time zone 'Nowhere/Land'; pip install tzdata",
        ),
        (
            {"$wb": "datetime", "v": {"iso": "2024-01-01", "zone": "../../etc/passwd"}},
            "a malformed",
        ),
        ({"$wb": "timedelta", "v": [1e9, 0, 0]}, r"must be \[days, seconds, microseconds\]"),
        ({"$wb": "timedelta", "v": [10**10, 0, 0]}, "a malformed timedelta: "),
        ({"$wb": "tuple", "v": {}}, 'its "v" must be a list, not a dict'),
        ({"$wb": "set", "v": [[1]]}, "a malformed set: unhashable type"),
        ({"$wb": "set", "v": [1, 1]}, "two of its items are equal"),
        ({"$wb": "dict", "v": [[1]]}, r"must be a list of \[key, value\] pairs"),
        ({"$wb": "dict", "v": [[[], 1]]}, "a malformed dict: unhashable type"),
        ({"$wb": "dict", "v": [[1, 1], [1, 2]]}, "two of its keys are equal"),
        ({"$wb": "PosixPath", "v": ["a"]}, 'its "v" must be a str, not a list'),
    ],
)
def test_a_malformed_tag_is_a_clear_error(json: Any, message: str) -> None:
    """Whatever a damaged or hostile file holds, the error says what and where."""
    with pytest.raises(TraceFormatError, match=message) as caught:
        decode({"x": [0, json]})
    assert caught.value.path == "$.x[1]"
    assert "$.x[1]" in str(caught.value)


def test_a_path_of_another_system_is_not_changed_into_one_of_this() -> None:
    """A path that this system cannot have is refused, not turned into another kind."""
    foreign = "PosixPath" if isinstance(Path(), WindowsPath) else "WindowsPath"
    with pytest.raises(TraceFormatError, match=f"a {foreign} cannot be made on this operating"):
        decode({"$wb": foreign, "v": "a"})
    assert issubclass(type(on_disk(Path("a"))), PurePath)


def test_reading_a_file_of_another_writer_is_exact() -> None:
    """A trace typed by hand may hold long integers and escaped surrogates; none is rounded."""
    assert loads(b'{"id":18446744073709551616,"t":"x"}') == {"id": 18446744073709551616, "t": "x"}
    assert loads(b'["\\ud83d", 1]') == ["\ud83d", 1]
    assert loads(b'["' + b"1" * 30 + b'", 1.5]') == ["1" * 30, 1.5]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"NaN", b'"\\ud83d', b"1" * 5000, b'["\\ud83d", NaN]', b"[" * 5000],
)
def test_what_is_not_json_is_a_clear_error(data: bytes) -> None:
    """A bad line is reported as one, whatever is wrong with it."""
    with pytest.raises(TraceFormatError, match=r"^not JSON: "):
        loads(data)
