"""A durable agent: what it has done stands in a database, and is not done again."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scripted

import workbench

HERE = Path(__file__).parent


@workbench.tool(effect="write", idempotency_key=lambda order: f"refund:{order}")
def refund(order: int) -> str:
    """Pay money back, and note under which key."""
    with (HERE / "paid.txt").open("a") as file:
        file.write(f"{workbench.idempotency_key()}\n")
    return f"RF-{order}"


def pretend(order: int) -> str:
    """Stands in for the refund."""
    return f"pretended {order}"


def once(db: sqlite3.Connection, step: str, do: Callable[[], Any]) -> None:
    """A step whose result is kept before it counts as done."""
    if db.execute("select 1 from done where step = ?", (step,)).fetchone():
        return
    with workbench.step(step):
        result = str(do())
    workbench.write_event("tool_succeeded" if step == "refund" else "step_done", step)
    db.execute("insert into done values (?, ?)", (step, result))
    db.commit()


def main() -> None:
    """Plan, pay, tell."""
    db = sqlite3.connect(HERE / "done.db")
    db.execute("create table if not exists done (step text primary key, result text)")
    once(db, "plan", lambda: scripted.ask("what to do?")["content"])
    once(db, "refund", lambda: refund(int(sys.argv[1])))
    once(db, "tell", lambda: scripted.ask("tell them")["content"])
    print("completed")


if __name__ == "__main__":
    main()
