"""Draws the pictures of docs/statistics.md: campaigns with a known truth, drawn like the figures of a report.

    PYTHONPATH=src .venv/bin/python tools/pictures.py [--campaigns 2000] [--seed 1]

Writes three files docs/images/statistics-*.svg. They show how the blocks of a campaign give one estimate, which
interval leads to which verdict, and how often repeated looks find a difference that does not exist.
"""

import argparse
import math
import sys
from pathlib import Path

import altair as alt
import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from h123.analysis.statistics.looks import Looks  # noqa: E402
from h123.analysis.statistics.signedrank import SignedRank  # noqa: E402
from h123.report.figures.drawing import Figure, compact, save  # noqa: E402
from h123.report.look import COLOURS, Mark  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MARGIN, ALPHA = 0.05, 0.05
LOOKS = range(6, 31, 2)
SCALE = alt.Scale(type="log", domain=[0.7, 1.4], nice=False)
WIDE = 560
BLOCKS = 12
WORDS = [
    ("faster", 0.78, 0.9, "better"),
    ("faster, within the margin", 0.965, 0.99, "equivalent"),
    ("equivalent", 0.975, 1.03, "equivalent"),
    ("cannot tell yet", 0.86, 1.04, "inconclusive"),
    ("slower", 1.08, 1.2, "worse"),
]
"""An invented interval for each word."""


def main() -> int:
    """Draw all three pictures and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000, help="that are looked at again and again")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    charts = {
        "statistics-blocks": _blocks(random),
        "statistics-words": _words(),
        "statistics-looks": _looks(random, asked.campaigns),
    }
    for name, chart in charts.items():
        vector, bitmap = save(Figure(name, name, "", chart, chart), IMAGES)
        bitmap.unlink()
        vector.write_text(_small(vector.read_text("utf-8")), "utf-8")
        print(vector.relative_to(ROOT))
    return 0


def _small(svg: str) -> str:
    """Return a picture that can be a file of its own, without default attributes and invisible fractions of pixels.
    This halves its size."""
    root = '<svg xmlns="http://www.w3.org/2000/svg" font-family="Helvetica, Arial, sans-serif" font-size="12px"'
    return compact(svg).replace("<svg", root, 1)


def _blocks(random: np.random.Generator) -> alt.TopLevelMixin:
    """Draw a ratio for each block, including one outlier, and below them the estimate with its interval."""
    logs = random.normal(math.log(0.85), 0.06, BLOCKS)
    logs[-1] = math.log(1.3)
    found = SignedRank(logs).estimate()
    summed = "all blocks"
    rows: list[Mark] = [{"row": f"block {n}", "ratio": math.exp(log)} for n, log in enumerate(logs, 1)]
    order = [*(str(row["row"]) for row in rows), summed]
    whole: Mark = {"row": summed} | {
        end: math.exp(value) for end, value in (("ratio", found.centre), ("low", found.low), ("high", found.high))
    }
    dots = alt.Chart(alt.InlineData(values=rows)).mark_point(filled=True, size=45, opacity=1, color=COLOURS["dot"])
    middle = alt.Chart(alt.InlineData(values=[whole]))
    y = alt.Y("row:N", sort=order, title=None, axis=alt.Axis(minExtent=75))
    return alt.layer(
        *_ground(),
        dots.encode(x=_ratio("ratio"), y=y),
        middle.mark_rule(strokeWidth=3, color=COLOURS["better"]).encode(x="low:Q", x2="high:Q", y=y),
        middle.mark_point(filled=True, size=90, opacity=1, color=COLOURS["better"]).encode(x="ratio:Q", y=y),
    ).properties(width=WIDE, height=20 * len(order))


def _words() -> alt.TopLevelMixin:
    """Draw where an interval must be for each word."""
    rows: list[Mark] = [
        {"word": word, "low": low, "high": high, "ratio": math.sqrt(low * high), "colour": COLOURS[colour]}
        for word, low, high, colour in WORDS
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("word:N", sort=[row["word"] for row in rows], title=None, axis=alt.Axis(minExtent=170)),
        color=alt.Color("colour:N", scale=None),
    )
    return alt.layer(
        *_ground(),
        base.mark_rule(strokeWidth=3).encode(x=_ratio("low"), x2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(x="ratio:Q"),
    ).properties(width=WIDE, height=30 * len(rows))


def _ground() -> list[alt.Chart]:
    """Return the background: the margin's band, and the line at a ratio of 1."""
    empty = alt.Chart(alt.InlineData(values=[{}]))
    one = empty.mark_rule(color=COLOURS["muted"]).encode(x=alt.XDatum(1, scale=SCALE))
    band = empty.mark_rect(color=COLOURS["band"])
    return [band.encode(x=alt.XDatum(1 / (1 + MARGIN)), x2=alt.X2Datum(1 + MARGIN)), one]


def _ratio(field: str) -> alt.X:
    """Return a logarithmic axis of ratios for this field."""
    axis = alt.Axis(values=[0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3], format=".1f")
    return alt.X(f"{field}:Q", scale=SCALE, axis=axis, title="ratio, below 1: faster")


def _looks(random: np.random.Generator, campaigns: int) -> alt.TopLevelMixin:
    """Draw how many campaigns without any difference have found one after n looks: with 5 % for each look, and by
    h123's rule."""
    noise = random.normal(0, 0.05, (campaigns, LOOKS[-1]))
    p = np.array([[SignedRank(row[:blocks]).p() for blocks in LOOKS] for row in noise])
    levels = [Looks([*LOOKS][: n + 1]).level(ALPHA) for n in range(len(LOOKS))]
    rules = {"each look at 5 %": np.full(len(LOOKS), ALPHA), "h123's rule": np.array(levels)}
    rows: list[Mark] = [
        {"looks": n, "share": share, "rule": rule}
        for rule, level in rules.items()
        for n, share in enumerate(_found(p, level), 1)
    ]
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point={"size": 40})
        .encode(
            x=alt.X("looks:O", title="looks, after 6, 8, 10 ... 30 blocks", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", axis=alt.Axis(format="%"), title="found a difference that is not there"),
            color=alt.Color(
                "rule:N",
                scale=alt.Scale(domain=[*rules], range=[COLOURS["worse"], COLOURS["better"]]),
                legend=alt.Legend(title=None, orient="top-left"),
            ),
        )
    )
    bar = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=COLOURS["muted"]).encode(y=alt.YDatum(ALPHA))
    return alt.layer(bar, drawn).properties(width=WIDE, height=220)


def _found(p: NDArray[np.float64], level: NDArray[np.float64]) -> list[float]:
    """Return, for each look, the share of campaigns that it or an earlier look has rejected."""
    return [float(share) for share in np.maximum.accumulate(p <= level, axis=1).mean(axis=0)]


if __name__ == "__main__":
    sys.exit(main())
