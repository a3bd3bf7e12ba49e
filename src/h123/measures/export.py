"""Exports a campaign's data for other tools: all samples with their trials' cells and all attempts with their metrics,
or scorecards in curl's format."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from h123.base.errors import UserError, interruptible
from h123.base.files.durable import replacement
from h123.base.files.output import check_output
from h123.base.terminal.redaction import hidden_in
from h123.documents.events import Values
from h123.measures.attempts import Attempt, load_attempts
from h123.measures.metrics import finite_metrics
from h123.store.folder import CampaignFolder
from h123.store.foreign.scorecard import CardLoad, card_of
from h123.store.tables import CELL_PREFIX, connect, fill_table, literal, name
from h123.study import METRICS
from h123.study.metrics.quantity import BodyRate

_OPTIONS = {
    "csv": "FORMAT csv, HEADER true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "json": "FORMAT json, ARRAY true",
}
_PARAMETERS = ("method", "size", "users", "requests")
"""Parameters that vary within one scorecard. Every combination of the levels of other factors has its own scorecard."""
_BITS = 8
_RATE = next(metric.name for metric in METRICS.values() if isinstance(metric.of, BodyRate))
"""The metric that a scorecard contains."""


def export(folder: CampaignFolder, form: str, out: Path, *, force: bool = False) -> list[Path]:
    """Write `samples.<form>` and `attempts.<form>` into the folder `out`, and return the files' paths.

    `form` is csv, parquet or json. `samples` contains every request of every attempt, with the block, validity and cell
    (`cell_<factor>`) of the attempt. `attempts` has one row per attempt, with its metrics if it is the trial's analysed
    attempt. The form `scorecard` writes one `<levels>.json` for each client, server and network, like curl's
    scorecard.py. Existing files are replaced only with `force`. Raises UserError.
    """
    if form == "scorecard":
        return _cards(folder, out, force=force)
    if form not in _OPTIONS:
        raise UserError(f"{form!r} is not an export format; choose one of {', '.join([*_OPTIONS, 'scorecard'])}")
    for table in ("samples", "attempts"):
        check_output(out / f"{table}.{form}", force=force)
    connection = connect_with_metrics(folder, writes=out)
    queries = {
        "samples": "FROM whole.samples ORDER BY trial, attempt, start_ns, user, end_ns",
        "attempts": "FROM whole.attempts ORDER BY trial, attempt",
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        with interruptible():
            return [_copy(connection, query, out / f"{table}.{form}", form) for table, query in queries.items()]
    except (OSError, duckdb.Error) as error:
        raise _failed(out, error) from None


def _failed(out: Path, error: Exception) -> UserError:
    return UserError(
        f"the export to {out} failed: {error}",
        remedy="check the disk's free space and the folder's permissions",
        status=1,
    )


def _cards(folder: CampaignFolder, out: Path, *, force: bool) -> list[Path]:
    arms: dict[str, list[Attempt]] = defaultdict(list)
    apart = [factor for factor, levels in folder.study["factors"].items() if not _has_parameters(levels)]
    for attempt in load_attempts(folder):
        if not attempt.twin and _load(attempt.parameters) and attempt.metrics.get(_RATE):
            arms["-".join(attempt.cell[factor] for factor in apart) or folder.name].append(attempt)
    if not arms:
        raise UserError(
            "no valid trial of this campaign fits a scorecard, which describes users who make requests of one size",
            remedy="choose --format csv, parquet or json",
        )
    for arm in arms:
        check_output(out / f"{arm}.json", force=force)
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [_write_card(folder, members, out / f"{name}.json") for name, members in sorted(arms.items())]
    except OSError as error:
        raise _failed(out, error) from None


def _has_parameters(levels: Mapping[str, Mapping[str, object]]) -> bool:
    return any(parameter in _PARAMETERS for parameters in levels.values() for parameter in parameters)


def _load(parameters: Values) -> CardLoad | None:
    """Return the load of a scorecard's cell, or None if the workload is not a fixed number of requests of one size per
    user."""
    method, size, users, requests = (parameters.get(name) for name in _PARAMETERS)
    if method not in ("GET", "POST") or parameters.get("rate") is not None:
        return None
    if not (isinstance(size, int) and isinstance(users, int) and isinstance(requests, int)):
        return None
    return CardLoad(method == "POST", size, users, requests)


def _write_card(folder: CampaignFolder, attempts: Sequence[Attempt], target: Path) -> Path:
    rates: dict[CardLoad, list[float]] = defaultdict(list)
    for attempt in attempts:
        load, goodput = _load(attempt.parameters), attempt.metrics[_RATE]
        if load and goodput:
            rates[load].append(goodput / _BITS)
    of = attempts[0].parameters
    protocol, client = str(of["protocol"]), str(of["client"])
    facts = folder.subjects.get(client)
    version = facts["version"] if facts else "unknown"
    meta = {
        "curl_version": version,
        "curl_V": f"{client} {version}, measured by h123 without the start of the process and without handshakes",
        "os": folder.machine.get("distribution"),
        "server": f"{of['server']} over {of['network']}",
        "samples": max(map(len, rates.values())),
        "date": folder.created,
        "protocol": "http/1.1" if protocol == "h1" else protocol,
        "implementation": facts["stack"] if facts and protocol == "h3" else client,
        "implementation_version": version,
    }
    with replacement(target) as temporary:
        temporary.write_text(json.dumps(card_of(meta, rates), indent=2) + "\n", encoding="utf-8")
    return target


def connect_with_metrics(folder: CampaignFolder, writes: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Return a connection with the views of `connect` and two more: `whole.attempts`, a row for each attempt, with its
    metrics if it is analysed; and `whole.samples`, a row for each request of each attempt, with its cell. The
    connection may write only into the folder `writes`."""
    connection = connect(folder, writes)
    types = {"trial": "VARCHAR", "attempt": "BIGINT", **dict.fromkeys(METRICS, "DOUBLE")}
    fill_table(connection, "metrics", types, _metrics(folder))
    fill_table(connection, "parameters", {"parameters": "VARCHAR", "shown": "VARCHAR"}, _parameters(connection))
    columns = [str(column) for (column, *_) in connection.execute("DESCRIBE attempts").fetchall()]
    levels = "".join(f"t.{name(column)}, " for column in columns if column.startswith(CELL_PREFIX))
    connection.execute("CREATE SCHEMA whole")
    connection.execute(
        "CREATE VIEW whole.attempts AS SELECT t.* EXCLUDE (file, statuses) REPLACE (p.shown AS parameters), "
        "m.trial IS NOT NULL AS analysed, m.* EXCLUDE (trial, attempt) FROM main.attempts AS t "
        "JOIN parameters AS p USING (parameters) LEFT JOIN metrics AS m USING (trial, attempt)"
    )
    connection.execute(
        f"CREATE VIEW whole.samples AS SELECT trial, attempt, t.block, t.twin, t.valid, t.analysed, {levels}"
        "s.* EXCLUDE (trial, attempt, succeeded) FROM main.samples AS s JOIN whole.attempts AS t USING (trial, attempt)"
    )
    return connection


