"""Makes text from other people safe to show, so that it cannot control a terminal, hide itself, or reverse the line.

The console, the pages and the gate's files pass all text through here, so no caller can forget it.
"""

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but tab and newline
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # no text: bytes of a file name that are not UTF-8
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
"""Matches characters without a shape: control, format, bidirectional, zero-width and similar ones."""
_COMMAND = re.compile(r"^(\s*:)(?=:[A-Za-z-]+(?: [^\n]*?)?::)|(##)(?=\[)", re.MULTILINE)
"""Matches commands in a program's output that GitHub's runner obeys: `::add-mask::x` at the start of a line,
`##[command]` anywhere."""


def visible(text: str) -> str:
    """Return the text with each invisible character escaped (`\\x1b`, `\\u202e`). A space is inserted into text that a
    build service would take for a command."""
    if not text.isprintable():
        text = _HIDDEN.sub(_escaped, text)
    return _COMMAND.sub(r"\1\2 ", text) if "::" in text or "##[" in text else text


def in_one_line(text: str) -> str:
    """Return the same text as `visible`, but on one line. For places where a line break would start something new, such
    as a name in a message, a table cell or a heading."""
    return visible(" ".join(text.split("\n")) if "\n" in text else text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
