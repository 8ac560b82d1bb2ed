"""Small traces of agents on OpenAI's Responses and on Anthropic's messages, a turn at a time."""

import copy
from pathlib import Path
from typing import Any

from anthropic_bodies import message, result, use, words
from journals import journal_at
from responses_bodies import answered, called, response, said

from workbench.trace.canonical import DEFAULT_IGNORE, request_hash
from workbench.trace.entries import CallLine, EndLine, ResultLine
from workbench.trace.trace import Trace, load
from workbench.trace.values import encode

APIS = ("openai.responses", "anthropic.messages")
_CALLS = (("lookup", {"order": 101}, "call_a"), ("lookup", {"order": 102}, "call_b"))


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def request(api: str, *, system: str = "Be kind.", second: bool = True) -> dict[str, Any]:
    """The request of the second turn: two calls and their results; or of the first one."""
    schema = _schema(order={"type": "integer"})
    about = {"name": "lookup", "description": "Find an order."}
    if api == "openai.responses":
        items: list[Any] = [{"role": "user", "content": "Where are they?"}]
        if second:
            items += [called(name, _text(given), i, f"fc_{i}") for name, given, i in _CALLS]
            items += [answered("call_a", "at sea"), answered("call_b", "at home")]
        tools = [{"type": "function", **about, "parameters": schema}, {"type": "web_search"}]
        body: dict[str, Any] = {
            "model": "gpt-5",
            "instructions": system,
            "input": items,
            "tools": tools,
        }
        return {"path": "/responses", "body": copy.deepcopy(body)}
    said_: list[Any] = [{"role": "user", "content": "Where are they?"}]
    if second:
        made = [use(name, given, i) for name, given, i in _CALLS]
        told = [result("call_a", "at sea"), result("call_b", "at home")]
        said_ += [{"role": "assistant", "content": made}, {"role": "user", "content": told}]
    tools = [{**about, "input_schema": schema},
             {"type": "web_search_20250305", "name": "web_search"}]  # fmt: skip
    body = {"model": "claude-1", "max_tokens": 99, "system": system, "messages": said_,
            "tools": tools}  # fmt: skip
    return {"path": "/v1/messages", "body": copy.deepcopy(body)}


def _text(value: Any) -> str:
    return str(value).replace("'", '"')


def reply(api: str, text: str = "", *, calls: bool = False) -> dict[str, Any]:
    """What the model says: a text, the two calls, or both."""
    made = _CALLS if calls else ()
    if api == "openai.responses":
        words_ = [said(text)] if text else []
        return response(*words_, *(called(n, _text(g), i, f"fc_{i}") for n, g, i in made))
    blocks = [words(text)] if text else []
    reason = "tool_use" if calls else "end_turn"
    return message(*blocks, *(use(n, g, i) for n, g, i in made), stop_reason=reason)


def two_turns(path: Path, api: str, **asked: Any) -> Trace:
    """A turn that calls a tool twice, and one that says what came of it.

    Args:
        path: the file.
        api: which of :data:`APIS`.
        asked: ``change``, a function that changes both requests' bodies; else as :func:`request`.
    """
    change = asked.pop("change", None)
    journal = journal_at(path)
    for second in (False, True):
        wire = request(api, second=second, **asked)
        if change is not None:
            change(wire["body"])
        call_id = journal.new_id()
        ignored = DEFAULT_IGNORE[api]
        journal.call(CallLine(
            id=call_id, kind="model", api=api, request=wire,
            model=wire["body"]["model"], hash=request_hash("model", api, wire, ignored),
        ))  # fmt: skip
        body = reply(api, "At sea and at home.") if second else reply(api, calls=True)
        journal.append(ResultLine(of=call_id, response={"status": 200, "body": body},
                                  provider=api.partition(".")[0]))  # fmt: skip
        for name, given, found in zip(*_ran(), strict=True) if not second else ():
            tool = journal.new_id()
            wanted = {"name": name, "arguments": given}
            journal.call(CallLine(id=tool, kind="tool", name=name, request=encode(wanted),
                                  hash=request_hash("tool", None, wanted)))  # fmt: skip
            journal.append(ResultLine(of=tool, response=encode(found)))
    journal.append(EndLine(status="ok"))
    journal.close()
    return load(path)


def _ran() -> tuple[list[str], list[Any], list[str]]:
    return [n for n, _, _ in _CALLS], [g for _, g, _ in _CALLS], ["at sea", "at home"]
