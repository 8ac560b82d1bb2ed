"""What secrets look like in a text, whatever stands around them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

STRICT: Final = r"(?<![A-Za-z0-9_-])"
"""A key does not begin within a word, or in the middle of data in base64."""
BEGIN: Final = rf"(?:{STRICT}|(?<=\\[nrt])|(?<=[a-z]{{8}})|(?<=[A-Z]{{8}})|(?<=[0-9]{{8}}))"
"""But after an escaped line end; or glued to a word, which such data have none of."""

_KEYS: Final = (
    r"sk-(?:ant|proj|svcacct|admin|or|live|test)-[\w-]{12,}",
    r"sk-[A-Za-z0-9]{20,}[\w-]*",
    r"sk-(?=[\w-]*[0-9])[\w-]{16,}",
    r"AIza[\w-]{30,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_\w{22,}",
    r"glpat-[\w-]{20,}",
    r"xox[abeoprs]-[\w-]{10,}",
    r"xapp-[\w-]{10,}",
    r"[sr]k_(?:live|test)_\w{10,}",
    r"whsec_[\w+/=]{16,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"xai-[A-Za-z0-9]{20,}",
    r"pplx-[A-Za-z0-9]{20,}",
    r"nvapi-[\w-]{20,}",
    r"tvly-(?=[\w-]*[0-9])[\w-]{16,}",
    r"r8_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[\w-]{30,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"dop_v1_[a-f0-9]{32,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}",
    r"ya29\.[\w-]{20,}",
    r"lin_api_\w{20,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
)
MARKS: Final = (
    *("sk-", "AIza", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
    *("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "hf_", "gsk_", "xai-", "pplx-"),
    *("nvapi-", "tvly-", "r8_", "npm_", "pypi-", "SG.", "dop_v1_", "shpat_", "shpca_", "shppa_"),
    *("shpss_", "ya29.", "lin_api_", "AGE-SECRET-KEY-1", "eyJ"),
)
"""What each of these, and a web token, begins with."""
_AWS: Final = r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"

API_KEY: Final = re.compile(BEGIN + "(?:" + "|".join((*_KEYS, _AWS)) + ")")
"""Keys whose provider can be told by their first letters."""
AWS_SECRET: Final = re.compile(
    BEGIN + r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;|\"'\\]{1,8}(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=])"
)
"""The second half of a key pair, which alone looks like any 40 characters."""
JWT: Final = re.compile(
    BEGIN + r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{8,}\.[\w-]*|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
)
"""A signed or encrypted JSON web token."""
PRIVATE_KEY: Final = re.compile(
    r"(?P<secret>-----BEGIN (?P<what>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:.{16,16384}?-----END (?P=what)-----|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+))",
    re.DOTALL,
)
"""A PEM block, also one that is cut off; its lines may be ended by an escaped newline."""
USERINFO: Final = re.compile(
    r":\\?/\\?/(?P<secret>[^\s/?#@\"'<>\\\[\]]{0,200}:[^\s/?#@\"'<>\\\[\]]{0,400}|[\w-]{20,})@"
)
"""What stands before a URL's host: ``user:password``, or a long token alone."""
BEARER: Final = re.compile(
    r"\b[Bb]earer(?:\s|%20)+(?P<secret>(?=[\w.~+/-]*[0-9])[\w.~+/-]{12,}=*|[\w.~+/-]{28,}=*)"
)
BASIC: Final = re.compile(r"\b[Bb]asic +(?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])")

QUOTED: Final = re.compile(
    r"(?P<esc>\\{0,31})(?P<q>[\"'])(?P<name>[\w.$-][\w.$ -]{0,79})(?P=esc)(?P=q)\s*:\s*(?:[bru]?)"
    r"(?P=esc)(?P=q)(?P<secret>(?:(?!(?<!\\)(?P=esc)(?P=q))[^\n])*)"
)
"""A pair in JSON or Python, at any level of escaping, also where the text breaks off."""
ASSIGNED: Final = re.compile(
    r"(?<![\w.$-])(?P<name>[A-Za-z_][\w.-]{0,63})\s?=\s?[bru]?(?P<esc>\\{0,31})(?P<q>[\"'])"
    r"(?P<secret>[^\"'\s\\<>{}$][^\"'\s\\<>{}]{3,})(?P=esc)(?P=q)"
)
"""``api_key="…"``, as code and the representations of objects have it."""
VARIABLE: Final = re.compile(
    r"(?<![\w.$-])(?P<name>[A-Z][A-Z0-9_]{2,63})=(?P<secret>[^\s\"'\\<>{}$%;&|()\[\]`…*]{4,})"
)
"""``DB_PASSWORD=…``, as a shell and its files have it."""
QUERY: Final = re.compile(
    r"(?:[?&;]|\\u0026|%26)(?P<name>[A-Za-z][\w.$-]{0,63})=(?P<secret>[^\s&;#\"'<>\\`{}\[\])]+)"
)
"""A parameter of a URL's query, or of a form."""
OPTION: Final = re.compile(
    r"(?<![\w-])--(?P<name>[A-Za-z][\w-]{1,63})(?:=|\s+)(?P<q>[\"']?)"
    r"(?P<secret>(?!-)[^\s\"'\\<>{}$\[\]`…*]{4,})(?P=q)"
)
"""``--password …``, as a command line has it."""
HEADER: Final = re.compile(
    r"(?i)(?<![\w-])(?P<name>(?:proxy-)?authorization|(?:\w+-){0,4}(?:api|auth|access)-?(?:key|token))"
    r": ?(?P<secret>(?:[a-z]+ )?(?=\S*[0-9])[^\s\"'<>{}\[\]\\$,;]{8,})"
)
"""A header as the wire and ``curl -H`` have it; a word without a digit is taken for prose."""
COOKIE: Final = re.compile(
    r"(?i)(?<![\w-])(?P<name>(?:set-)?cookie): ?(?P<secret>[\w.-]+=[^\r\n\"'<>{}\[\]\\$]+)"
)
"""A cookie's header."""


def is_basic(token: str) -> bool:
    """Whether a text is base64 of ``user:password``."""
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in text and text.isprintable()
