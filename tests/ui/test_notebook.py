"""A notebook executed without any front end, as in CI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from refunds import ModelServer


@pytest.mark.slow
def test_a_notebook_runs_without_a_front_end(
    refund_path: Path, model: ModelServer, tmp_path: Path
) -> None:
    """Open, edit, run, compare: no cell waits for a click, and the output can be read later."""
    opened = f"wb.Workbench({str(refund_path)!r}, refunds.agent, args=[{model.base_url!r}])"
    edited = "bench.reply(3, tool_call=('send_email', {'to': 'ada@example.com'}))"
    ran = "print(bench.run(3, tools_after='allow').status, bench.compare().headline)"
    cells = [f"import refunds, workbench as wb\nbench = {opened}\nbench", f"{edited}\n{ran}"]
    code: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "id": f"c{number}", "metadata": {},
         "outputs": [], "source": source}
        for number, source in enumerate(cells)
    ]  # fmt: skip
    read: Any = nbformat.reads  # it says nothing of its types
    notebook = read(
        json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        as_version=4,
    )
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    done = client.execute()
    shown = done.cells[0].outputs[0].data
    assert "refund 3×" in shown["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert done.cells[1].outputs[0].text == "ok first divergence: turn 3: refund → send_email\n"
    state = done.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    page = next(each["state"] for each in state.values() if "traces" in each["state"])
    assert page["run"]["state"] == "done"
    assert "You handle refunds." not in json.dumps(state)