def _parameters(connection: duckdb.DuckDBPyConnection) -> list[dict[str, str]]:
    """Return each distinct set of parameters as it is stored, and as it may be shown, without secrets."""
    texts = [str(text) for (text,) in connection.execute("SELECT DISTINCT parameters FROM attempts").fetchall()]
    safe = [hidden_in(json.loads(text)) for text in texts]
    exact = [text if part == json.loads(text) else json.dumps(part) for text, part in zip(texts, safe, strict=True)]
    return [{"parameters": text, "shown": shown} for text, shown in zip(texts, exact, strict=True)]


def _metrics(folder: CampaignFolder) -> list[dict[str, Any]]:
    return [{"trial": a.trial, "attempt": a.attempt, **finite_metrics(a.metrics)} for a in load_attempts(folder)]


def _copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path, form: str) -> Path:
    with replacement(target) as temporary:
        there = literal(str(temporary.absolute()))
        if form == "csv":
            query = _harmless(connection, query)
        connection.execute(f"COPY ({query}) TO {there} ({_OPTIONS[form]}, USE_TMP_FILE false)")
    return target


def _harmless(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """Return a query for the same rows that is safe for a spreadsheet: text that could be read as a formula gets an
    apostrophe before it, and `?` replaces characters without a visible form."""
    columns = connection.execute(f"DESCRIBE {query}").fetchall()
    texts = [str(column) for column, kind, *_ in columns if kind == "VARCHAR"]
    mended = ", ".join(f"{_mended(name(column))} AS {name(column)}" for column in texts)
    return f"SELECT * REPLACE ({mended}) FROM ({query})" if texts else query


def _mended(column: str) -> str:
    cleaned = f"regexp_replace({column}, '[\\p{{Cc}}\\p{{Cf}}\\p{{Zl}}\\p{{Zp}}]', '?', 'g')"
    return f"CASE WHEN regexp_matches({column}, '^\\s*[=+@-]') THEN '''' || {cleaned} ELSE {cleaned} END"
