"""Writes the reference that follows from the code: the command line, the keys of all files, the glossary, the audits.

    PYTHONPATH=src .venv/bin/python tools/reference.py target/reference     # for `make docs`

It writes command-line.md, the keys of each format (study-keys.md, verdicts-keys.md) and so on. `tools/docs_links.py`
inserts them where a page of the site has `<!-- generated: NAME -->`.
"""

import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import atlas
import node_article
import typer
from file_keys import cell, file_keys
from model_keys import Models, model_keys
from pydantic_core import PydanticUndefined

from h123.base.paths import project_root
from h123.catalogue import OwnServer, catalogue, load_declared_constants, manifest
from h123.catalogue.subject import Subject
from h123.cli.app import app
from h123.json_schemas import schemas
from h123.report import glossary
from h123.report.catalogue import (
    about_subjects,
    check_declarations,
    constants_table,
    measured_tables,
    profile_tables,
    role_tables,
)
from h123.study import load_network
from h123.study.claims.checks import Check
from h123.study.claims.claim import Claim, MeasurableClaim, WordedClaim
from h123.study.claims.ledger import Ledger
from h123.study.metrics.quantity import Needs
from h123.study.metrics.table import METRICS
from h123.study.networks import direction_file, network_file, queue_file
from h123.study.parameters import Parameters
from h123.study.reader import StudyFile
from h123.study.schema import ColumnSource, Samples
from h123.study.study import Chart, Comparison, Family
from h123.study.workload import WorkloadParameters
from h123.study.workload.abandon import Abandon
from h123.study.workload.arrivals import Arrivals, RateStep
from h123.study.workload.headers import Header
from h123.study.workload.load import Load
from h123.study.workload.mix import MixEntry, MixParameters
from h123.study.workload.page import PageParameters
from h123.study.workload.requests import RequestsParameters
from h123.study.workload.retry import Retry
from h123.tuning.knobs import KnobFile, KnobText
from h123.verification import public_records

DOCS = Path(__file__).resolve().parents[1] / "docs"
_STUDY: Models = {
    "The file": StudyFile,
    "compare": Comparison,
    "compare.families": Family,
    "compare.charts": Chart,
    "servers": OwnServer,
    "Parameters of every trial": Parameters,
    "The kind of a workload": WorkloadParameters,
    "Parameters of every workload": Load,
    "Parameters of the kind requests": RequestsParameters,
    "Parameters of the kind mix": MixParameters,
    "Parameters of the kind page": PageParameters,
    "mix": MixEntry,
    "headers": Header,
    "arrivals": Arrivals,
    "arrivals.steps": RateStep,
    "abandon": Abandon,
    "retry": Retry,
}
_NETWORK: Models = {
    "The file": network_file.NetworkFile,
    "A direction": direction_file.DirectionFile,
    "queue: {discipline: codel}": queue_file.CodelFile,
    "queue: {discipline: fq_codel}": queue_file.FqCodelFile,
    "queue: {discipline: pie}": queue_file.PieFile,
    "queue: {discipline: fq_pie}": queue_file.FqPieFile,
    "queue: {discipline: red}": queue_file.RedFile,
    "queue: {discipline: dualpi2}": queue_file.DualPi2File,
    "queue: {discipline: cake}": queue_file.CakeFile,
    "policer": direction_file.PolicerFile,
    "mtu": direction_file.MtuFile,
    "aggregation": direction_file.AggregationFile,
    "moves": network_file.MoveFile,
    "cross": network_file.CrossFile,
    "cross.up, cross.down": network_file.TrafficFile,
}
_IMPORT: Models = {"samples": Samples, "A source": ColumnSource}
_CLAIMS: Models = {
    "The file": Ledger,
    "Every claim": Claim,
    "A claim with cells": MeasurableClaim,
    "A claim in words": WordedClaim,
}
_SUBJECT: Models = {
    "The file": Subject,
    "install": manifest.Install,
    "server": manifest.Server,
    "server.limits": manifest.Limits,
    "client": manifest.Client,
    "client.limits": manifest.Reach,
    "backend": manifest.Backend,
    "features": manifest.Features,
    "parts": manifest.Part,
}
_KNOBS: Models = {"The file": KnobFile, "knobs": KnobText}
_WRITTEN_BY_PEOPLE = {
    "study": _STUDY,
    "network": _NETWORK,
    "subject": _SUBJECT,
    "import": _IMPORT,
    "claims": _CLAIMS,
    "knobs": _KNOBS,
}
_WORDS = ("verdict", "term", "sign", "cause", "reason", "warning")
"""The kinds of words in the glossary; the other kinds have pages of their own."""


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in inserted():
        (folder / f"{name}.md").write_text(text, "utf-8")


