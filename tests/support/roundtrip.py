"""Comparing a value with what a file gave back."""

import math
from typing import Any

from workbench.trace.values import decode, dumps, encode, loads


def on_disk(value: object, *, plain: bool = False) -> Any:
    """The value after a stay in a file."""
    return decode(loads(dumps(encode(value, plain=plain))))


def same(one: Any, two: Any) -> bool:
    """Equal, and of the same types throughout."""
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        return len(one) == len(two) and all(
            same(k1, k2) and same(v1, v2)
            for (k1, v1), (k2, v2) in zip(one.items(), two.items(), strict=True)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, set | frozenset):
        return one == two and all(any(same(x, y) for y in two) for x in one)
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(two)
    return repr(one) == repr(two)
