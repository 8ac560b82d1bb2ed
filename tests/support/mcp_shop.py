"""A shop as an MCP server of its own process, over stdio; `python mcp_shop.py --help` names the
variants. It runs on both generations of the SDK."""

import argparse
import asyncio
import base64
import os
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

PIXEL = base64.b64encode(bytes(range(256)) * 40).decode()
ORDERS = {7: "two lamps", 8: "one chair"}


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="shop")
    parser.add_argument("--ledger", help="where refunds are written", default="")
    parser.add_argument("--changed", action="store_true", help="offer other tools")
    parser.add_argument("--serve", choices=("http", "sse"), help="over HTTP, on loopback")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    server = build(given.name, given.ledger, changed=given.changed)
    if given.serve is None:
        server.run("stdio")
        return
    app = server.streamable_http_app() if given.serve == "http" else server.sse_app()
    import_module("uvicorn").run(app, host="127.0.0.1", port=given.port, log_level="error")


def build(name: str, ledger: str = "", *, changed: bool = False) -> Any:
    """The shop as a server object of the SDK that is installed."""
    server = _server(name)
    hints: Any = _types().ToolAnnotations
    reads = hints(**{_spelt(hints, "readOnlyHint"): True})
    writes = hints(**{_spelt(hints, "readOnlyHint"): False})

    def get_order(order_id: int) -> str:
        """Look an order up."""
        return f"{name}: order {order_id} is {ORDERS.get(int(order_id), 'unknown')}"

    def get_order_by_text(order_id: str) -> str:
        """Look an order up."""
        return f"{name}: order {order_id} is {ORDERS.get(int(order_id), 'unknown')}"

    def refund(order_id: int, amount: float) -> str:
        """Pay money back."""
        with Path(ledger or os.devnull).open("a") as file:
            file.write(f"{order_id} {amount}\n")
        return f"refunded {amount}"

    def weigh(order_id: int) -> dict[str, float]:
        """How heavy an order is."""
        return {"kg": order_id * 1.5}

    if changed:
        server.tool(name="get_order", annotations=reads, structured_output=False)(get_order_by_text)
        server.tool(annotations=reads)(weigh)
        server.tool(name="cancel", structured_output=False)(lambda order_id: f"gone: {order_id}")
    else:
        server.tool(annotations=reads, structured_output=False)(get_order)
        server.tool(annotations=reads)(weigh)
        server.tool(annotations=writes, structured_output=False)(refund)
    _odd_tools(server)
    _more(server)
    return server


def _odd_tools(server: Any) -> None:
    context: Any = _context()

    async def count(upto: int, ctx: context) -> str:
        """Count, with progress and a log message."""
        for number in range(1, upto + 1):
            await ctx.report_progress(number, upto, f"at {number}")
            await ctx.info(f"counted {number}")
        return f"counted to {upto}"

    async def ask(question: str, ctx: context) -> str:
        """Ask the client's model."""
        types = _types()
        answer = await ctx.session.create_message(
            messages=[
                types.SamplingMessage(
                    role="user", content=types.TextContent(type="text", text=question)
                )
            ],
            max_tokens=10,
        )
        return f"it says {answer.content.text}"

    def picture() -> Any:
        """A picture and a word."""
        types = _types()
        mime = _spelt(types.ImageContent, "mimeType")
        return [
            types.TextContent(type="text", text="here"),
            types.ImageContent(type="image", data=PIXEL, **{mime: "image/png"}),
        ]

    def fail(why: str) -> str:
        """Fail."""
        raise ValueError(why)

    async def slow(seconds: float) -> str:
        """Take a while."""
        await asyncio.sleep(seconds)
        return "at last"

    def die() -> str:
        """The server is killed."""
        os.kill(os.getpid(), signal.SIGKILL)
        return "never"

    for tool in (count, ask, picture, fail, slow, die):
        server.tool(structured_output=False)(tool)


def _more(server: Any) -> None:
    def stock() -> str:
        """What is there."""
        return "3 lamps"

    def stock_of(item: str) -> str:
        """How many of one thing."""
        return f"3 {item}"

    def greet(name: str) -> str:
        """Greet somebody."""
        return f"Say hello to {name}."

    server.resource("shop://stock", mime_type="text/plain")(stock)
    server.resource("shop://stock/{item}")(stock_of)
    server.prompt()(greet)


def _server(name: str) -> Any:
    try:
        return import_module("mcp.server.mcpserver").MCPServer(name, version="1.0")
    except ImportError:
        return import_module("mcp.server.fastmcp").FastMCP(name)


def _context() -> Any:
    try:
        return import_module("mcp.server.mcpserver").Context
    except ImportError:
        return import_module("mcp.server.fastmcp").Context


def _types() -> Any:
    try:
        return import_module("mcp_types")
    except ImportError:
        return import_module("mcp.types")


def _spelt(model: Any, name: str) -> str:
    """A field's name in this generation, which is the wire's name or has underscores."""
    fields = model.model_fields
    return name if name in fields else next(n for n, f in fields.items() if f.alias == name)


if __name__ == "__main__":
    main()
