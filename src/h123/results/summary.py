"""One row of figures per attempt, out of one scan of the samples: all that metrics and audits need to know of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import duckdb

from h123.interruption import interruptible
from h123.results.samples import complaint, succeeded_sql
from h123.study import METRICS
from h123.study.metrics import Times, VisitTime
from h123.study.workload import Kind

QUANTILES = sorted({of.share for metric in METRICS.values() if isinstance(of := metric.of, Times)})
"""Of latency: all that a metric asks of any time. Of the other times only the median is known."""
VISIT_TIMES: tuple[VisitTime, ...] = get_args(VisitTime)
_SQL = """
SELECT
    filename AS file,
    count(*) AS rows,
    count(*) FILTER (warm) AS warm,
    count(*) FILTER (phase = 'warmup') AS warmup,
    count(*) FILTER (cold) AS cold,
    CASE WHEN count(reused) > 0 THEN count(*) FILTER (reused = 0) END AS handshakes,
    count(*) FILTER (error <> '') AS errors,
    min(error) FILTER (error <> '') AS first_error,
    count(*) FILTER (error = '' AND NOT ok) AS refused,
    count(*) FILTER (ok AND end_ns = start_ns) AS instant,
    count(*) FILTER (warm AND ok) AS warm_ok,
    count(*) FILTER (warm AND ok AND first_byte_ns IS NOT NULL) AS warm_ttfb_known,
    count(*) FILTER (cold AND ok) AS cold_ok,
    count(*) FILTER (cold AND ok AND first_byte_ns IS NOT NULL) AS cold_ttfb_known,
    quantile_cont(CASE WHEN ok THEN end_ns - start_ns ELSE 'inf'::DOUBLE END, {quantiles})
        FILTER (warm) AS latency_ns,
    quantile_cont(CASE WHEN ok THEN first_byte_ns - start_ns ELSE 'inf'::DOUBLE END, 0.5) FILTER (warm) AS ttfb_ns,
    quantile_cont(CASE WHEN ok THEN end_ns - start_ns ELSE 'inf'::DOUBLE END, 0.5) FILTER (cold) AS cold_latency_ns,
    quantile_cont(CASE WHEN ok THEN first_byte_ns - start_ns ELSE 'inf'::DOUBLE END, 0.5)
        FILTER (cold) AS cold_ttfb_ns,
    quantile_cont(CASE WHEN connected_ns IS NOT NULL THEN connected_ns - start_ns
                       WHEN NOT ok THEN 'inf'::DOUBLE END, 0.5) FILTER (cold) AS handshake_ns,
    min(start_ns) AS start_ns,
    max(end_ns) FILTER (cold OR reused = 0) AS open_ns,
    min(start_ns) FILTER (warm) AS warm_start_ns,
    max(end_ns) FILTER (warm) AS warm_end_ns,
    sum(bytes_up) FILTER (warm AND ok) AS warm_bytes_up,
    sum(bytes_down) FILTER (warm AND ok) AS warm_bytes_down,
    min(end_ns - start_ns) FILTER (ok AND end_ns > start_ns) AS shortest_ns,
    min(end_ns - start_ns) FILTER (ok AND cold) AS cold_shortest_ns,
    sum(end_ns - start_ns) FILTER (warm) AS warm_busy_ns,
    min(connected_ns - start_ns) FILTER (cold) AS handshake_min_ns,
    min(first_byte_ns - start_ns) FILTER (warm AND ok) AS ttfb_min_ns,
    count(*) FILTER (NOT (coalesce(start_ns <= connected_ns, true)
                          AND coalesce(connected_ns <= sent_ns, true)
                          AND coalesce(start_ns <= sent_ns, true)
                          AND coalesce(sent_ns <= end_ns, true)
                          AND coalesce(start_ns <= first_byte_ns, true)
                          AND coalesce(first_byte_ns <= end_ns, true)
                          AND start_ns <= end_ns)) AS disordered,
    min(bytes_up) FILTER (ok) AS bytes_up_min,
    max(bytes_up) FILTER (ok) AS bytes_up_max,
    min(bytes_down) FILTER (ok) AS bytes_down_min,
    max(bytes_down) FILTER (ok) AS bytes_down_max,
    min(protocol) FILTER (error = '') AS protocol_min,
    max(protocol) FILTER (error = '') AS protocol_max
FROM (
    SELECT *, {ok} AS ok, phase = 'warm' AS warm, phase = 'cold' AS cold
    FROM read_parquet($files, filename = true)
)
GROUP BY filename
"""
_QUICKEST = """
SELECT
    filename,
    arg_max(end_ns - start_ns, bytes_up / (end_ns - start_ns)) AS quickest_up_ns,
    arg_max(bytes_up, bytes_up / (end_ns - start_ns)) AS quickest_up_bytes,
    arg_max(end_ns - start_ns, bytes_down / (end_ns - start_ns)) AS quickest_down_ns,
    arg_max(bytes_down, bytes_down / (end_ns - start_ns)) AS quickest_down_bytes
