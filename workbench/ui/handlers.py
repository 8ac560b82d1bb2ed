"""Requests of the page: one door for all of them, and nothing that goes wrong vanishes there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from workbench.errors import UsageError, WorkbenchError
from workbench.trace.preview import preview_rows
from workbench.ui import rows, views
from workbench.ui.clips import LIMIT, clean, to_bytes
from workbench.ui.later import Later
from workbench.ui.reports import failure_text
from workbench.ui.sheet import Sheet

if TYPE_CHECKING:
    from workbench.ui.workbench import Workbench

INLINE = 4_096
"""Bytes of JSON up to which an answer travels in the message itself."""

MOST_ROWS = 500
"""Rows that one request can get."""

MOST_TURNS = 8
"""Turns that one request can get."""

MANY_TURNS = 512 * 1024
"""Bytes of JSON after which a request for several turns gets no further one."""

SLOW = frozenset({"plan", "search", "compare", "summary"})
"""Requests that take long for a long trace: a step must not wait for them."""

ANSWERED = frozenset({"edit", "undo", "redo", "clear", "run", "save"})
"""Requests whose success takes an earlier alert away."""

log = logging.getLogger("workbench.ui")

Request = dict[str, Any]


class Requests:
    """Answers the page's messages ``{id, do, …}``; see ``docs/ui-protocol.md``.

    Args:
        bench: what the requests are carried out on, by the same methods that Python calls.
        sheets: its traces, the parent first.
        lock: held while a request is carried out that changes something.
    """

    def __init__(self, bench: Workbench, sheets: Sequence[Sheet], lock: RLock) -> None:
        self._bench = bench
        self._sheets = sheets
        self._lock = lock
        self._later = Later()
        self._plans: list[Request] = []
        # A search may take a second and a comparison longer; neither changes anything. What is
        # said to a run goes to its own thread, which may wait for the lock meanwhile.
        self._free: dict[str, Callable[[Request], Any]] = {
            "search": self._search,
            "compare": self._compare,
            "summary": self._summary,
            "plan": self._plan,
            "run": self._run,
            "cancel": lambda _: self._done(bench.cancel),
            "answer": self._answer,
        }
        self._locked: dict[str, Callable[[Request], Any]] = {
            "rows": self._rows,
            "timeline": self._timeline,
            "turn": lambda r: self._sheet(r).turn(_int(r, "n"), everything=bool(r.get("all"))),
            "turns": self._turns,
            "text": self._text,
            "raw": lambda r: self._sheet(r).raw(_int(r, "n")),
            "next": self._next,
            "edit": self._edit,
            "undo": lambda _: self._done(bench.undo),
            "redo": lambda _: self._done(bench.redo),
            "clear": lambda _: self._done(bench.clear),
            "preview": lambda _: self._preview(),
            "save": lambda r: {"path": str(bench.save(r.get("path"), fork=_int(r, "trace")))},
        }

    def on_message(self, page: Any, content: Any, _buffers: Any) -> None:
        """Answer one message with ``page.send``, at once or later. Never raises."""
        request: Request = content if isinstance(content, dict) else {}
        if request.get("do") == "plan":
            self._plans.append(request)
            self._later.put(lambda: self._send_plan(page))
        elif request.get("do") in SLOW:
            self._later.put(lambda: self._send(page, request, *self.answer(request)))
        else:
            self._send(page, request, *self.answer(request))

    def _send_plan(self, page: Any) -> None:
        """While one steps, plans are asked for faster than made: the newest answers for all."""
        with self._lock:
            asked, self._plans[:] = list(self._plans), []
        if not asked:
            return
        answer, buffers = self.answer(asked[-1])
        for request in asked:
            self._send(page, request, {**answer, "id": request.get("id")}, buffers)

    def _send(
        self, page: Any, request: Request, answer: dict[str, Any], buffers: list[bytes]
    ) -> None:
        try:
            with self._lock:
                page.send(answer, buffers)
        except Exception:
            log.exception("the answer to %r could not be sent", request.get("do"))

    def answer(self, request: Request) -> tuple[dict[str, Any], list[bytes]]:
        """``({id, ok, data or error}, buffers)``. What goes wrong is in it, shown and logged."""
        try:
            data = self.handle(request)
            packed = data if isinstance(data, bytes) else to_bytes(data)
            if request.get("do") in ANSWERED:
                self._bench.alert("")
        except Exception as error:  # noqa: BLE001 - here or nowhere: callbacks' errors vanish
            text = self._explain(error, request)
            self._bench.alert(text)
            return {"id": request.get("id"), "ok": False, "error": text}, []
        if isinstance(data, bytes) or len(packed) > INLINE or b"\\ud" in packed:
            return {"id": request.get("id"), "ok": True, "data": None}, [packed]
        return {"id": request.get("id"), "ok": True, "data": data}, []

    def handle(self, request: Request) -> Any:
        """Carry out a request and give its data: JSON, or bytes.

        Raises:
            UsageError: the request is unknown or lacks something; or whatever it ran into.
        """
        do = str(request.get("do"))
        if do in self._free:
            return self._free[do](request)
        if do not in self._locked:
            raise UsageError(
                f"the page asked for {do!r}, which this kernel does not know: reload it"
            )
        with self._lock:
            return self._locked[do](request)

    def _explain(self, error: Exception, request: Request) -> str:
        if isinstance(error, ValidationError):
            log.info("refused %s: %s", request.get("do"), error)
            return "; ".join(_problem(each) for each in error.errors())
        if isinstance(error, WorkbenchError):
            log.info("refused %s: %s", request.get("do"), error)
            return clean(str(error))
        log.error("%s failed", request.get("do"), exc_info=error)
        return f"{request.get('do')} failed: {failure_text(error)}"

    def _sheet(self, request: Request, key: str = "trace") -> Sheet:
        number = _int(request, key)
        if not 0 <= number < len(self._sheets):
            raise UsageError(f"there is no trace {number}: there are 0 to {len(self._sheets) - 1}")
        return self._sheets[number]

    def _rows(self, request: Request) -> list[dict[str, Any]]:
        start = max(1, _int(request, "start"))
        return self._sheet(request).rows(start, min(_int(request, "stop"), start + MOST_ROWS))

    def _turns(self, request: Request) -> bytes:
        """As many of the turns as make one answer that does not keep the page waiting."""
        sheet, numbers = self._sheet(request), request.get("numbers")
        if not isinstance(numbers, list) or len(numbers) > MOST_TURNS:
            raise UsageError(f"turns: 'numbers' must be a list of at most {MOST_TURNS}")
        parts: list[bytes] = []
        for number in numbers:
            parts.append(to_bytes(sheet.turn(_int({"do": "turns", "n": number}, "n"))))
            if sum(map(len, parts)) > MANY_TURNS:
                break
        return b"[" + b",".join(parts) + b"]"

    def _timeline(self, request: Request) -> bytes:
        sheet = self._sheet(request)
        return rows.timeline(sheet.trace, sheet.again)

    def _text(self, request: Request) -> dict[str, Any]:
        text = self._sheet(request).text(str(request.get("ref")))
        start = max(0, _int(request, "start"))
        stop = min(start + LIMIT, len(text))
        more = stop if stop < len(text) else None
        return {"text": text[start:stop], "start": start, "next": more, "total": len(text)}

    def _search(self, request: Request) -> dict[str, Any]:
        sheet = self._sheet(request)
        query, only = str(request.get("query") or ""), str(request.get("filter") or "")
        return rows.search(sheet.trace, query, only, sheet.again)

    def _next(self, request: Request) -> dict[str, Any]:
        sheet = self._sheet(request)
        start, direction = _int(request, "from"), _int(request, "direction")
        what = str(request.get("what"))
        return {"n": rows.next_turn(sheet.trace, start, direction, what, sheet.again)}

    def _edit(self, request: Request) -> dict[str, Any]:
        self._bench.edit(request.get("edit") or {})
        found = preview_rows(self._bench.edits)
        warnings = [each for row in found[-1:] for each in row["warnings"]]
        return {"problems": [], "warnings": warnings, "preview": self._bench.edits.preview()}

    def _preview(self) -> dict[str, Any]:
        edits = self._bench.edits
        return {"text": edits.preview(), "rows": preview_rows(edits)}

    def _plan(self, request: Request) -> dict[str, Any]:
        return self._bench.plan_view(_int(request, "n"), **_options(request))

    def _run(self, request: Request) -> dict[str, Any]:
        self._bench.run(
            _int(request, "n"),
            wait=False,
            repeat=int(request.get("repeat") or 1),
            **_options(request),
        )
        return {}

    def _answer(self, request: Request) -> dict[str, Any]:
        verdict = request.get("verdict")
        if verdict not in ("allow", "deny"):
            raise UsageError(f"a question is answered with allow or deny, not with {verdict!r}")
        self._bench.answer(str(request.get("question")), allow=verdict == "allow")
        return {}

    def _compare(self, request: Request) -> dict[str, Any]:
        a, b = self._sheet(request, "a"), self._sheet(request, "b")
        diff = self._bench.compare(_int(request, "b"), _int(request, "a"))
        return views.comparison(diff, [a, b])

    def _summary(self, request: Request) -> dict[str, Any]:
        return views.summary(self._sheet(request))

    def _done(self, act: Callable[[], None]) -> dict[str, Any]:
        act()
        return {}


def _int(request: Request, key: str) -> int:
    value = request.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{request.get('do')}: '{key}' must be a whole number, not {value!r}")
    return value


def _options(request: Request) -> dict[str, Any]:
    return {
        "tools_before": request.get("tools_before") or None,
        "tools_after": request.get("tools_after") or None,
        "ripple": bool(request.get("ripple")),
    }


def _problem(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"] if part not in ("reply", "fault"))
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
