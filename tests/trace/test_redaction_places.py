"""A known key in every place of a trace: not one occurrence in the file's bytes."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from journals import ask, request, use, user

import workbench as wb
from workbench.errors import UsageError
from workbench.trace.entries import (
    AgentInfo,
    CallLine,
    ChunkLine,
    EndLine,
    ErrorInfo,
    EventLine,
    InputLine,
    ParentInfo,
    ResultLine,
    TraceLine,
    ValueLine,
)
from workbench.trace.journal import Journal
from workbench.trace.redaction import BUILTIN, Redactor, Rule, placeholders, scan
from workbench.trace.values import decode, encode

KEY = "sk-proj-abcDEF0123456789abcdef"
HIDDEN = "envsecretvalue"
IDS = ["call_8sDkq0Z", "resp_0123456789abcdef", "req_abc", "chatcmpl-9xYz"]


def redactor(*rules: Rule) -> Redactor:
    """One with an environment of the test's own."""
    return Redactor.for_recording(rules, environment={"SHOP_TOKEN": HIDDEN})


def full_of_keys() -> dict[str, Any]:
    """The key in every kind of place of one value, beside ids."""
    return {
        "text": f"my key {KEY}, and {HIDDEN}",
        "headers": {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-request-id": IDS[2]},
        "url": f"https://user:{KEY}@h/?access_token={KEY}&page=2",
        "arguments": json.dumps({"a": json.dumps({"b": [KEY], "api_key": KEY})}),
        "tool_call_id": IDS[0],
        "previous_response_id": IDS[1],
        KEY: [KEY, {"password": [KEY]}],
        "encoded": base64.b64encode(b"").decode(),
    }


def error() -> ErrorInfo:
    """An exception that says too much."""
    return ErrorInfo(
        type="AuthError",
        message=f"refused: {KEY} ({HIDDEN})",
        args=[f"refused {KEY}", 401],
        attributes={"client": f"Client(token='{KEY}')", "api_key": KEY, "code": 401},
        status=401,
        headers={"set-cookie": f"k={KEY}", "x-request-id": IDS[2]},
        body={"message": f"Incorrect API key provided: {KEY}"},
        event=f"error {KEY}",  # type: ignore[call-arg] # as an adapter adds it
    )


def header() -> TraceLine:
    """A first line that says too much."""
    return TraceLine(
        id="t-1",
        name=f"run {KEY}",
        created_at="2025-11-03T09:15:30.000000Z",
        tags=["shop", KEY],
        agent=AgentInfo(kind="script", target="shop.py", argv=["--api-key", "hunter2", KEY]),
        parent=ParentInfo(id="p", path=f"/runs/{KEY}", edits=[{"prompt": KEY}]),
        steps={KEY: []},
        input=encode({"args": [f"use {KEY}", b"raw " + KEY.encode()], "kwargs": {"api_key": KEY}}),
    )


def fill(journal: Journal) -> None:
    """One line of each kind, with the key wherever it can stand."""
    asked = request(user(f"key: {KEY}"), {"role": "tool", "tool_call_id": IDS[0], "content": KEY})
    asked["headers"] = {"authorization": f"Bearer {KEY}"}
    asked["query"] = {"access_token": KEY, "page": "2"}
    asked["body"]["tools"] = [{"name": "t", "description": f"x {KEY} " + "long " * 300}]
    ask(
        journal, asked, {"status": 200, "headers": {"x-request-id": IDS[2]}, "body": full_of_keys()}
    )
    ask(journal, request(user("z" * 9000 + KEY)), result={"error": error(), "fault": {"text": KEY}})
    use(journal, "pay", {"card": KEY, "more": full_of_keys()}, {"tuple": (KEY,), 1: KEY})
    use(journal, f"tool {KEY}", {}, None, where=f"{KEY}.py:3", sent={"a": KEY}, step=f"s/{KEY}")
    streamed = journal.new_id()
    journal.call(CallLine(id=streamed, kind="model", api="openai.chat", stream=True, request={}))
    for at in range(0, len(KEY), 7):
        delta = {"content": KEY[at : at + 7]}
        data = {"id": IDS[3], "choices": [{"index": 0, "delta": delta}]}
        journal.append(ChunkLine(of=streamed, offset_s=0.1, data=data))
    journal.append(ResultLine(of=streamed, response={"status": 200, "rest": f"data: {KEY}"}))
    step = f"in {KEY}"
    said = {"with": KEY, "id": IDS[1]}
    journal.append(EventLine(id=journal.new_id(), step=step, type=f"login {KEY}", data=said))
    for kind, value in (("value", KEY), ("clock", HIDDEN)):
        fields = {"line": kind, "id": journal.new_id(), "name": "n", "site": f"{KEY}:f"}
        journal.append(ValueLine.model_validate({**fields, "value": value}))
    journal.append(InputLine(id=journal.new_id(), prompt=f"Is {KEY} right?", value=f"no, {KEY}"))
    journal.close(EndLine(status="failed", error=error(), output=encode({"out": {KEY}})))


def text_of(path: Path) -> str:
    """The file's text, with what its byte values hold."""
    text = path.read_text("utf-8")
    tagged = re.findall(r'\{"\$wb":"bytes","v":"([^"]*)"\}', text)
    return text + "".join(base64.b64decode(each).decode("latin-1") for each in tagged)


def test_not_one_occurrence_in_the_bytes(tmp_path: Path) -> None:
    """Whatever carries a secret, it does not get into the file; what carries an id keeps it."""
    path = tmp_path / "t.trace.jsonl"
    each = redactor()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        journal = Journal.create(path, header(), redactor=each)
        fill(journal)
    text = text_of(path)
    for secret in (KEY, KEY[5:], HIDDEN, "hunter2"):
        assert secret not in text
    assert len(set(re.findall(r"\[redacted:api-key:\w+\]", text))) == 1, "it is one and the same"
    for known in IDS:
        assert known in text
    assert journal.findings == []
    assert scan(path) == []
    trace = wb.load(path)
    assert not trace.verify()
    assert trace.header.redact == list(BUILTIN)
    assert trace.header.salt == each.salt
    assert trace.entries[0].request["body"]["messages"][1]["tool_call_id"] == IDS[0]
    assert trace.entries[0].response["headers"]["x-request-id"] == IDS[2]


def test_the_agent_keeps_the_real_value(tmp_path: Path) -> None:
    """What the journal is given is never changed."""
    asked, line = request(user(KEY)), header()
    before = json.dumps(asked), line.model_dump_json()
    with Journal.create(tmp_path / "t.trace.jsonl", line, redactor=redactor()) as journal:
        name = journal.new_id()
        call = CallLine(id=name, kind="model", api="openai.chat", request=asked)
        journal.call(call)
        failed = error()
        said = failed.model_dump_json()
        journal.append(ResultLine(of=name, error=failed))
        assert failed.model_dump_json() == said
        assert call.request is asked
    assert (json.dumps(asked), line.model_dump_json()) == before
    assert KEY not in journal.header.model_dump_json(), "what is shown of the trace is clean"


def test_a_trace_in_memory_is_clean_too(tmp_path: Path) -> None:
    """It is saved later, and shown in a notebook, whose file is shared."""
    journal = Journal.in_memory(header(), redactor=redactor())
    fill(journal)
    journal.trace().save(tmp_path / "t.trace.jsonl")
    assert KEY not in text_of(tmp_path / "t.trace.jsonl")
    assert journal.findings == []


def test_without_redaction_lines_are_as_they_were(tmp_path: Path) -> None:
    """Whoever says redact=False gets what was said, and no scan."""
    path = tmp_path / "t.trace.jsonl"
    journal = Journal.create(path, header(), redactor=Redactor.off())
    fill(journal)
    assert KEY in path.read_text("utf-8")
    assert "redact" not in json.loads(path.read_text("utf-8").splitlines()[0])
    assert journal.findings == []
    assert {finding.rule for finding in scan(path)} >= {"api-key", "secret"}


def test_types_come_back(tmp_path: Path) -> None:
    """A tool's result keeps its types; only the texts in it are others."""
    path = tmp_path / "t.trace.jsonl"
    with Journal.create(path, header(), redactor=redactor()) as journal:
        result = {"t": (KEY, 1), 2: b"k " + KEY.encode(), "s": {KEY}, "n": 2**70}
        use(journal, "t", {}, result)
    value = decode(wb.load(path).entries[0].response)
    one = value["t"][0]
    assert value == {"t": (one, 1), 2: b"k " + one.encode(), "s": {one}, "n": 2**70}
    assert placeholders(one) == [one]


JOINER = """
import os, sys
from journals import ask, request, use, user
from workbench.trace.journal import Journal
with Journal.join(sys.argv[1]) as journal:
    use(journal, "t", {"k": "KEY", "password": "hunter2"}, "KEY")
    if hasattr(os, "fork"):
        if os.fork() == 0:
            use(journal, "child", {"k": "KEY"}, "KEY")
            os._exit(0)
        os.wait()
"""


def test_other_processes_write_the_same_placeholders(
    tmp_path: Path, bare_python: tuple[str, dict[str, str]], repo_root: Path
) -> None:
    """A process that joins, and a forked one, read the rules and the salt from the header."""
    path = tmp_path / "t.trace.jsonl"
    journal = Journal.create(path, header(), redactor=redactor())
    use(journal, "t", {"k": KEY, "password": "hunter2"}, KEY)
    python, env = bare_python
    env = {
        **env,
        "PYTHONPATH": os.pathsep.join([env["PYTHONPATH"], str(repo_root / "tests/support")]),
    }
    subprocess.run([python, "-c", JOINER.replace("KEY", KEY), str(path)], check=True, env=env)
    journal.close(EndLine(status="ok"))
    assert KEY not in path.read_text("utf-8")
    first, *others = wb.load(path).entries
    assert len(others) == 2 if hasattr(os, "fork") else 1
    assert others[0].request == first.request
    assert {each.response for each in others} == {first.response}


def test_a_joining_process_needs_the_users_rules(tmp_path: Path) -> None:
    """It would write what the trace is not to hold, so it is refused, and says what to bring."""
    path, rule = tmp_path / "t.trace.jsonl", Rule.key("tax")
    journal = Journal.create(path, header(), redactor=redactor(rule))
    with pytest.raises(UsageError, match="redaction rule 'tax'"):
        Journal.join(path)
    late = Journal.join(path, redactor=Redactor.for_replay(journal.header, [rule]))
    use(late, "t", {"tax": "DE123"}, None)
    late.close()
    journal.close(None)
    assert "DE123" not in path.read_text("utf-8")


def test_a_trace_that_is_written_again_stays_clean(tmp_path: Path) -> None:
    """Saving copies bytes; a trace that was saved, compressed, and saved again has no new place."""
    path = tmp_path / "t.trace.jsonl"
    fill(Journal.create(path, header(), redactor=redactor()))
    again = tmp_path / "again.trace.jsonl"
    wb.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()
    packed = tmp_path / "t.trace.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert scan(packed) == []


def test_what_redaction_missed_is_said_at_the_end(tmp_path: Path) -> None:
    """The file is scanned once more when it is closed: where it is, and not what."""
    path = tmp_path / "t.trace.jsonl"
    journal = Journal.create(path, header(), redactor=redactor())
    use(journal, "t", {}, "fine")
    with path.open("a") as file:  # somebody else writes to it, past the journal
        file.write(
            json.dumps({"line": "event", "id": "x-1", "type": "e", "data": {"k": KEY}}) + "\n"
        )
    with pytest.warns(RuntimeWarning, match="a secret was written in spite of redaction") as seen:
        journal.close(EndLine(status="ok"))
    (found,) = journal.findings
    assert (found.rule, found.entry, found.path, found.line) == ("api-key", "x-1", "$.data.k", 4)
    assert f"{path}:4: api-key in entry x-1 at $.data.k" in str(seen[0].message)
    assert KEY not in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        journal.close(None)


def test_a_killed_recording_holds_no_secret(
    tmp_path: Path, bare_python: tuple[str, dict[str, str]], repo_root: Path
) -> None:
    """Lines are clean when they are written, not when the file is closed."""
    code = (
        "import os, sys\n"
        "from journals import *\n"
        "from workbench.trace.redaction import Redactor\n"
        "journal = Journal.create(sys.argv[1], HEADER, redactor=Redactor.for_recording())\n"
        f"ask(journal, request(user('x {KEY}')), response('{KEY}'))\n"
        "os._exit(9)"
    )
    python, env = bare_python
    env = {
        **env,
        "PYTHONPATH": os.pathsep.join([env["PYTHONPATH"], str(repo_root / "tests/support")]),
    }
    path = tmp_path / "t.trace.jsonl"
    assert subprocess.run([python, "-c", code, str(path)], env=env, check=False).returncode == 9
    assert len(path.read_text("utf-8").splitlines()) == 3
    assert KEY not in path.read_text("utf-8")


def test_the_input_is_still_the_agents(tmp_path: Path) -> None:
    """The arguments of the run can be read again, with placeholders for the secrets in them."""
    path = tmp_path / "t.trace.jsonl"
    Journal.create(path, header(), redactor=redactor()).close(None)
    given = decode(wb.load(path).header.input)
    assert given["args"][0].startswith("use [redacted:api-key:")
    assert isinstance(given["args"][1], bytes)
    assert sys.getsizeof(given) > 0