FROM read_parquet($files, filename = true) WHERE {ok} AND end_ns > start_ns GROUP BY filename
"""
"""Where bodies differ in size, so that the shortest request need not be the quickest: few trials have such, and for all
it would take a third of the time that the rest takes."""
_BODIES = """
SELECT filename, resource, min(bytes_up), max(bytes_up), min(bytes_down), max(bytes_down)
FROM read_parquet($files, filename = true) WHERE {ok} AND resource IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
_ONCE_OPEN = """
SELECT filename, (count(*) FILTER (end_ns > open_ns) + count(*) FILTER (start_ns >= open_ns)) / 2 AS once_open
FROM read_parquet($files, filename = true)
JOIN (SELECT unnest($files) AS filename, unnest($open_ns) AS open_ns) USING (filename) GROUP BY filename
"""
"""A request that began before the last connection was open, and ended after, is half of one."""
_VISITS = """
SELECT filename, quantile_cont(complete, 0.5), quantile_cont(document, 0.5), quantile_cont(largest, 0.5) FROM (
    SELECT
        filename,
        CASE WHEN bool_and({ok}) THEN max(end_ns) - min(start_ns) ELSE 'inf'::DOUBLE END AS complete,
        CASE WHEN bool_and({ok}) FILTER (resource = 0) THEN min(first_byte_ns) FILTER (resource = 0) - min(start_ns)
             WHEN count(*) FILTER (resource = 0) > 0 THEN 'inf'::DOUBLE END AS document,
        CASE WHEN bool_and({ok}) FILTER (resource = biggest)
             THEN max(end_ns) FILTER (resource = biggest) - min(start_ns)
             WHEN count(*) FILTER (resource = biggest) > 0 THEN 'inf'::DOUBLE END AS largest
    FROM read_parquet($files, filename = true)
    JOIN (SELECT unnest($files) AS filename, unnest($largest) AS biggest) USING (filename)
    WHERE phase = 'warm' AND "group" IS NOT NULL GROUP BY filename, "user", "group"
) GROUP BY filename
"""
"""A visit is as slow as what failed of it."""
_QUICKEST_NAMES = ("quickest_up_ns", "quickest_up_bytes", "quickest_down_ns", "quickest_down_bytes")


class Bodies(NamedTuple):
    """The least and the most body bytes of a request that is ok; None where nothing is known."""

    resource: int
    up: tuple[int | None, int | None]
    down: tuple[int | None, int | None]


@dataclass(frozen=True)
class Summary:
    """Figures of one attempt's samples. Times are ns; None where nothing is known.

    A request is ok if it has no error and the status that its resource must have. In the quantiles a request that is
    not ok is infinitely slow.
    """

    rows: int
    warm: int
    warmup: int
    cold: int
    handshakes: int | None
    """Rows that opened a connection."""
    errors: int
    """Rows with an error."""
    first_error: str | None
    """One of them, in words."""
    refused: int
    """Rows without an error whose status is another one."""
    instant: int
    """Rows that are ok and took no time at all."""
    warm_ok: int
    warm_ttfb_known: int
    """Warm rows that are ok and have the time of the first byte."""
    cold_ok: int
    cold_ttfb_known: int
    latency_ns: list[float] | None
    """`QUANTILES` of end - start over warm requests (Hyndman and Fan 1996, type 7)."""
    ttfb_ns: float | None
    cold_latency_ns: float | None
    cold_ttfb_ns: float | None
    handshake_ns: float | None
    """Medians."""
    start_ns: int | None
    """Of the first request."""
    open_ns: int | None
    """End of the last request that opened a connection; of a client that does not tell, of the last cold one."""
    once_open: float | None
    """Requests after that."""
    warm_start_ns: int | None
    warm_end_ns: int | None
    """First start and last end."""
    warm_bytes_up: int | None
    warm_bytes_down: int | None
    """Body bytes of the warm requests that are ok."""
    quickest_up_ns: int | None
    quickest_up_bytes: int | None
    quickest_down_ns: int | None
    quickest_down_bytes: int | None
    """Time and body bytes of the request that moved most bytes a second, in each direction."""
    shortest_ns: int | None
    """Of all requests that are ok and took any time."""
    cold_shortest_ns: int | None
    warm_busy_ns: int | None
    """Sum of end - start over warm requests."""
    handshake_min_ns: int | None
    ttfb_min_ns: int | None
    """Shortest time to first byte of a warm request that is ok."""
    disordered: int
    """Rows whose times are not in the order start, connected, sent, end or start, first byte, end."""
    bytes_up_min: int | None
    bytes_up_max: int | None
    bytes_down_min: int | None
    bytes_down_max: int | None
    """Body bytes of a request that is ok."""
    protocol_min: str | None
    protocol_max: str | None
    """First and last, by alphabet, of the protocols negotiated by requests without an error."""
    bodies: Sequence[Bodies]
    """Of each resource that an answer is known of."""
    visits_ns: Mapping[VisitTime, float | None]
    """Medians over warm visits of what `Visits.until` names; None where there are none."""


