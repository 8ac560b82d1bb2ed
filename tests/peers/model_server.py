"""A model server on the loopback that answers every chat completion at once with the same bytes.

Run as ``python model_server.py``: it prints its address and serves until its input ends.
"""

import asyncio
import json
import sys

_BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "It is on its way.", "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 30, "completion_tokens": 6, "total_tokens": 36},
    }
).encode()
_REPLY = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_1\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if line)
            await reader.readexactly(int(fields.get(b"content-length", b"0")))
            writer.write(_REPLY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):  # the client went away
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}/v1", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(_main())
