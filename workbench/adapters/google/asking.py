"""What an agent asks for, as the trace keeps it: a snapshot of the request without secrets."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from workbench.adapters.google import sdk
from workbench.errors import UnencodableError
from workbench.seam.calls import Call
from workbench.trace.redaction import is_secret_in_query

GENERATE, EMBED, COUNT = (
    "google.generate_content",
    "google.embed_content",
    "google.count_tokens",
)

_PLAIN, _STREAMED = "generateContent", "streamGenerateContent"
_APIS = {
    _PLAIN: GENERATE,
    _STREAMED: GENERATE,
    "embedContent": EMBED,
    "batchEmbedContents": EMBED,
    "countTokens": COUNT,
    "computeTokens": COUNT,
}
RECORDED = "generateContent, embeddings and counts of tokens"
"""What is recorded, in words."""

_MODEL = re.compile(r"(?:^|/)(?:models|tunedModels|endpoints)/([^/:?]+)[^/]*$")


class Endpoint(NamedTuple):
    """Where a call goes."""

    path: str
    """The path as the trace keeps it, the same for a stream and a plain answer."""
    api: str | None
    """The shape of its payloads; None for what is not recorded."""
    query: dict[str, str]


def endpoint(asked: sdk.Asked) -> Endpoint:
    """Where a call goes, by its path; host, version and a client's own project are not in it."""
    parts = urlsplit(asked.path)
    path, _, verb = parts.path.rpartition(":")
    query = {k: v for k, v in parse_qsl(parts.query) if not is_secret_in_query(k) and k != "alt"}
    api = _APIS.get(verb)
    if verb == "predict" and _embeds(asked.body):
        api = EMBED
    if asked.method.lower() != "post":
        api = None
    if verb == _STREAMED:
        verb = _PLAIN
    whole = f"{path}:{verb}" if path else parts.path
    return Endpoint("/" + whole.lstrip("/"), api, query)


def _embeds(body: Any) -> bool:
    """Whether it is a prediction of a model for embeddings; those of images have no content."""
    instances = body.get("instances") if isinstance(body, dict) else None
    return isinstance(instances, list) and all("content" in each for each in instances)


def model_of(path: str) -> str | None:
    """The model that a path names."""
    found = _MODEL.search(path.rpartition(":")[0] or path)
    return found.group(1) if found else None


def call_of(asked: sdk.Asked, where: Endpoint) -> Call:
    """The call, with a request that nothing the agent does later can change.

    Raises:
        UnencodableError: the body holds what JSON cannot.
    """
    request: dict[str, Any] = {"path": where.path}
    if where.query:
        request["query"] = where.query
    request["body"] = snapshot(sdk.build_request(asked, snapshot(asked.body)).data)
    return Call(
        kind="model",
        request=request,
        api=where.api,
        model=model_of(where.path),
        stream=asked.stream,
    )


def snapshot(body: Any) -> Any:
    """A deep copy of a body as it is sent, without what the SDK keeps beside it.

    Raises:
        UnencodableError: it holds what JSON cannot.
    """
    shown = body
    if isinstance(body, dict):
        shown = {key: value for key, value in body.items() if not str(key).startswith("_")}
    try:
        return json.loads(json.dumps(shown))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnencodableError(
            f"the request's body cannot be written as JSON: {error}", path="$.request.body"
        ) from error


def rewritten(asked: sdk.Asked, request: Any) -> tuple[Any, ...]:
    """The arguments of the call that an edited request asks for.

    A model in the body stands for another one than the path names.
    """
    body = dict(request.get("body") or {})
    parts = urlsplit(asked.path)
    path, named = parts.path, body.get("model")
    is_single = endpoint(asked).api == GENERATE
    if is_single and isinstance(named, str) and named:
        del body["model"]
        head, _, verb = path.rpartition(":")
        path = f"{_renamed(head, named)}:{verb}"
    if isinstance(request.get("query"), dict):
        kept = {**dict(parse_qsl(parts.query)), **request["query"]}
        return asked.arguments(f"{path}?{urlencode(kept)}" if kept else path, body)
    return asked.arguments(f"{path}?{parts.query}" if parts.query else path, body)


def _renamed(path: str, model: str) -> str:
    """A path with another model: a name stands for one beside the old one."""
    return model if "/" in model else f"{path.rpartition('/')[0]}/{model}".lstrip("/")
