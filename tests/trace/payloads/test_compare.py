"""Comparing conversations and texts."""

import itertools
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.trace.payloads import Change, Message, ToolCall, compare, word_diff
from workbench.trace.payloads.align import align


def _talk(*texts: str) -> list[Message]:
    """Messages from `role: text` lines."""
    pairs = [text.split(": ", 1) for text in texts]
    return [Message(role, text, raw={"content": text}) for role, text in pairs]


def _kinds(changes: list[Change]) -> list[tuple[str, int | None, int | None]]:
    return [(change.kind, change.before, change.after) for change in changes]


BASE = _talk(
    "system: You are a refund agent. Refund an order only once.",
    "user: Refund order 101 please",
    "assistant: I look it up in the table of orders",
    "tool: order 101 costs 149.99 and was paid by card on Monday",
)


def test_equal_conversations_are_the_same() -> None:
    """A conversation against itself shows no change."""
    assert compare(BASE, BASE) == [Change("same", n, n, exact=True) for n in range(4)]


def test_injected_and_dropped_messages_are_found() -> None:
    """An inserted note and a removed tool result each show as one change, the rest aligned."""
    after = [*BASE[:2], *_talk("system: Reminder: policy 7"), BASE[2]]
    assert _kinds(compare(BASE, after)) == [
        ("same", 0, 0),
        ("same", 1, 1),
        ("injected", None, 2),
        ("same", 2, 3),
        ("dropped", 3, None),
    ]


def test_a_changed_message_is_paired_with_its_old_version() -> None:
    """A reworded prompt is one change that names the field, beside an injected message too."""
    new_prompt = _talk("system: You are a refund agent. Refund an order at will.")
    after = [*_talk("system: Zzz"), *new_prompt, *BASE[1:]]
    changes = compare(BASE, after)
    assert _kinds(changes)[:2] == [("injected", None, 0), ("changed", 0, 1)]
    assert changes[1].fields == ("text",)


def test_a_summary_is_not_a_version_of_what_it_replaced() -> None:
    """Compaction shows as messages dropped and one injected, not as one strangely changed."""
    old = [*BASE[:1], *_talk(*[f"user: alpha{n} beta{n}" for n in range(6)]), BASE[3]]
    after = [BASE[0], *_talk("user: Earlier they talked about things"), BASE[3]]
    kinds = [change.kind for change in compare(old, after)]
    assert kinds == ["same", *["dropped"] * 6, "injected", "same"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("order 101 costs 149.99", "truncated"),
        ("order 101 costs 149.99 ...", "truncated"),
        ("order 101 costs 149.99\n[1200 characters truncated]", "truncated"),
        ("order 101 ... was paid by cash on Monday", "changed"),
        ("", "truncated"),
    ],
)
def test_a_cut_text_is_told_from_a_changed_one(text: str, kind: str) -> None:
    """Only the beginning, with or without a mark of the cut, counts as truncated."""
    change = compare(BASE, [*BASE[:3], Message("tool", text)])[3]
    assert (change.kind, change.before, change.after) == (kind, 3, 3)


def _turn(ids: tuple[str, str], results: tuple[str, str]) -> list[Message]:
    calls = tuple(ToolCall(i, "get", {"n": n}, f'{{"n":{n}}}') for n, i in enumerate(ids))
    answers = [Message("tool", f"r{i}", tool_call_id=i, raw=i) for i in results]
    named = [Message("tool", f"r{n}", tool_call_id=a.tool_call_id) for n, a in enumerate(answers)]
    return [Message("assistant", tool_calls=calls, raw={"ids": ids}), *named]


def test_new_ids_are_no_change_but_swapped_results_are() -> None:
    """A live run makes new ids: the same content is the same; which result answers which counts."""
    before = _turn(("a", "b"), ("a", "b"))
    renamed = compare(before, _turn(("x", "y"), ("x", "y")))
    assert (renamed[0].kind, renamed[0].exact) == ("same", False)
    assert {change.kind for change in renamed} == {"same"}
    swapped = compare(before, _turn(("a", "b"), ("b", "a")))
    assert [(c.kind, c.fields) for c in swapped[1:]] == [("changed", ("tool_call_id",))] * 2


def test_another_image_is_a_change() -> None:
    """Two messages with the same words and different pictures are not the same."""
    first, second = (
        Message("user", "what is it?", images=1, raw={"content": [{"image": n}]}) for n in "ab"
    )
    assert compare([first], [second]) == [Change("changed", 0, 0, ("images",))]


