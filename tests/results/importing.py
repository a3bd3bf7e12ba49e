"""Samples as other tools write them, and what is made of them."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from h123.store import CampaignFolder, connect, import_samples
from h123.study import load_schema

FOREIGN = Path(__file__).parent / "foreign"
MS = {"h1": 240, "h2": 210, "h3": 190}
SCHEMA = """h123: import/1
name: mine
question: Is HTTP/3 faster?
factors: {{protocol: [{levels}]}}
compare:
  factor: protocol
  pairs: [{pairs}]
  families: [{{name: answer, correction: holm, metrics: [latency]}}]
samples:
{samples}"""
CURL = """  rows: runs
  latency: {column: time_total, unit: s}
  ttfb: {column: time_starttransfer, unit: s}
  status: {column: http_code}
  bytes_down: {column: size_download}
  levels: {protocol: {column: protocol, values: {http1.1: h1, http2: h2, http3: h3}}}
  block: {column: rep}
"""
JMETER = """  reads: jmeter
  levels: {protocol: {column: label}}
  block: {column: threadName}
"""
NAMES = {"h1": "http1.1", "h2": "http2", "h3": "http3"}


def schema(folder: Path, samples: str, levels: str = "h1, h2, h3", pairs: str = "h3/h2, h2/h1") -> Path:
    path = folder / "mine.yaml"
    path.write_text(SCHEMA.format(levels=levels, pairs=pairs, samples=samples))
    return path


def brought(folder: Path, text: str, given: str | Path, name: str = "any.csv", **more: Any) -> CampaignFolder:
    (folder / name).write_text(text)
    return import_samples([folder / name], load_schema(str(given), **more), folder / "out")


def curl(lost: Mapping[tuple[str, int], str], *, shuffled: bool = True) -> str:
    """What a loop of single transfers writes; `lost`: other rows for some, which may be none."""
    rows, dice = ["protocol,rep,time_starttransfer,time_total,size_download,http_code"], random.Random(7)
    for rep in range(1, 9):
        order = list(NAMES)
        if shuffled:
            dice.shuffle(order)
        for level in order:
            whole = f"{NAMES[level]},{rep},0.085,{MS[level] * dice.uniform(0.95, 1.05) / 1000:.6f},1000000,200"
            rows += filter(None, [lost.get((level, rep), whole).replace("@", f"{NAMES[level]},{rep}")])
    return "\n".join([*rows, ""])


def rows_of(folder: CampaignFolder, columns: str) -> list[tuple[Any, ...]]:
    return connect(folder).execute(f"SELECT {columns} FROM samples ORDER BY ALL").fetchall()


def judged(verdicts: Mapping[str, Any]) -> dict[str, str]:
    return {f"{c['a']}/{c['b']}": "not judged" if c["withheld"] else c["verdict"] for c in verdicts["comparisons"]}


def costs(verdicts: Mapping[str, Any]) -> str:
    return " ".join(verdicts["origin"]["costs"])
