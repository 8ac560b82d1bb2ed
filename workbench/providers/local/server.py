"""The process that serves the model: ``python -m workbench.providers.local.server``."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import threading
from pathlib import Path

from workbench.providers.local.engine import Engine
from workbench.providers.local.front import Front
from workbench.providers.local.life import Life
from workbench.providers.local.state import ServerState, remove_state, write_state

_POLL_S = 0.2


def main(arguments: list[str] | None = None) -> None:
    """Serve until idle, told to stop, or terminated; then forget the shared state and exit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the state is kept")
    parser.add_argument("--idle", type=float, required=True, help="seconds without a user")
    options = parser.parse_args(arguments)

    life = Life(options.idle)
    signal.signal(signal.SIGTERM, lambda *_: life.stop())
    token = secrets.token_hex(16)
    front = Front(Engine(secrets.token_hex(16)), life, token)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    state = ServerState(port=front.server_port, pid=os.getpid(), token=token)
    write_state(options.folder, state)
    try:
        life.wait(_POLL_S)
    finally:
        remove_state(options.folder, token)
        front.shutdown()
        front.server_close()
        sys.stderr.flush()
        # Threads may still be inside llama.cpp, whose tear-down would wait for them.
        os._exit(0)


if __name__ == "__main__":
    main()