MESSAGES = st.lists(
    st.builds(
        Message, st.sampled_from(["user", "tool"]), st.sampled_from(["a b", "a", "c d e", ""])
    ),
    max_size=9,
)


@given(MESSAGES, MESSAGES)
def test_every_message_appears_once_and_in_order(a: list[Message], b: list[Message]) -> None:
    """No message is lost or told twice, and `same` is said of equal messages only."""
    changes = compare(a, b)
    assert [c.before for c in changes if c.before is not None] == list(range(len(a)))
    assert [c.after for c in changes if c.after is not None] == list(range(len(b)))
    for change in changes:
        if change.before is not None and change.after is not None:
            old, new = a[change.before], b[change.after]
            assert (change.kind == "same") == (old == new)
            assert old.role == new.role


TOKENS = st.text(alphabet="ab \n", max_size=40) | st.text(max_size=40)


@given(TOKENS, TOKENS)
def test_word_diff_gives_both_texts_back(a: str, b: str) -> None:
    """Same and deleted runs are the old text, same and added runs the new one."""
    runs = word_diff(a, b)
    assert "".join(text for kind, text in runs if kind != "add") == a
    assert "".join(text for kind, text in runs if kind != "del") == b
    assert all(text for _, text in runs)
    assert all(x[0] != y[0] for x, y in itertools.pairwise(runs))


def test_word_diff_shows_words() -> None:
    """The changed words stand out whole; a blank between two of them belongs to the change."""
    assert word_diff("Refund it only once, please.", "Refund it as often, please.") == [
        ("same", "Refund it "),
        ("del", "only once"),
        ("add", "as often"),
        ("same", ", please."),
    ]
    assert word_diff("", "") == []
    assert word_diff("返金は一回", "返金は二回") == [
        ("same", "返金は"),
        ("del", "一"),
        ("add", "二"),
        ("same", "回"),
    ]


@given(st.lists(st.integers(0, 6), max_size=25), st.lists(st.integers(0, 6), max_size=25))
def test_alignment_covers_both_sides_and_never_lies(a: list[int], b: list[int]) -> None:
    """Blocks follow one another without a gap, and an equal block is equal."""
    at_a = at_b = 0
    for block in align(a, b):
        assert (block.a_from, block.b_from) == (at_a, at_b)
        at_a, at_b = block.a_to, block.b_to
        left, right = a[block.a_from : at_a], b[block.b_from : at_b]
        assert (left == right) == block.equal
    assert (at_a, at_b) == (len(a), len(b))


def _texts() -> dict[str, tuple[str, str]]:
    dice = random.Random(5)  # noqa: S311 - reproducible test text
    words = [f"word{dice.randrange(900)}" for _ in range(26_000)]
    edited = list(words)
    for place in dice.sample(range(len(words)), 300):
        edited[place] = "changed"
    other = [f"word{dice.randrange(900)}" for _ in range(26_000)]
    return {
        "300 edits": (" ".join(words), " ".join(edited)),
        "unrelated": (" ".join(words), " ".join(other)),
        "no unique word": ("a b " * 50_000, "b a a " * 33_000),
        "one long word": ("x" * 200_000, "x" * 200_000 + "y"),
        "lines": ("\n".join(words), "\n".join(other)),
    }


@pytest.mark.parametrize(
    "name", ["300 edits", "unrelated", "no unique word", "one long word", "lines"]
)
def test_long_texts_stay_quick(name: str) -> None:
    """Two texts of 200 KB, however different, are compared in bounded time."""
    a, b = _texts()[name]
    start = time.process_time()
    runs = word_diff(a, b)
    assert time.process_time() - start < 5
    assert "".join(text for kind, text in runs if kind != "add") == a
    if name == "300 edits":
        assert sum(text.count("changed") for kind, text in runs if kind == "add") == 300
        assert sum(len(text) for kind, text in runs if kind == "same") > 190_000


def test_a_long_conversation_stays_quick() -> None:
    """Five thousand like messages with one inserted are aligned at once."""
    many = _talk(*[f"user: message {n % 50}" for n in range(5000)])
    start = time.process_time()
    changes = compare(many, [*many[:2500], *_talk("user: new"), *many[2500:]])
    assert time.process_time() - start < 5
    assert [c for c in changes if c.kind != "same"] == [Change("injected", None, 2500)]
