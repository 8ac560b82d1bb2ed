"""Frames from declared columns: the same names and dtypes whatever is in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from workbench.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import types

    import pandas as pd

Row = TypeVar("Row")
Function = TypeVar("Function", bound=Callable[..., Any])

Dtype = Literal["string", "Int64", "Float64", "boolean", "datetime64[us, UTC]", "object"]
"""What a column holds. All but ``object`` have one missing value, ``pandas.NA`` (``NaT`` for
times). An ``object`` column holds values as they are: None is a None that was recorded, ``{}`` is
an empty object, and what was not recorded is ``pandas.NA``."""


class _Missing:
    """In an ``object`` column: nothing was recorded."""


MISSING = _Missing()
"""What a getter returns where nothing was recorded and None would be a value."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a frame, declared."""

    name: str
    """Its name."""
    dtype: Dtype
    """Its dtype, also when the frame is empty."""
    get: Callable[[Row], Any]
    """Reads its value from a row; None where it is unknown."""
    doc: str
    """What it holds."""


def pandas() -> types.ModuleType:
    """The pandas module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("analysis", "pandas") from error
    return pd


def frame(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> pd.DataFrame:
    """A frame with these columns, one row for each of ``rows``."""
    module = pandas()
    cells: list[list[Any]] = [[] for _ in columns]
    for row in rows:
        for column, values in zip(columns, cells, strict=True):
            values.append(column.get(row))
    data = {
        column.name: _series(column.dtype, values)
        for column, values in zip(columns, cells, strict=True)
    }
    return cast("pd.DataFrame", module.DataFrame(data, columns=[each.name for each in columns]))


def _series(dtype: Dtype, values: list[Any]) -> Any:
    pd = pandas()
    if dtype == "object":
        values = [pd.NA if value is MISSING else value for value in values]
        # Filled one by one: given a list, numpy would make a table of equally long lists.
        series = pd.Series([None] * len(values), dtype="object")
        for place, value in enumerate(values):
            series.array[place] = value
        return series
    if dtype == "datetime64[us, UTC]":
        return pd.Series(pd.to_datetime(pd.Series(values, dtype="object"), utc=True)).astype(dtype)
    if dtype == "string":
        values = [None if value is None else _text(str(value)) for value in values]
    return pd.Series(pd.array(values, dtype=dtype))


def _text(value: str) -> str:
    """The text; a lone surrogate, which pandas may not hold, as its escape."""
    if value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def documented(columns: Sequence[Any]) -> Callable[[Function], Function]:
    """Add the columns to a function's docstring."""

    def add(function: Function) -> Function:
        lines = [f"    {each.name} ({each.dtype}): {each.doc}" for each in columns]
        text = (function.__doc__ or "").rstrip()
        function.__doc__ = "\n".join([text, "", "    Columns:", *(f"    {line}" for line in lines)])
        return function

    return add


def require(data: pd.DataFrame, names: Iterable[str], what: str) -> None:
    """Refuse a frame that lacks columns.

    Raises:
        UsageError: it lacks some; the text names them and those that there are.
    """
    absent = [each for each in names if each not in data.columns]
    if absent:
        raise UsageError(
            f"{what} needs the column{'s' if len(absent) > 1 else ''} {', '.join(absent)}, "
            f"and the frame has {', '.join(map(str, data.columns)) or 'none'}"
        )


def keys(by: str | Sequence[str]) -> list[str]:
    """The columns to group by. Two runs of one name stay apart."""
    names = [by] if isinstance(by, str) else list(by)
    if "run" in names and "trace_id" not in names:
        names.insert(names.index("run") + 1, "trace_id")
    return list(dict.fromkeys(names))
