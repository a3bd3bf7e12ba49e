"""Renders figures offline, for light and dark mode. Equal figures always give equal bytes."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc
from altair.utils import schemapi

from h123.base.files.durable import check_replaceable
from h123.base.terminal.visible import visible
from h123.report.look import COLOURS, Mark

# By default, Altair checks charts against Vega-Lite's schema whenever a part is put into a larger one, which takes much
# of a report's time. A test turns the check on again.
schemapi.disable_debug_mode()

_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_PNG_SCALE = 2
_LINES = re.compile(r'text-anchor="end" transform="translate\(([^,]*),([^)]*)\)"([^>]*)>(<tspan>.*?)</text>')
"""Matches a name of several lines to the left of a row."""
_MARK = re.compile(
    r'<path +transform="translate\((?P<x>[^,)]*),(?P<y>[^)]*)\)" (?P<shape>d="[^>]*?")'
    r"(?:/>|>(?P<title><title>[^<]*</title>)</path>)"
)
_READ = 24
"""The largest number of marks whose values appear in a figure's text alternative."""
_OFTEN = 8
"""The number of times that a shape must occur before a definition for it saves bytes."""


class FigureRows(alt.InlineData):
    """A chart's data. All copies of the chart share it: Altair copies charts often, and the rows never change."""

    def __init__(self, rows: Iterable[Mark]) -> None:
        super().__init__(values=list(rows))

    def __deepcopy__(self, _: object) -> "FigureRows":
        return self


@dataclass(frozen=True)
class Figure:
    """One picture: a definition for a wide screen, one for a phone, and a description in words."""

    name: str
    title: str
    caption: str
    wide: alt.TopLevelMixin
    narrow: alt.TopLevelMixin

    @cached_property
    def desk(self) -> str:
        """The wide version as SVG, for both the page and the file."""
        return _svg(self.wide)


def save(figure: Figure, folder: Path) -> list[Path]:
    """Write `<name>.svg` and `<name>.png` (two pixels per point) into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    vector, bitmap = folder / f"{figure.name}.svg", folder / f"{figure.name}.png"
    for path in (vector, bitmap):
        check_replaceable(path)
    vector.write_text(figure.desk, encoding="utf-8")
    bitmap.write_bytes(vlc.svg_to_png(figure.desk, scale=_PNG_SCALE))
    return [vector, bitmap]


def inline(figure: Figure) -> str:
    """Return the figure as HTML with two renderings. The page's style shows the one that fits."""
    return _inline(figure, figure.desk, "wide") + _inline(figure, _svg(figure.narrow), "narrow")


def _inline(figure: Figure, svg: str, size: str) -> str:
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    # Identifiers belong to the whole document: without a prefix, the second picture would use the first one's shapes.
    prefix = f"{figure.name}-{size}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg).replace("url(#", f"url(#{prefix}")
    svg = _shared(compact(_titled(svg)), prefix)
    label = escape(visible(f"{figure.title}. {figure.caption}{_values(svg)}").replace("`", ""), quote=True)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" data-size="{size}" font-size="12px" ', 1)


def _values(svg: str) -> str:
    """Return the values of the marks as text, for readers who cannot see the picture. If there are many marks, return
    the first ones."""
    titles = list(dict.fromkeys(map(unescape, re.findall("<title>([^<]*)</title>", svg))))
    more = f"; and {len(titles) - _READ} more" if len(titles) > _READ else ""
    return f" Values: {'; '.join(titles[:_READ])}{more}." if titles else ""


def _titled(svg: str) -> str:
    """Turn the description of each mark into its <title>, which browsers show."""
    return re.sub(r'<(path|line|rect)( [^>]*?)aria-label="([^"]*)"([^>]*?)/>', r"<\1\2\4><title>\3</title></\1>", svg)


def compact(svg: str) -> str:
    """Return the picture without default attributes and invisible fractions of pixels, which halves its size."""
    svg = re.sub(r'<path class="(background|foreground)"[^>]*/>', "", svg)
    svg = re.sub(r' (xmlns(:xlink)?|version|class|font-family|pointer-events|aria-[a-z]+|role)="[^"]*"', "", svg)
    svg = re.sub(r' (transform="translate\(0,0\)"|opacity="1"|[xy]2="0"|font-size="12px")', "", svg)
    svg = re.sub(r' (d|transform|x2|y2)="[^"]*"', lambda match: re.sub(r"(\.\d\d)\d+", r"\1", match[0]), svg)
    # Remove empty groups, in both spellings.
    while (less := re.sub(r"<g(?: [^>]*)?(?:/>|(?<!/)></g>)", "", svg)) != svg:
        svg = less
    return svg


def _shared(svg: str, prefix: str) -> str:
    """Replace marks of the same shape, such as thousands of dots, by references to one definition. This saves half of
    the remaining bytes."""
    shapes = Counter(match.group("shape") for match in _MARK.finditer(svg))
    name_by_shape = {shape: f"{prefix}m{number}" for number, shape in enumerate(shapes) if shapes[shape] >= _OFTEN}

    def used(match: re.Match[str]) -> str:
        if match["shape"] not in name_by_shape:
            return match[0]
        title = f">{match['title']}</use>" if match["title"] else "/>"
        return f'<use href="#{name_by_shape[match["shape"]]}" x="{match["x"]}" y="{match["y"]}"{title}'

    text = _MARK.sub(used, svg)
    if not name_by_shape:
        return text
    shared = "".join(f'<path id="{name}" {shape}/>' for shape, name in name_by_shape.items())
    return re.sub(r"(<svg [^>]*>)", rf"\1<defs>{shared}</defs>", text, count=1)


def _svg(chart: alt.TopLevelMixin) -> str:
    specification: Mark = _styled(chart).to_dict(validate=schemapi.DEBUG_MODE)
    # Control characters would make the picture invalid XML.
    svg = visible(str(vlc.vegalite_to_svg(specification, vl_version=_VEGA_LITE, allowed_base_urls=[])))
    return re.sub(_LINES, _raised, svg)


def _raised(match: re.Match[str]) -> str:
    """Move a name of several lines up by half of its height. Vega puts the first line where a single line would be."""
    x, y, attributes, lines = match.groups()
    up = sum(float(height) for height in re.findall(r'dy="([^"]*)"', lines)) / 2
    return f'text-anchor="end" transform="translate({x},{float(y) - up:g})"{attributes}>{lines}</text>'


def _styled(chart: Any) -> Any:
    text: Mark = {
        "labelColor": COLOURS["muted"],
        "titleColor": COLOURS["muted"],
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    axis: Mark = {
        "domain": False,
        "ticks": False,
        "gridColor": COLOURS["hairline"],
        "titleFontWeight": "normal",
    }
    header: Mark = {
        "labelFontWeight": "bold",
        "labelColor": COLOURS["ink"],
        "labelFontSize": 12,
        "title": None,
    }
    return chart.configure(
        font=_FONT,
        background=COLOURS["paper"],
        aria=False,
        padding=4,
        axis=alt.AxisConfig(labelPadding=6, titlePadding=8, **axis, **text),
        header=alt.HeaderConfig(**header),
        view=alt.ViewConfig(stroke=None),
        legend=alt.LegendConfig(orient="top", title=None, symbolSize=70, offset=14, **text),
    )
