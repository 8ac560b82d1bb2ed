"""What tests of recordings written by hand share: a file with one, and a client for nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai


def put(folder: Path, content: Any, name: str = "run.json") -> Path:
    """Puts a recording into a file: text as it is, plain data as JSON."""
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def client() -> openai.OpenAI:
    """A client that reaches nothing."""
    return openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0)
