"""Computes the quantiles of latency from which curves are drawn."""

import json

from h123.report.look import Mark
from h123.store import CampaignFolder, connect

SHARES = [percent / 100 for percent in range(101)]


def latency_quantiles(folder: CampaignFolder) -> list[Mark]:
    """Return {cell, twin, trial, seconds} for each treatment and each of its trials. `seconds` are the quantiles at 0,
    1 ... 100 % of the times of successful warm requests. In a treatment's row, `trial` is None, and all analysed trials
    are pooled."""
    table = connect(folder).execute(
        f"SELECT t.cell, t.twin, t.trial, quantile_cont((end_ns - start_ns) / 1e9, {SHARES}) FROM samples s "
        "JOIN analysed t USING (trial, attempt) WHERE s.phase = 'warm' AND s.succeeded "
        "GROUP BY GROUPING SETS ((t.cell, t.twin), (t.cell, t.twin, t.trial)) ORDER BY ALL NULLS FIRST"
    )
    names = ("cell", "twin", "trial", "seconds")
    return [dict(zip(names, [json.loads(cell), *row], strict=True)) for cell, *row in table.fetchall()]
