"""Looking for secrets in files."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pytest

import workbench as wb
from workbench.trace.redaction import Finding, Redactor, Rule, scan
from workbench.trace.redaction.scanning import MAX_FINDINGS, scan_file

KEY = "sk-proj-abcDEF0123456789abcdef"
HEAD = '{"line":"trace","format":"workbench-trace","version":1,"id":"t"}\n'


def written(path: Path, text: str | bytes) -> Path:
    """The file with that in it."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def places(found: list[Finding]) -> list[tuple[int | None, str | None, str, str | None]]:
    """What a test compares."""
    return [(each.line, each.entry, each.rule, each.path) for each in found]


def trace(**fields: object) -> str:
    """A trace with one event."""
    return HEAD + json.dumps({"line": "event", "id": "1-1", "type": "e", **fields}) + "\n"


def test_a_finding_says_where_and_not_what(tmp_path: Path) -> None:
    """File, line, entry, rule and path; the secret is in none of them."""
    data = {"messages": [{"content": f"key {KEY}"}], "password": "hunter2", "two words": KEY}
    path = written(tmp_path / "t.trace.jsonl", trace(data=data))
    found = scan(path)
    assert places(found) == [
        (2, "1-1", "api-key", "$.data.messages[0].content"),
        (2, "1-1", "secret", "$.data.password"),
        (2, "1-1", "api-key", '$.data["two words"]'),
    ]
    assert str(found[1]) == f"{path}:2: secret in entry 1-1 at $.data.password"
    assert found[1].to_json() == {
        "file": str(path),
        "line": 2,
        "entry": "1-1",
        "rule": "secret",
        "path": "$.data.password",
    }
    assert KEY not in repr(found)
    assert "hunter2" not in repr(found)


def test_a_clean_file_has_no_finding(tmp_path: Path, repo_root: Path) -> None:
    """Neither ids and hashes nor placeholders are secrets; our samples hold none."""
    path = tmp_path / "t.trace.jsonl"
    written(path, trace(data={"id": "call_1", "password": "[redacted:secret:0123456789abcdef]"}))
    assert scan(path) == []
    samples = sorted((repo_root / "sample_traces").glob("*.jsonl"))
    assert samples
    assert [finding for each in samples for finding in scan(each)] == []


def test_a_line_that_cannot_be_parsed_is_scanned_as_bytes(tmp_path: Path) -> None:
    """Damage hides nothing: it is looked at, and reported as damage."""
    text = trace(data=1) + '{"line":"event", "data": "' + KEY + '\n{"torn": "\xff"'
    path = written(tmp_path / "t.trace.jsonl", text.encode("latin-1"))
    report = scan_file(path, Redactor.for_recording(environment={}))
    assert places(report.findings) == [(3, None, "api-key", None)]
    assert [(n.line, n.message) for n in report.notices] == [
        (3, "is no JSON, so it was scanned as bytes"),
        (4, "is no JSON, so it was scanned as bytes"),
    ]


def test_a_compressed_trace(tmp_path: Path) -> None:
    """It is unpacked piece by piece; where its data are damaged, what came before is looked at."""
    packed = gzip.compress(trace(data=KEY).encode())
    whole = written(tmp_path / "t.trace.jsonl.gz", packed)
    assert places(scan(whole)) == [(2, "1-1", "api-key", "$.data")]
    small = written(tmp_path / "small.gz", gzip.compress(trace(data=KEY, more="x").encode())[:-9])
    assert places(scan(small)) == [(2, "1-1", "api-key", "$.data")]
    lines = "".join(json.dumps({"n": n, "x": os.urandom(200).hex()}) + "\n" for n in range(20_000))
    long = gzip.compress((trace(data=KEY) + lines).encode())
    report = scan_file(written(tmp_path / "torn.gz", long[:-4000]), Redactor.for_recording())
    assert places(report.findings) == [(2, "1-1", "api-key", "$.data")]
    assert any("compressed data are damaged" in each.message for each in report.notices)


