"""A function with `@workbench.tool`, given to a framework, is to it what the function is."""

import asyncio
from importlib import import_module
from typing import Any

import pytest

import workbench as wb


def weather(city: str, days: int = 3) -> str:
    """Get the weather.

    Args:
        city: The name of the city.
        days: For how many days.
    """
    return f"{city} {days}"


async def later(city: str) -> str:
    """Get it later."""
    return f"{city} later"


class Shop:
    """A class with a tool, and the same without."""

    def refund(self, order: int) -> str:
        """Refund an order."""
        return f"RF-{order}"

    refund_tool = wb.tool(effect="write")(refund)


PAIRS = [
    (weather, wb.tool(effect="read")(weather)),
    (later, wb.tool(effect="read")(later)),
    (Shop().refund, Shop().refund_tool),
]
"""Functions, and the tools made of them."""

pairs = pytest.mark.parametrize(("function", "tool"), PAIRS, ids=["sync", "async", "method"])


@pairs
def test_pydantic_ai_sees_the_function(function: Any, tool: Any) -> None:
    """Name, description, schema, and whether it is awaited."""
    from pydantic_ai import Tool

    plain, made = Tool(function), Tool(tool)
    assert (made.name, made.description) == (plain.name, plain.description)
    assert made.function_schema.json_schema == plain.function_schema.json_schema
    assert made.function_schema.is_async == plain.function_schema.is_async


@pairs
def test_langchain_sees_the_function(function: Any, tool: Any) -> None:
    """The same, and called by a name it gives the function's result."""
    from langchain_core.tools import StructuredTool
    from langchain_core.tools import tool as as_tool

    plain, made = as_tool(function), as_tool(tool)
    assert isinstance(made, StructuredTool)
    assert isinstance(plain, StructuredTool)
    assert (made.name, made.description, made.args) == (plain.name, plain.description, plain.args)
    assert (made.coroutine is None) == (plain.coroutine is None)
    given: dict[str, Any] = {"order": 3} if "order" in made.args else {"city": "Bern"}
    assert asyncio.run(made.ainvoke(given)) == asyncio.run(plain.ainvoke(given))


@pairs
def test_openai_agents_sees_the_function(function: Any, tool: Any) -> None:
    """The same for openai-agents, its parameters' descriptions included."""
    from agents import function_tool

    plain, made = function_tool(function), function_tool(tool)
    assert (made.name, made.description) == (plain.name, plain.description)
    assert made.params_json_schema == plain.params_json_schema


@pairs
def test_dspy_sees_the_function(function: Any, tool: Any) -> None:
    """The same for DSPy."""
    dspy = import_module("dspy")  # it says nothing of its types
    plain, made = dspy.Tool(function), dspy.Tool(tool)
    assert (made.name, made.desc, made.args) == (plain.name, plain.desc, plain.args)


def test_smolagents_sees_the_function() -> None:
    """It reads the docstring, and the source code of what it is given."""
    as_tool = import_module("smolagents").tool
    plain, made = as_tool(weather), as_tool(wb.tool(effect="read")(weather))
    assert (made.name, made.description, made.inputs) == (
        plain.name,
        plain.description,
        plain.inputs,
    )
    assert made(city="Bern") == "Bern 3"
