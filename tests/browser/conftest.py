"""A real JupyterLab, a real kernel and a real Chromium for the tests of the page."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from refunds import ModelServer, model_server, record_refund

START_S = 60
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
READY = """() => {
  const c = window.jupyterapp?.shell.currentWidget?.sessionContext, k = c?.session?.kernel;
  return !!k && c.isReady && k.connectionStatus === 'connected' && k.status === 'idle';
}"""
RAN = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.widgets;
  return cells.every((cell) => cell.model.type !== 'code' || cell.model.executionCount !== null);
}"""
ASK = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, store_history: false });
  let text = '';
  future.onIOPub = (message) => {
    if (message.header.msg_type === 'stream') text += message.content.text;
    if (message.header.msg_type === 'error') text += message.content.traceback.join('\\n');
  };
  await future.done;
  return text;
}"""


@dataclass
class Lab:
    """A running JupyterLab."""

    url: str
    token: str
    root: Path
    shots: Path


@dataclass
class Bench:
    """A notebook open in JupyterLab whose last cell shows a workbench."""

    page: Page
    lab: Lab
    name: str
    width: int
    dark: bool

    @property
    def root(self) -> Any:
        """The workbench's own element: locators stay inside it."""
        return self.page.locator(".wb").first

    @property
    def turns(self) -> Any:
        """The rows of the turn list (a drop-down has options too)."""
        return self.root.locator(".wb-list [role=option]")

    @property
    def chosen(self) -> Any:
        """The row of the turn looked at."""
        return self.root.locator(".wb-list [role=option][aria-selected=true]")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the kernel, by JSON."""
        code = f"import json as _json\nprint(_json.dumps({expression}))"
        text = self.page.evaluate(ASK, code)
        try:
            return json.loads(text)
        except ValueError:
            raise AssertionError(f"the kernel says to {expression!r}: {text}") from None

    def until(self, expression: str, wanted: Any, seconds: float = 20) -> None:
        """Wait until an expression in the kernel has a value."""
        end = time.monotonic() + seconds
        while (found := self.ask(expression)) != wanted:
            assert time.monotonic() < end, f"{expression} stays {found!r}, not {wanted!r}"
            time.sleep(0.05)

    def shot(self, stage: str) -> None:
        """A picture of this stage, named by theme and width."""
        theme = "dark" if self.dark else "light"
        path = self.lab.shots / f"{stage}-{theme}-{self.width}.png"
        self.root.scroll_into_view_if_needed()
        self.root.screenshot(path=str(path))


Opener = Callable[..., Bench]


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    """The scripted model that the sample agent asks."""
    with model_server() as server:
        yield server


@pytest.fixture(scope="session")
def failed_trace(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Path:
    """A real recording of the flawed agent: three refunds of one order in five turns."""
    path = tmp_path_factory.mktemp("traces") / "refund.trace.jsonl"
    record_refund(model.base_url, path)
    return path


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab for the session, with folders and settings of its own."""
    home = tmp_path_factory.mktemp("jupyter")
    root = home / "notebooks"
    folders = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
    }
    for folder in [root, *folders.values()]:
        folder.mkdir(parents=True)
    quiet = folders["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
    shots = Path(os.environ.get("WORKBENCH_SHOTS") or home / "shots")
    shots.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    log = home / "lab.log"
    environment = os.environ | {name: str(folder) for name, folder in folders.items()}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root",
                "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
                f"--ServerApp.root_dir={root}", "--LabApp.expose_app_in_browser=True",
            ],
            env=environment, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/api?token={token}", process, log)
            yield Lab(url, token, root, shots)
        finally:
            process.terminate()
            process.wait(15)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - the test's own server
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium where there is one, else the one that playwright brought."""
    own = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_bench(lab: Lab, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Opens a notebook of the given cells, runs it, and waits for the workbench in it."""
    pages: list[Page] = []

    def opener(
        cells: Sequence[str],
        *,
        width: int = 1600,
        dark: bool = False,
        height: int = 1300,
        script: str = "",
    ) -> Bench:
        name = f"{request.node.name.replace('[', '-').replace(']', '')}-{len(pages)}.ipynb"
        (lab.root / name).write_text(json.dumps(_notebook(cells)))
        page = chromium.new_page(viewport={"width": width, "height": height})
        pages.append(page)
        page.add_init_script(script)
        page.goto(f"{lab.url}/lab/workspaces/auto-{secrets.token_hex(4)}/tree/{name}"
                  f"?token={lab.token}&reset")  # fmt: skip
        page.wait_for_function(READY, timeout=START_S * 1000)
        _dress(page, dark=dark)
        page.evaluate("() => { void jupyterapp.commands.execute('notebook:run-all-cells') }")
        page.wait_for_function(RAN, timeout=START_S * 1000)
        bench = Bench(page, lab, name, width, dark)
        bench.root.wait_for(timeout=20_000)
        return bench

    yield opener
    for page in pages:
        page.evaluate("() => window.jupyterapp?.shell.currentWidget?.sessionContext.shutdown()")
        page.close()


def _dress(page: Page, *, dark: bool) -> None:
    """The theme, and no side bar: the notebook has the whole width."""
    theme = "JupyterLab Dark" if dark else "JupyterLab Light"
    page.evaluate(
        """async (theme) => {
          await jupyterapp.commands.execute('apputils:change-theme', { theme });
          jupyterapp.shell.collapseLeft();
        }""",
        theme,
    )


def _notebook(cells: Sequence[str]) -> dict[str, Any]:
    return {
        "cells": [
            {
                "cell_type": "code", "execution_count": None, "id": f"c{number}",
                "metadata": {}, "outputs": [], "source": source,
            }
            for number, source in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip


@pytest.fixture
def refund_bench(open_bench: Opener, failed_trace: Path, model: ModelServer) -> Opener:
    """Opens the workbench on the failed refund, with its agent."""
    model.delay_s = 0.0

    def opener(agent: str = "refunds.agent", **options: Any) -> Bench:
        return open_bench(
            [
                "import refunds, workbench as wb",
                (
                    f"bench = wb.Workbench({str(failed_trace)!r}, agent={agent}, "
                    f"args=[{model.base_url!r}])\nbench"
                ),
            ],
            **options,
        )

    return opener