def test_other_files(tmp_path: Path) -> None:
    """JSON over several lines, JSON Lines of other tools, and any text, in UTF-8 or UTF-16."""
    value = {"config": {"api_key": "abc", "max_tokens": 5}}
    one = written(tmp_path / "one.json", json.dumps(value, indent=2))
    assert places(scan(one)) == [(None, None, "secret", "$.config.api_key")]
    lines = written(tmp_path / "log.jsonl", '{"a": 1}\n' + json.dumps(value) + "\n")
    assert places(scan(lines)) == [(2, None, "secret", "$.config.api_key")]
    text = f"# settings\n\nDB_PASSWORD=hunter22\nkey: {KEY}\n"
    assert places(scan(written(tmp_path / ".env", text))) == [
        (3, None, "secret", None),
        (4, None, "api-key", None),
    ]
    assert len(scan(written(tmp_path / "wide.txt", text.encode("utf-16")))) == 2
    assert places(scan(written(tmp_path / "x.bin", b"\0\xff\n" + KEY.encode() + b"\0"))) == [
        (2, None, "api-key", None)
    ]
    assert scan(written(tmp_path / "empty", "")) == []


def test_a_secret_across_two_blocks_of_a_text(tmp_path: Path) -> None:
    """A file is read in pieces, and what lies across two of them is one."""
    for before in (1024**2 - 10, 1024**2, 1024**2 - len(KEY) - 1):
        text = "a\n" * (before // 2) + f" {KEY} \n" + "b\n" * 100_000
        path = written(tmp_path / "long.txt", text)
        assert places(scan(path)) == [(before // 2 + 1, None, "api-key", None)]


def test_many_findings_are_counted(tmp_path: Path) -> None:
    """A file full of secrets does not fill the memory with what was found."""
    lines = "".join(json.dumps({"n": n, "password": str(n)}) + "\n" for n in range(1500))
    path = written(tmp_path / "many.jsonl", lines)
    report = scan_file(path, Redactor.for_recording(environment={}))
    assert (len(report.findings), report.more) == (MAX_FINDINGS, 500)


def test_memory_stays_flat(tmp_path: Path) -> None:
    """A large trace is looked at line by line."""
    path = tmp_path / "large.trace.jsonl"
    event = {"line": "event", "id": "1-1", "type": "e", "data": "word " * 400}
    with path.open("w") as file:
        file.write(HEAD)
        for n in range(15_000):
            file.write(json.dumps({**event, "id": f"1-{n}", "data": f"{n} {event['data']}"}) + "\n")
    assert path.stat().st_size > 30_000_000
    tracemalloc.start()
    assert scan_file(path, Redactor.for_recording(environment={})).findings == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80_000_000  # the texts that are remembered are bounded too


def test_memory_stays_flat_for_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file larger than what is held as a whole is looked at piece by piece."""
    monkeypatch.setattr("workbench.trace.redaction.scanning.MAX_WHOLE", 1024**2)
    path = tmp_path / "large.log"
    line = "an ordinary sentence of a long log file that says nothing of interest\n"
    path.write_text(line * 400_000 + "Authorization: Bearer abcdefgh12345678ABCDEFGH\n")
    assert path.stat().st_size > 25_000_000
    tracemalloc.start()
    found = scan_file(path, Redactor.for_recording(environment={})).findings
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(each.line, each.rule) for each in found] == [(400_001, "secret")]
    assert peak < 20_000_000


def test_a_users_rules_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only this user knows to be a secret is looked for as well."""
    monkeypatch.setenv("SHOP_TOKEN", "envsecretvalue")
    path = written(tmp_path / "t.trace.jsonl", trace(data={"tax": "DE1", "t": "envsecretvalue"}))
    rules = [Rule.key("tax"), Rule.pattern("type", "^e$")]
    assert [(each.rule, each.path) for each in scan(path, rules)] == [
        ("type", "$.type"),
        ("tax", "$.data.tax"),
        ("environment", "$.data.t"),
    ]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A file that was not looked at must not pass for a clean one."""
    with pytest.raises(wb.TraceNotFoundError, match="there is no such file"):
        scan(tmp_path / "nope")
    with pytest.raises(wb.TraceFormatError, match="cannot be read"):
        scan(tmp_path)
    with pytest.raises(wb.TraceFormatError, match="cannot be read"):
        scan(written(tmp_path / "bad.gz", b"\x1f\x8bnothing"))
