"""Defines the common look of all figures: colours and sizes."""

from typing import Any

COLOURS = {
    "ink": "#1b1f24",
    "muted": "#5b636c",
    "hairline": "#d8dde3",
    "paper": "#fefefe",
    "band": "#e9eef2",
    "better": "#0b6fa8",
    "worse": "#b64a08",
    "equivalent": "#0a7d62",
    "inconclusive": "#646c76",
    "dot": "#3f6387",
    "other-dot": "#96690f",
    "queue": "#8a4d9e",
    "waiting": "#8b939c",
    "awaiting": "#bb7a1b",
    "receiving": "#47937a",
}
"""The colours by name, for a light background. They are darkened Okabe-Ito hues, which colour-blind readers can
distinguish. No verdict is shown by colour only.

Each colour has one use, so the page can replace it with the CSS variable of the same name, which follows dark mode.
"""

SERIES = [COLOURS[name] for name in ("dot", "other-dot", "equivalent", "worse", "better", "queue")]
"""The colours of a factor's levels, in the order of the levels."""

WIDE, NARROW = 860, 330
"""The widths in pixels of a figure on a wide screen and on a phone."""

Mark = dict[str, Any]
"""A row of a figure's data, by column name, or a part of the figure's description in Vega's form."""
