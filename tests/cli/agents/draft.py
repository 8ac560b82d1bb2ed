"""An agent that drafts a note, and tries again when its provider fails."""

from scripted import HttpStatus, Lost, ask

import workbench


def draft(tries: int = 3) -> str:
    """Draft a note."""
    with workbench.step("draft"):
        for attempt in range(tries):
            try:
                return str(ask("Draft a note.")["content"])
            except (HttpStatus, Lost, TimeoutError):
                workbench.sleep(2**attempt)
    return "gave up"


if __name__ == "__main__":
    print(draft())
