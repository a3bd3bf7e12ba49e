"""Loads the analysed attempts, at most one for each trial (`analysed` in tables.py), with the content of their files
and their metrics."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from pydantic import ValidationError

from h123.base.errors import UserError
from h123.base.processes import beginning, each
from h123.documents.events import Values
from h123.documents.lab_report import NO_REPORT, FinishedReport, Report
from h123.documents.reading import fault_of, parsed, read_content, read_document, validated
from h123.documents.trial_files import ClientFile, Link, Tls, TrialFile
from h123.measures.blocking import Blocking, blocking_of
from h123.measures.metrics import measure, read_facts
from h123.measures.opening import Opening, openings_of
from h123.measures.recovery import Break, breaks_of, recoveries_of
from h123.measures.summary import Summary, summarise
from h123.measures.timeline import Timeline, timeline
from h123.measures.visits import dialled_of
from h123.store.folder import CampaignFolder
from h123.store.rows import Rows
from h123.store.tables import Row, counting
from h123.study.workload import WorkloadKind, workload_of

Content = tuple[Summary, Timeline, list[Opening], list[int]]


@dataclass(frozen=True)
class Attempt:
    """One valid execution of a trial."""

    trial: str
    attempt: int
    block: int
    position: int | None
    """The attempt's place in the order in which the block's trials ran; None if imported samples do not record it."""
    place: str | None
    """The machine that executed the attempt. None if journals of earlier versions, or imported samples, do not name
    it."""
    cell: dict[str, str]
    twin: bool
    parameters: Values
    disturbed: bool
    """Whether machine noise may account for a larger share of a value than the study tolerates."""
    disturbance: float | None
    """The largest share, from 0 to 1, that machine noise may have in the value of any metric of the study's question.
    None if unknown."""
    shares: dict[str, float]
    """For each of the study's metrics, the share, from 0 to 1, that machine noise may have in its value. A metric is
    absent if its share is unknown."""
    link: Link
    report: FinishedReport
    facts: ClientFile | None
    """The content of client.json. None if the client wrote no such file, or if imported samples contain no TLS
    facts."""
    false_start: bool
    """Whether the client declares False Start over TLS 1.2."""
    imported: bool
    """Whether the samples are imported. If so, `report` is empty and unknown parameters are None."""
    summary: Summary
    timeline: Timeline
    openings: Sequence[Opening]
    """How the attempt's connections opened. Empty if the record of packets does not show it, or is missing."""
    metrics: dict[str, float | None]

    @cached_property
    def workload(self) -> WorkloadKind:
        return _workload(json.dumps(self.parameters, sort_keys=True))

    @property
    def virtual(self) -> bool:
        """Whether the trial's times are from the virtual clock, under which processing takes no time."""
        return bool(self.parameters["clock"] == "virtual")

    @property
    def tls(self) -> list[Tls]:
        """The TLS facts about connections, from the client or an import schema. Empty if unknown."""
        return self.facts.tls if self.facts else []

    @property
    def required_tls(self) -> str:
        """The study's TLS version. The default, 1.3, also applies to imported samples and to trials of earlier versions
        of h123."""
        return str(self.parameters.get("tls") or "1.3")

    @property
    def tls_versions(self) -> set[str]:
        """The known TLS versions (`1.3`, `1.2`...), or `none` for requests without TLS."""
        return {kind.version for kind in self.tls if kind.version}

    @property
    def name(self) -> str:
        """The name of the attempt's folder, `<trial>~<attempt>`."""
        return f"{self.trial}~{self.attempt}"