def summarise(connection: duckdb.DuckDBPyConnection, files: Mapping[Path, Kind]) -> dict[Path, Summary]:
    """The figures of each of the Parquet `files`, whose samples are of these workloads."""
    alike: dict[str, dict[Path, Kind]] = defaultdict(dict)
    for file, work in files.items():
        alike[succeeded_sql(work.statuses())][file] = work
    found = dict[Path, Summary]()
    for ok, mine in alike.items():
        found |= _summarise(connection, mine, ok)
    return {file: found[file] for file in files if file in found}


def _summarise(connection: duckdb.DuckDBPyConnection, files: Mapping[Path, Kind], ok: str) -> dict[Path, Summary]:
    """Of files whose requests succeeded in the same case."""
    later = (*_QUICKEST_NAMES, "once_open", "bodies", "visits_ns")
    names = [field.name for field in fields(Summary) if field.name not in later]
    query = f"SELECT file_row.file, {', '.join(f'file_row.{name}' for name in names)} FROM ({_SQL}) AS file_row"
    rows = _rows(connection, query.format(ok=ok, quantiles=QUANTILES), {"files": [*files]})
    figures = {file: dict(zip(names, row, strict=True)) for file, *row in rows}
    open_ns = {file: known["open_ns"] for file, known in figures.items() if known["open_ns"] is not None}
    opened = {"files": list(open_ns), "open_ns": list(open_ns.values())}
    once_open = dict(_rows(connection, _ONCE_OPEN, opened)) if open_ns else {}
    bodies, visits = _bodies(connection, files, figures, ok), _visits(connection, files, ok)
    found = {
        file: Summary(
            **known, **_quickest(known), once_open=once_open.get(file), bodies=bodies[file], visits_ns=visits[file]
        )
        for file, known in figures.items()
    }
    unlike = [
        file for file, s in found.items() if s.bytes_up_min != s.bytes_up_max or s.bytes_down_min != s.bytes_down_max
    ]
    query = _QUICKEST.format(ok=ok)
    for file, *quickest in _rows(connection, query, {"files": unlike}) if unlike else ():
        found[file] = replace(found[file], **dict(zip(_QUICKEST_NAMES, quickest, strict=True)))
    return found


def _bodies(
    connection: duckdb.DuckDBPyConnection,
    files: Mapping[Path, Kind],
    figures: Mapping[Path, Mapping[str, Any]],
    ok: str,
) -> Mapping[Path, Sequence[Bodies]]:
    """A file of one resource need not be read again for it."""
    several = [file for file, work in files.items() if len(work.exchanges()) > 1]
    found: dict[Path, list[Bodies]] = {file: [] for file in files}
    for file, known in figures.items():
        if file not in several:
            up, down = ((known[f"bytes_{way}_min"], known[f"bytes_{way}_max"]) for way in ("up", "down"))
            found[file] = [Bodies(0, up, down)]
    query = _BODIES.format(ok=ok)
    for file, resource, *sizes in _rows(connection, query, {"files": several}) if several else ():
        found[file].append(Bodies(resource, (sizes[0], sizes[1]), (sizes[2], sizes[3])))
    return found


def _visits(
    connection: duckdb.DuckDBPyConnection, files: Mapping[Path, Kind], ok: str
) -> Mapping[Path, Mapping[VisitTime, float | None]]:
    found = {file: dict.fromkeys(VISIT_TIMES) for file in files}
    largest = {file: visit.largest for file, work in files.items() if (visit := work.visit())}
    asked: dict[str, list[Any]] = {"files": [*largest], "largest": [*largest.values()]}
    for file, *times in _rows(connection, _VISITS.format(ok=ok), asked) if largest else ():
        found[file] = dict(zip(VISIT_TIMES, times, strict=True))
    return found


def _quickest(known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of bodies of one size: the shortest request's."""
    times = known["shortest_ns"]
    sizes = {way: known[f"bytes_{way}_max"] if times is not None else None for way in ("up", "down")}
    return {f"quickest_{way}_ns": times if size is not None else None for way, size in sizes.items()} | {
        f"quickest_{way}_bytes": size for way, size in sizes.items()
    }


def _rows(connection: duckdb.DuckDBPyConnection, query: str, asked: Mapping[str, list[Any]]) -> list[tuple[Any, ...]]:
    """The query's rows about the files that it asks for, which are first in each."""
    files = [str(file) for file in asked["files"]]
    try:
        with interruptible():
            rows = connection.execute(query, {**asked, "files": files}).fetchall()
    except (duckdb.Error, UnicodeDecodeError) as error:  # the latter of a name in the file
        raise complaint(asked["files"], error) from None
    return [(Path(file), *figures) for file, *figures in rows]
