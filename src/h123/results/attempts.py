"""The attempts that count, one of each trial (`analysed` in tables.py), with its files' content and its metrics."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from h123.errors import UserError
from h123.results.documents import misshapen, read_document
from h123.results.folder import CampaignFolder
from h123.results.metrics import measure
from h123.results.shapes import Finished
from h123.results.summary import Summary, summarise
from h123.results.tables import connect
from h123.results.timeline import Timeline, timelines

NO_REPORT: dict[str, Any] = {
    "links": [],
    "roles": [],
    "hosts": [],
    "started_unix_ns": None,
    "machine": {"cpus": 0, "wall_ns": 0, "busy_ns": 0},
}
"""What is known of the lab where there was none."""


@dataclass(frozen=True)
class Attempt:
    """One valid execution of a trial."""

    trial: str
    attempt: int
    block: int
    position: int | None
    """Place in the order of the block's trials; None where imported samples do not tell."""
    cell: dict[str, str]
    twin: bool
    parameters: dict[str, Any]
    disturbed: bool
    """Whether more of it may be the machine's than the study tolerates."""
    disturbance: float | None
    """The largest share, 0 to 1, of a metric of the study's question that may be; None where that is not known."""
    shares: dict[str, float]
    """The same of each metric that the study asks for, as far as known."""
    link: dict[str, Any]
    """The link between client and server as trial.json has it."""
    report: dict[str, Any]
    facts: dict[str, Any] | None
    """client.json; None if the client wrote none, and where imported samples do not tell of TLS."""
    imported: bool
    """Whether a foreign tool measured it: then `report` is empty and unknown parameters are None."""
    summary: Summary
    timeline: Timeline
    metrics: dict[str, float | None]

    @property
    def virtual(self) -> bool:
        """Whether the trial's times are of the virtual clock, so that processing took none."""
        return bool(self.parameters["clock"] == "virtual")

    @property
    def tls(self) -> list[dict[str, Any]]:
        """What the client, or a schema, tells of connections; nothing where that is not known."""
        return list((self.facts or {}).get("tls", []))

    @property
    def tls_versions(self) -> set[str]:
        """`1.3`, `1.2`... as far as they are known; `none` without TLS."""
        return {str(kind["version"]) for kind in self.tls if kind.get("version")}

    @property
    def name(self) -> str:
        """The attempt's folder, `<trial>~<attempt>`."""
        return f"{self.trial}~{self.attempt}"


def load_attempts(folder: CampaignFolder) -> list[Attempt]:
    """In the order of execution. Raises UserError where a file is missing or of another format."""
    connection = connect(folder)
    rows = connection.execute(
        "SELECT trial, attempt, block, position, cell, twin, parameters, disturbed, disturbance, shares, file "
        "FROM analysed ORDER BY block, position, trial"
    ).fetchall()
    summaries = summarise(connection, [Path(file) for *_, file in rows])
    timed = folder.imported is None or folder.imported["timed"]
    in_time = timelines(connection, [(file, summary.rows) for file, summary in summaries.items()], timed=timed)
    attempts = []
    for trial, attempt, block, position, cell, twin, parameters, disturbed, disturbance, shares, file in rows:
        place, summary, report = Path(file).parent, summaries[Path(file)], NO_REPORT
        conditions = json.loads(parameters)
        if folder.imported is None:
            report = finished_report(place / "report.json")
        elif not timed:
            summary = replace(summary, warm_start_ns=None, warm_end_ns=None)
        attempts.append(
            Attempt(
                trial=trial,
                attempt=attempt,
                block=block,
                position=position,
                cell=json.loads(cell),
                twin=twin,
                parameters=conditions,
                disturbed=disturbed,
                disturbance=disturbance,
                shares=json.loads(shares),
                link=read_document(place / "trial.json", "trial/1")["links"][0],
                report=report,
                facts=_facts(place / "client.json"),
                imported=folder.imported is not None,
                summary=summary,
                timeline=in_time[Path(file)],
                metrics=measure(summary, report, conditions["clock"]),
            )
        )
    return attempts


def finished_report(path: Path) -> dict[str, Any]:
    """The report of a trial that ran to its end."""
    report = read_document(path, "report/1")
    if fault := misshapen(report, Finished):
        raise UserError(f"{path} tells of no finished trial, although the journal says that it was valid: {fault}")
    return report


def _facts(path: Path) -> dict[str, Any] | None:
    return read_document(path, "client/1") if path.is_file() else None
