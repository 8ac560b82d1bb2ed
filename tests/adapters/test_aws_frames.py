"""The binary frames in which AWS sends the events of a stream."""

import json
import struct
from binascii import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.adapters.http.frames import FrameSplitter, write_frame

ODD = {"type": "ping", "text": "é\u2028 \ud83d", "n": 12345678901234567890123}


@given(st.integers(1, 200), st.lists(st.dictionaries(st.text(), st.integers()), min_size=1))
def test_events_come_back_however_the_network_packed_them(size: int, events: list[object]) -> None:
    """Cut anywhere, the frames are the same ones, in order, with nothing left over."""
    data = b"".join(write_frame(each) for each in events)
    splitter = FrameSplitter()
    found = [
        event
        for start in range(0, len(data), size)
        for event in splitter.feed(data[start : start + size])
    ]
    assert [json.loads(event.data or "") for event in found] == events
    assert b"".join(event.raw for event in found) == data
    assert splitter.rest() == b""


def test_an_event_has_its_own_name_and_every_character() -> None:
    """The name is that of its data; a lone surrogate and a large number are kept."""
    (event,) = FrameSplitter().feed(write_frame(ODD))
    assert (event.name, json.loads(event.data or "")) == ("ping", ODD)
    (text,) = FrameSplitter().feed(write_frame('{"type": '))
    assert (text.name, text.data) == (None, '{"type": ')


def test_the_checksums_are_those_of_the_format() -> None:
    """The smallest frame that the format knows, which is also its published example."""
    empty = bytes.fromhex("000000100000000005c248eb7d98c8ff")
    (event,) = FrameSplitter().feed(empty)
    assert (event.raw, event.data) == (empty, None)
    frame = write_frame(ODD)
    length, _head, check = struct.unpack(">III", frame[:12])
    assert (length, check) == (len(frame), crc32(frame[:8]))
    assert struct.unpack(">I", frame[-4:])[0] == crc32(frame[:-4])


def test_an_exception_of_the_service_is_an_error_event() -> None:
    """It is read as the event that a server without frames would send, and written back."""
    told = {"type": "throttlingException", "message": "slow down"}
    data = {"type": "error", "error": told}
    (event,) = FrameSplitter().feed(write_frame(data, "error"))
    assert (event.name, json.loads(event.data or "")) == ("error", data)
    assert b":exception-type" in event.raw


@pytest.mark.parametrize("data", [b"<html>no frames</html>", b"\x00" * 40, b"\xff" * 40])
def test_what_is_no_frame_is_left_over(data: bytes) -> None:
    """Bytes that cannot be a frame end the splitting; none of them is lost."""
    splitter = FrameSplitter()
    assert list(splitter.feed(data)) == []
    assert splitter.rest() == data