def load_attempts(folder: CampaignFolder) -> list[Attempt]:
    """Return the attempts in the order of execution. Raises UserError if a file is missing or has the wrong format."""
    rows, imported = counting(folder), folder.imported is not None
    timed = folder.imported is None or folder.imported["timed"]
    read = partial(_read, timed=timed, imported=imported)
    with beginning(read, [(Path(row["file"]), row["parameters"]) for row in rows]) as reading:
        documents = [_documents(Path(row["file"]).parent, imported=imported) for row in rows]
        content = list(reading)
    blocking = _blocking(rows)
    hasty = {name for name, about in folder.subjects.items() if about.get("false_start")}
    attempts = []
    for row, (link, report, facts), (summary, in_time, openings, dialled) in zip(rows, documents, content, strict=True):
        conditions = json.loads(row["parameters"])
        recoveries = _recoveries(row, breaks_of(link, report))
        blocking_of_trial = blocking.get(row["trial"])
        metrics = measure(summary, report, facts, conditions["clock"], openings, recoveries, blocking_of_trial, dialled)
        attempts.append(
            Attempt(
                **{column: row[column] for column in ("trial", "attempt", "block", "position", "place", "twin")},
                cell=json.loads(row["cell"]),
                parameters=conditions,
                disturbed=row["disturbed"],
                disturbance=row["disturbance"],
                shares=json.loads(row["shares"]),
                link=link,
                report=report,
                facts=facts,
                false_start=conditions.get("client") in hasty,
                imported=imported,
                summary=summary,
                timeline=in_time,
                openings=openings,
                metrics=metrics,
            )
        )
    return attempts


def _blocking(rows: Sequence[Row]) -> dict[str, Blocking]:
    """Return the cost of the lost packet for each trial that loses one packet and has a counterpart that loses none."""
    kinds = [json.loads(row["parameters"]).get("losses") for row in rows]
    without = {_but_losses(row): row for row, losses in zip(rows, kinds, strict=True) if losses == "none"}
    lossy = [row for row, losses in zip(rows, kinds, strict=True) if losses == "one" and _but_losses(row) in without]
    results = each(
        _blocking_of_pair, [(row["file"], without[_but_losses(row)]["file"], row["statuses"]) for row in lossy]
    )
    return {row["trial"]: blocking for row, blocking in zip(lossy, results, strict=True) if blocking}


def _but_losses(row: Row) -> tuple[int, bool, str]:
    """Return a key that is equal for two trials that differ only in the loss of one packet."""
    conditions = {name: value for name, value in json.loads(row["parameters"]).items() if name != "losses"}
    return row["block"], row["twin"], json.dumps(conditions, sort_keys=True)


def _blocking_of_pair(pair: tuple[str, str, list[int]]) -> Blocking | None:
    with_loss, without_loss, statuses = pair
    return blocking_of(Path(with_loss).parent, Path(without_loss).parent, statuses)


def _documents(folder: Path, *, imported: bool) -> tuple[Link, FinishedReport, ClientFile | None]:
    """Return an attempt's link, its report, and the client's report about itself. The main process reads them while
    worker processes read samples, because passing them between processes takes longer than reading them."""
    report = NO_REPORT if imported else finished_report(folder / "report.json")
    return read_document(folder / "trial.json", TrialFile).links[0], report, read_facts(folder)


def _recoveries(row: Row, breaks: Sequence[Break]) -> list[float]:
    """Return the recovery times of an attempt whose connections may have been cut off. There are few such attempts, so
    their samples are read again."""
    return recoveries_of(breaks, Rows.read(Path(row["file"])), row["statuses"]) if breaks else []


def _read(attempt: tuple[Path, str], *, timed: bool, imported: bool) -> Content:
    """Return what is computed from an attempt's samples, given their path and the attempt's parameters as JSON text."""
    file, parameters = attempt
    rows, work = Rows.read(file, measured=not imported), _workload(parameters)
    summary = summarise(rows, work)
    if not timed:
        summary = replace(summary, warm_start_ns=None, warm_end_ns=None)
    openings = [] if imported else openings_of(file.parent, rows, work.statuses())
    dialled = [] if imported else dialled_of(file.parent, summary.visits)
    return summary, timeline(rows, timed=timed), openings, dialled


@cache
def _workload(parameters: str) -> WorkloadKind:
    """Return the workload that a trial's parameters, as JSON text, describe. Trials with the same parameters share one
    object."""
    return workload_of(json.loads(parameters))


def finished_report(path: Path) -> FinishedReport:
    """Return the report of a trial that ran to its end. Raises UserError if there is none."""
    if report := parsed(path, FinishedReport):
        return report
    content = read_content(path, Report.form())
    try:
        return FinishedReport.model_validate(content, strict=True)
    except ValidationError as invalid:
        validated(content, Report, path)  # otherwise it is not even a report
        message = f"{path} contains no finished trial, although the journal records a valid one"
        raise UserError(f"{message}: {fault_of(invalid)}") from None
