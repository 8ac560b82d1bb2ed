"""Traces to open, an agent to run, and a way to ask as the page does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import refunds
from refunds import ModelServer, model_server, record_refund
from runmaker import Ran, RunMaker, order

from workbench import Workbench
from workbench.trace.trace import Trace

Asker = Callable[..., Any]


@pytest.fixture(scope="session")
def served() -> Iterator[ModelServer]:
    """The scripted model."""
    with model_server() as server:
        yield server


@pytest.fixture
def model(served: ModelServer) -> ModelServer:
    """The scripted model, answering at once; and a world in which nothing happened yet."""
    served.delay_s = 0.0
    refunds.WORLD.clear()
    return served


@pytest.fixture(scope="session")
def refund_path(served: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real recording of the flawed agent: look-up, three refunds, the end."""
    path = tmp_path_factory.mktemp("traces") / "refund.trace.jsonl"
    record_refund(served.base_url, path)
    return path


@pytest.fixture
def bench(refund_path: Path, model: ModelServer) -> Workbench:
    """The workbench on the recording, with its agent."""
    return Workbench(refund_path, refunds.agent, args=[model.base_url])


@pytest.fixture
def made() -> Trace:
    """A trace made line by line: look-up, three equal refunds, the end; stuck."""
    maker = RunMaker("made")
    maker.turn("", order())
    for number in (1, 2, 3):
        call = Ran("refund", {"order_id": 101, "amount": 149.99}, {"refund_id": f"RF-{number}"})
        maker.turn("", call)
    maker.turn("All done.")
    return maker.end(output={"status": "stuck"}, duration_s=4.1)


@pytest.fixture
def ask() -> Asker:
    """Sends a request as the page does, and gives the data of its answer."""

    def asker(bench: Workbench, do: str, **request: Any) -> Any:
        answer, buffers = bench._requests.answer({"id": "r1", "do": do, **request})
        assert answer["id"] == "r1"
        assert answer["ok"], answer
        return json.loads(buffers[0]) if buffers and do != "timeline" else answer["data"]

    return asker


@pytest.fixture
def refused() -> Asker:
    """Sends a request that must be refused, and gives the text of the refusal."""

    def asker(bench: Workbench, do: str, **request: Any) -> str:
        answer, _ = bench._requests.answer({"id": "r1", "do": do, **request})
        assert answer["ok"] is False
        return str(answer["error"])

    return asker
