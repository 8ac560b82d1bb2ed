"""The canonical form against RFC 8785's own test vectors."""

import json
from pathlib import Path

import pytest

from workbench.trace.canonical import canonical
from workbench.trace.jcs import dump_encoded, es6_number

VECTORS = ["arrays", "french", "structures", "unicode", "values", "weird"]

# Appendix B of RFC 8785, and values at the edges of each rule of ECMAScript's Number::toString.
NUMBERS = [
    (0.0, "0"),
    (-0.0, "0"),
    (5e-324, "5e-324"),
    (-5e-324, "-5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (9007199254740992.0, "9007199254740992"),
    (-9007199254740992.0, "-9007199254740992"),
    (295147905179352830000.0, "295147905179352830000"),
    (9.999999999999997e22, "9.999999999999997e+22"),
    (1e23, "1e+23"),
    (1.0000000000000001e23, "1.0000000000000001e+23"),
    (999999999999999700000.0, "999999999999999700000"),
    (999999999999999900000.0, "999999999999999900000"),
    (1e21, "1e+21"),
    (1.5e21, "1.5e+21"),
    (1e20, "100000000000000000000"),
    (9.999999999999997e-7, "9.999999999999997e-7"),
    (0.000001, "0.000001"),
    (0.0000012345, "0.0000012345"),
    (1e-7, "1e-7"),
    (1e-5, "0.00001"),
    (0.0001, "0.0001"),
    (333333333.33333329, "333333333.3333333"),
    (333333333.3333332, "333333333.3333332"),
    (-0.0000033333333333333333, "-0.0000033333333333333333"),
    (1424953923781206.2, "1424953923781206.2"),
    (123456789012345680.0, "123456789012345680"),
    (1.0, "1"),
    (-2.5, "-2.5"),
    (1e15, "1000000000000000"),
]


@pytest.mark.parametrize("name", VECTORS)
def test_a_published_vector_gives_its_published_bytes(name: str, shared_data: Path) -> None:
    """A hash made by another RFC 8785 implementation is the hash made here."""
    folder = shared_data / "rfc8785"
    value = json.loads((folder / "input" / f"{name}.json").read_bytes())
    expected = (folder / "output" / f"{name}.json").read_bytes()
    assert canonical(value) == expected
    assert dump_encoded(value) == expected


def test_every_vector_in_the_folder_is_tested(shared_data: Path) -> None:
    """A vector that is added to the folder is not left out."""
    inputs = (shared_data / "rfc8785" / "input").glob("*.json")
    assert sorted(path.stem for path in inputs) == VECTORS


@pytest.mark.parametrize(("value", "text"), NUMBERS)
def test_a_number_is_spelt_as_ecmascript_spells_it(value: float, text: str) -> None:
    """A float has the same text here, in a browser and in every other JCS writer."""
    assert es6_number(value) == text
    assert canonical([value]) == f"[{text}]".encode()
    assert dump_encoded([value]) == f"[{text}]".encode()
    assert float(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_without_json_form_is_never_spelt_out(value: float) -> None:
    """NaN and infinities cannot slip into canonical bytes as if they were JSON."""
    with pytest.raises(ValueError, match="has no canonical JSON form"):
        es6_number(value)


def test_keys_are_in_the_order_of_utf16_units() -> None:
    """An emoji's key comes before one at U+FB33, as in JavaScript, not after it as in Python."""
    value = {"\ufb33": 2, "\U0001f600": 1, "a": 0}
    expected = '{"a":0,"\U0001f600":1,"\ufb33":2}'.encode()
    assert canonical(value) == expected
    assert canonical({"deep": [value]}) == b'{"deep":[' + expected + b"]}"


def test_text_is_escaped_as_the_rfc_says() -> None:
    """Control characters have one spelling, and nothing else is escaped."""
    text = '\x00\x08\t\n\x0b\x0c\r\x1f"\\/\x7f\x80\u2028é'
    expected = '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/\x7f\x80\u2028é"'
    assert canonical(text) == expected.encode()
    assert canonical({text: 1}) == f"{{{expected}:1}}".encode()
