"""`workbench scan`."""

import gzip
import json
from pathlib import Path

from shopcli import Shop, here

KEY = "sk-proj-abcDEF0123456789abcdef"
HEAD = '{"line":"trace","format":"workbench-trace","version":1,"id":"t"}\n'


def _trace(path: Path, data: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    event = {"line": "event", "id": "1-1", "type": "e", "data": data}
    text = HEAD + json.dumps(event) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_a_clean_file_is_exit_code_0(tmp_path: Path) -> None:
    """A shell script, or a hook before a commit, can branch on the code."""
    path = _trace(tmp_path / "a.trace.jsonl", {"max_tokens": 5})
    ran = here("scan", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "no secrets in 1 file\n", "")


def test_a_finding_is_exit_code_1(tmp_path: Path) -> None:
    """A line says where it is and what it looks like; the secret itself is not shown."""
    path = _trace(tmp_path / "a.trace.jsonl", {"note": f"use {KEY}"})
    ran = here("scan", str(path))
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        f"{path}:2: api-key in entry 1-1 at $.data.note",
        "1 secret in 1 file",
    ]


def test_folders_and_several_files(tmp_path: Path) -> None:
    """A folder is looked through, compressed traces too, but for what a version control keeps."""
    _trace(tmp_path / "runs" / "a.trace.jsonl", KEY)
    _trace(tmp_path / "runs" / "b.trace.jsonl.gz", KEY)
    _trace(tmp_path / ".git" / "c.trace.jsonl", KEY)
    other = _trace(tmp_path / "d.trace.jsonl", "fine")
    ran = here("scan", str(tmp_path / "runs"), str(other))
    assert ran.out.splitlines()[-1] == "2 secrets in 3 files"
    assert "3 secrets" not in here("scan", str(tmp_path)).out


def test_json(tmp_path: Path) -> None:
    """The document holds what the text says, and what could not be read."""
    path = _trace(tmp_path / "a.trace.jsonl", {"api_key": "abc"})
    with path.open("a") as file:
        file.write("{torn")
    ran = here("scan", "--json", str(path), str(tmp_path / "nope"))
    assert ran.code == 1
    assert ran.json == {
        "command": "scan",
        "files": 1,
        "findings": [
            {
                "file": str(path),
                "line": 2,
                "entry": "1-1",
                "rule": "secret",
                "path": "$.data.api_key",
            }
        ],
        "more": 0,
        "notices": [
            {
                "file": str(path),
                "line": 3,
                "message": "is no JSON, so it was scanned as bytes",
            }
        ],
        "unreadable": [
            {
                "file": str(tmp_path / "nope"),
                "message": f"{tmp_path / 'nope'}: there is no such file",
            }
        ],
    }
    assert "abc" not in ran.out


def test_what_cannot_be_read_is_exit_code_2(tmp_path: Path) -> None:
    """It is not taken for clean, and the other files are looked at all the same."""
    path = _trace(tmp_path / "a.trace.jsonl", "fine")
    ran = here("scan", str(tmp_path / "nope"), str(path))
    assert (ran.code, ran.out) == (2, "no secrets in 1 file\n")
    assert ran.err == f"workbench: {tmp_path / 'nope'}: there is no such file\n"


def test_a_recording_by_the_command_is_clean(shop: Shop, recorded: str) -> None:
    """What `workbench record` writes passes `workbench scan`."""
    ran = shop("scan", recorded)
    assert (ran.code, ran.out) == (0, "no secrets in 1 file\n")
