"""Hides secrets: values of headers and variables, and passwords and tokens in addresses.

Repeating a campaign needs these values, so the campaign's files contain them, and only the owner can read those files.
Anything that h123 prints or publishes contains the names without the values.
"""

import re
from collections.abc import Iterator
from typing import Any

HIDDEN = "***"
_VARIABLES = "environment"
PRIVATE = 0o600
"""The mode of a file that contains secrets."""
_HARMLESS = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "content-type", "content-encoding", "user-agent"),
        *("cache-control", "pragma", "origin", "referer", "priority", "range", "dnt", "if-none-match"),
        "if-modified-since",
    }
)
"""Headers whose values are not secret."""
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY = re.compile(
    r"([?&;][^=&;\s]*(?:token|secret|passw|pwd|key|auth|sig|session|credential|code)[^=&;\s]*=)[^&;#\s'\"]+",
    re.IGNORECASE,
)


def hidden(text: str) -> str:
    """Return text, such as an address, without the password before its host and without the secrets in its query."""
    return _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))


def hidden_in(value: Any, *, within: str = "") -> Any:
    """Return a copy of a part of a study with asterisks in place of secrets, so that it may be shown."""
    if isinstance(value, dict):
        if _is_header(value):
            return {**value, "value": HIDDEN}
        return {name: hidden_in(part, within=within if within == _VARIABLES else name) for name, part in value.items()}
    if isinstance(value, list):
        return [hidden_in(part, within=within) for part in value]
    if isinstance(value, str):
        return HIDDEN if within == _VARIABLES else hidden(value)
    return value


def holds_secrets(study: Any) -> bool:
    """Return whether a resolved study contains values that others must not read."""
    return any(_secrets(study))


def _secrets(value: Any) -> Iterator[bool]:
    if isinstance(value, dict):
        yield _is_header(value) or bool(value.get(_VARIABLES))
        for part in value.values():
            yield from _secrets(part)
    elif isinstance(value, list):
        for part in value:
            yield from _secrets(part)
    elif isinstance(value, str):
        yield hidden(value) != value


def _is_header(value: dict[str, Any]) -> bool:
    return isinstance(value.get("value"), str) and str(value.get("name")).lower() not in _HARMLESS
