"""Records or replays an agent of a framework in a process of its own.

``python framework_run.py FRAMEWORK record|replay URL TRACE`` prints the status and the output.
"""

import os
import sys
from typing import Any

import workbench as wb


def find_order(number: int) -> dict[str, Any]:
    """Find an order.

    Args:
        number: the order's number.
    """
    return {"number": number, "total": 149.99}


def langgraph(url: str) -> Any:
    """LangGraph's agent."""
    from langgraph_agent import langgraph_agent

    return langgraph_agent(url, [find_order])("What did order 101 cost?")


def smolagents(url: str) -> Any:
    """An agent that writes code; first it tries what it may not."""
    from smolagents import CodeAgent, LogLevel, OpenAIServerModel, tool

    model = OpenAIServerModel("m", api_base=url, api_key="k")
    agent = CodeAgent([tool(find_order)], model, max_steps=3, verbosity_level=LogLevel.OFF)
    return agent.run("What did order 101 cost?")


def dspy(url: str) -> Any:
    """DSPy's agent; its tool fails."""
    import dspy as framework
    from dspy_shop import ask, get_order

    framework.configure_cache(enable_disk_cache=False)
    model = framework.LM("openai/m", api_base=url, api_key="k")
    return ask(model, "What did order 13 cost?", [get_order])


if __name__ == "__main__":
    which, mode, address, path = sys.argv[1:]
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    agent = globals()[which]
    if mode == "record":
        result: Any = wb.record(agent, address, to=path)
    else:
        result = wb.replay(agent, wb.load(path), address)
    print(result.status, result.output, result.error or result.drift or "")
