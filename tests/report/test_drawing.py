"""Pictures in a page: small, and whole all the same."""

import re
from xml.etree import ElementTree

import altair as alt

from h123.report.figures.drawing import Figure, FigureRows, inline


def test_marks_of_one_shape_share_it_and_keep_what_they_say() -> None:
    dots = [{"x": n, "y": n % 5, "told": f"dot {n}"} for n in range(40)]
    chart = alt.Chart(FigureRows(dots)).mark_point(filled=True, aria=True)
    drawn = chart.encode(x="x:Q", y="y:Q", description="told:N")
    page = inline(Figure("dots", "Dots", "Forty.", drawn, drawn))
    for size in ("wide", "narrow"):
        svg = next(part for part in page.split("<svg ") if f'data-size="{size}"' in part)
        [shape] = re.findall(r'<path id="([^"]+)"', svg)
        uses = re.findall(rf'<use href="#{shape}" x="([^"]+)" y="[^"]+"><title>(dot \d+)</title></use>', svg)
        assert [told for _, told in uses] == [dot["told"] for dot in dots]
        assert len({x for x, _ in uses}) == 40
        assert f"#dots-{size}-" in f"#{shape}"  # another picture's are not taken


def test_a_group_without_marks_takes_nothing_along() -> None:
    """Renderers write it as `<g/>`, which is no beginning of another one's end."""
    names = [{"panel": panel, "x": x} for panel in ("left", "right") for x in (1, 2)]
    dots = alt.Chart().mark_point().encode(x="x:Q")
    none = alt.Chart().mark_rule().encode(x="x:Q").transform_filter("datum.x > 2")
    drawn = alt.layer(dots, none).facet(column="panel:N", data=FigureRows(names))
    figure = Figure("panels", "Panels", "Two.", drawn, drawn)
    assert re.search(r"<g[^>]*/></g>", figure.desk)
    for svg in re.findall(r"<svg.*?</svg>", inline(figure), re.DOTALL):
        ElementTree.fromstring(svg)  # each beginning has its end
