"""The agent of the four frameworks, written on LangGraph."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

MOST_TURNS = 4
"""A real model may go round in circles."""


def langgraph_agent(
    base_url: str, tools: Sequence[Callable[..., Any]], *, model: str = "local", prompt: str = ""
) -> Callable[[str], str]:
    """An agent that answers a question with these tools; a refused call is tried again twice.

    Args:
        base_url: where a server speaks OpenAI's protocol.
        tools: functions, with ``@workbench.tool`` or without.
        model: the name that the server is asked for.
        prompt: the system prompt.
    """
    settings: dict[str, Any] = {"model": model, "base_url": base_url, "api_key": "none"}
    chat = ChatOpenAI(**settings, max_retries=2, temperature=0)
    graph: Any = create_agent(chat, [tool(each) for each in tools], system_prompt=prompt or None)

    def agent(question: str) -> str:
        asked = {"messages": [{"role": "user", "content": question}]}
        state = graph.invoke(asked, {"recursion_limit": 8})  # a real model may go round in circles
        return str(state["messages"][-1].content)

    return agent