def inserted() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each `<!-- generated: NAME -->`."""
    yield "command-line", "\n".join(command_line())
    for name, models in _WRITTEN_BY_PEOPLE.items():
        yield f"{name}-keys", "\n".join(model_keys(models))
    yield "checks", "\n".join(checks())
    yield "metrics", "\n".join(metrics())
    yield "networks", "\n".join(networks())
    yield "audits", "\n".join(audits())
    yield from ((f"glossary-{kind}", "\n".join(words(kind))) for kind in _WORDS)
    subjects, records = catalogue(), public_records()
    yield "subjects", about_subjects(subjects, records)
    for name, lines in (*role_tables(subjects, records), *measured_tables(subjects, records)):
        yield name, "\n".join(lines)
    yield "profiles", profile_tables(subjects, records)
    yield "constants", "\n".join(constants_table(check_declarations(load_declared_constants(), subjects, records)))
    yield "node-article", "\n".join(node_article.entries())
    yield "atlas", "\n".join(atlas.table())
    yield "hostile", lzma.decompress((DOCS / "data/hostile.md.xz").read_bytes()).decode()
    for name, text in schemas():
        yield f"{name.removesuffix('.schema.json')}-keys", "\n".join(file_keys(json.loads(text)))


def command_line() -> Iterator[str]:
    """Yield the lines of the reference of all commands, with their arguments and options."""
    group = typer.main.get_command(app)
    for name, command in _commands(group, "h123"):
        context = typer.Context(command, info_name=name)
        yield from (f"## {name}", "", *(line.strip() for line in (command.help or "").splitlines()), "")
        usage = " ".join(command.collect_usage_pieces(context))
        yield from ("```text", f"{name} {usage}", "```", "")
        rows = [row for each in command.params if (row := _parameter_row(each))]
        if rows:
            yield from ("| argument or option | meaning |", "|---|---|", *rows, "")


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _parameter_row(parameter: Any) -> str:
    if "--help" in parameter.opts:
        return ""
    if parameter.param_type_name == "argument":
        names = f"`{(parameter.metavar or parameter.name or '').upper()}`"
    else:
        value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or parameter.name.upper()}"
        names = ", ".join(f"`{name}{value}`" for name in parameter.opts)
    default = getattr(parameter, "default", None)
    shown = f" Default: `{default}`." if getattr(parameter, "show_default", False) and default else ""
    return f"| {cell(names)} | {cell(getattr(parameter, 'help', None) or '')}{shown} |"


def checks() -> Iterator[str]:
    """Yield the lines of the table of all checks of a claim."""
    yield from ("| check | fields | what it checks |", "|---|---|---|")
    for model in get_args(Check):
        fields = model.model_fields
        [name] = get_args(fields["check"].annotation)
        shown = [
            f"{key} ({each.default})" if each.default is not PydanticUndefined else key for key, each in fields.items()
        ]
        yield f"| `{name}` | {', '.join(shown[1:])} | {cell(model.__doc__ or '')} |"


def metrics() -> Iterator[str]:
    """Yield the lines of the table of all metrics."""
    yield from ("| metric | unit | meaning | needs | clock | better |", "|---|---|---|---|---|---|")
    for one in METRICS.values():
        clock = one.clocks[0] if len(one.clocks) == 1 else "both"
        needs = "; ".join(_needs(one.needs))
        yield f"| `{one.name}` | {one.unit} | {cell(one.meaning)} | {needs} | {clock} | {one.better} |"


def _needs(needs: Needs) -> Iterator[str]:
    """Yield a phrase for each thing that a trial needs for a metric to have a value."""
    of = f" of {needs.requests} requests" if needs.requests > 1 else ""
    for names, words in (
        (needs.columns, f"{{}}{of}"),
        (needs.client, "a client with {}"),
        (needs.report, "{} in report.json"),
        (needs.facts, "{} of the visit in client.json"),
    ):
        if names:
            yield words.format(", ".join(f"`{name}`" for name in names))
    if needs.packets:
        yield "a record of packets"
    if needs.breaks:
        yield "a network over which its client moves, or that stops UDP"
    if needs.counterpart:
        yield "exactly one lost packet, and the block's trial with `losses: none`"


def words(kind: str) -> Iterator[str]:
    """Yield the lines of the glossary's table of the words of this kind."""
    listed = [term for term in glossary.terms() if term.kind == kind]
    second = any(term.words for term in listed)
    yield from (("| name | answers say | meaning |", "|---|---|---|") if second else ("| | meaning |", "|---|---|"))
    for term in listed:
        name = term.name if kind in ("verdict", "term") else f"`{term.name}`"
        name = ", ".join([f"[{name}]({term.see})" if term.see else name, *term.also])
        cells = [name, term.words, term.means] if second else [name, " ".join(filter(None, (term.means, term.do)))]
        yield f"| {' | '.join(cells)} |"


def networks() -> Iterator[str]:
    """Yield the lines of the table of the networks that come with h123."""
    yield from ("| network | what it is |", "|---|---|")
    for path in sorted((project_root() / "networks").glob("*.yaml")):
        yield f"| `{path.stem}` | {load_network(str(path)).title} |"


def audits() -> Iterator[str]:
    """Yield the lines of the table of all audits."""
    yield from ("| audit | what it checks | if it fails |", "|---|---|---|")
    for term in glossary.terms():
        if term.kind == "audit":
            yield f"| `{term.name}` | {_checked(term.means)} | {term.do} |"


def _checked(means: str) -> str:
    rest = means.removeprefix("Checks that ")
    return rest[:1].upper() + rest[1:]


if __name__ == "__main__":
    main()
