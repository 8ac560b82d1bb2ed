from hypothesis import given
from hypothesis import strategies as st

from workbench.adapters.http.wire import Splitter, body_bytes, write_event

PIECES = st.lists(
    st.sampled_from(
        [b"data: {}\n\n", b"data: a\r\n\r\n", b": alive\n\n", b"event: error\ndata: x\ndata: y\n\n"]
    ),
    max_size=6,
)


@given(PIECES, st.lists(st.integers(1, 9), min_size=1))
def test_events_are_the_same_however_the_network_packs_them(
    pieces: list[bytes], sizes: list[int]
) -> None:
    """Event boundaries come from the stream, never from packets; no byte is lost or added."""
    whole = b"".join([*pieces, b"data: unfinished"])
    splitter, found, place = Splitter(), [], 0
    for number in range(len(whole) + 1):
        step = sizes[number % len(sizes)]
        found += list(splitter.feed(whole[place : place + step]))
        place += step
    events = [event for event in found if event.raw.strip()]
    assert [(event.data, event.name) for event in events] == [
        {
            b"data: {}\n\n": ("{}", None),
            b"data: a\r\n\r\n": ("a", None),
            b": alive\n\n": (None, None),
            b"event: error\ndata: x\ndata: y\n\n": ("x\ny", "error"),
        }[piece]
        for piece in pieces
    ]
    assert b"".join(event.raw for event in found) + splitter.rest() == whole


@given(st.text())
def test_an_event_comes_back_as_it_was_written(text: str) -> None:
    """Any text survives the way through an event, as JSON."""
    (event,) = Splitter().feed(write_event({"text": text}))
    assert event.data is not None
    assert event.data.encode() == body_bytes({"text": text}, {})
