"""Describes the published analysis: how often it agrees with h123's own analysis, and where it does not."""

from h123.analysis.as_published.rows import AsPublished, PublishedRow
from h123.report.text.words import cell_name, decided, level, metric_word
from h123.study import metric

PUBLISHED_VERDICTS = {
    "faster": "better",
    "slower": "worse",
    "not practical": "significant, not practical",
    "not significant": "not significant",
}
"""The study's own verdicts in words that fit every metric."""
_SHOWN_IN_TERMINAL = 3


def verdict_words(row: PublishedRow) -> str:
    """Return a published verdict in words that fit its metric."""
    return metric_word(row["metric"], row["verdict"]) if decided(row) else PUBLISHED_VERDICTS[row["verdict"]]


def name(row: PublishedRow) -> str:
    """Return the comparison's name: `Latency, HTTP/3 / HTTP/2, poor`."""
    where = cell_name(row["cell"])
    return f"{metric(row['metric']).title}, {level(row['a'])} / {level(row['b'])}" + (f", {where}" if where else "")


def terminal_lines(published: AsPublished) -> list[str]:
    """Summarise the published analysis in a few lines."""
    counts = published["agreement"]
    lines = [
        f"As published (pooled requests): agrees with the sound analysis in {counts['agree']} of "
        f"{counts['compared']} comparisons"
    ]
    if any(row.get("repeats") for row in published["comparisons"]):
        lines[0] += "; throughput, which is size / latency, counts once with it"
    apart = disagreements(published)
    lines += [
        f"  {name(row)}: published {verdict_words(row)}, sound {verdict_words_of_sound(row)}"
        for row in apart[:_SHOWN_IN_TERMINAL]
    ]
    if len(apart) > _SHOWN_IN_TERMINAL:
        lines.append(f"  and {len(apart) - _SHOWN_IN_TERMINAL} more; the report gives the reasons")
    return lines


def disagreements(published: AsPublished) -> list[PublishedRow]:
    """Return the comparisons in which only one analysis finds a difference, or the two find opposite differences.
    Comparisons that repeat the observations of another metric are left out."""
    return [row for row in published["comparisons"] if row["agrees"] is False and not row.get("repeats")]


def verdict_words_of_sound(row: PublishedRow) -> str:
    """Return h123's own verdict, in the words of the published metric, to show next to the published verdict."""
    return metric_word(row["metric"], row["sound"]["verdict"]) if row["sound"] else "–"
