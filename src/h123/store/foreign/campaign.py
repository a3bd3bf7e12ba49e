"""Makes a campaign folder from samples of other tools. The schema defines the trials. They have no lab report, and what
the samples do not say stays unknown."""

import hashlib
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.durable import sync
from h123.base.files.lock import sole_user
from h123.base.files.textfile import open_bounded
from h123.documents.events import AttemptFacts
from h123.documents.reading import write_document
from h123.documents.trial_files import ClientFile, Link, Tls, TrialFile
from h123.store import seal
from h123.store.folder import CampaignFolder
from h123.store.foreign.samples import ForeignRequest, TrialLabels, read_requests
from h123.store.new_folder import check_new
from h123.store.rows import Rows
from h123.study import Schema, unrolled

Groups = dict[TrialLabels, list[ForeignRequest]]


def import_samples(files: Sequence[Path], schema: Schema, out: Path) -> CampaignFolder:
    """Write a new campaign into `out`, with the samples of `files`. Raises UserError, and then leaves `out` as it
    was."""
    if out.exists():
        raise UserError(f"{out} already exists", remedy="name a new folder with --out")
    check_new(out)
    groups, redirects = _groups(files, schema)
    partial = out.with_name(out.name + seal.PARTIAL)
    if partial.is_symlink():
        raise UserError(f"{partial} is a link", remedy="remove it, or name another folder with --out")
    partial.mkdir(parents=True, exist_ok=True)
    with sole_user(partial, f"an import into {out}"):
        campaign = partial / out.name
        try:
            shutil.rmtree(campaign, ignore_errors=True)  # left by a killed import
            _write(campaign, files, schema, groups, redirects)
            campaign.rename(out)
            sync(out.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return CampaignFolder.open(out)


def _groups(files: Sequence[Path], schema: Schema) -> tuple[Groups, int]:
    """Return the requests of each trial, and the number of responses that were redirects."""
    groups: Groups = defaultdict(list)
    redirects = 0
    for file in files:
        file_content = read_requests(file, schema)
        redirects += file_content.redirects
        for request in file_content.requests:
            groups[request.place].append(request)
        if not file_content.requests:
            raise UserError(f"{file}: it contains no requests", remedy=_why_none(file_content.redirects))
    _check_statuses(files, schema, groups)
    return groups, redirects


def _why_none(redirects: int) -> str:
    if redirects:
        return f"all {redirects} responses are redirects: measure the address that they point to"
    return "the file is empty, or `where` in the schema matches no row"


def _check_statuses(files: Sequence[Path], schema: Schema, groups: Groups) -> None:
    """Raise UserError if the column of statuses contains no status. It may be the wrong column, or contain words for
    success."""
    requests = [request for members in groups.values() for request in members]
    if any(request.sample["status"] for request in requests) or not schema.samples.status.column:
        return
    raise UserError(
        f"{files[0]}: no request has an HTTP status in {schema.samples.status.column}; the first has "
        f"{requests[0].sample['error'].removeprefix('other: ')[:60]!r}",
        remedy="if that means success, write `values: {OK: 200}` with that word; if no server answered, start it first",
    )


def _write(path: Path, files: Sequence[Path], schema: Schema, groups: Groups, redirects: int) -> None:
    blocks, ordered = _blocks(groups), _ordered(files, schema, groups)
    folder = CampaignFolder.create(
        path,
        study=schema.study.resolved(),
        study_text=schema.text,
        networks={name: network.resolved() for name, network in schema.study.networks.items()},
        seed=schema.study.seed,
        blocks=len(set(blocks.values())),
        level_filter=_only(schema, groups),
        machine={},
        subjects={},
        imported={
            "kind": "imported",
            "files": [{"name": _name(file), "sha256": _digest(file)} for file in files],
            "schema": schema.study.name,
            "requests": sum(request.count for members in groups.values() for request in members),
            "blocks": any(place.block is not None for place in groups),
            "runs": len(groups),
            "timed": all(request.timed for members in groups.values() for request in members),
            "ordered": ordered is not None,
            "unknown": schema.unknown,
            "redirects": {"answers": redirects, "left_out": schema.samples.redirects == "left-out"},
        },
    )
    folder.append({"event": "import", "files": [_name(file) for file in files], "trials": len(groups)})
    counters: dict[int, int] = defaultdict(int)
    for place in ordered or list(groups):
        counters[blocks[place]] += 1
        _trial(folder, schema, place, groups[place], blocks[place], counters[blocks[place]], ordered is not None)
    folder.append({"event": "finished", "valid": len(groups), "failed": 0})


def _ordered(files: Sequence[Path], schema: Schema, groups: Groups) -> list[TrialLabels] | None:
    """Return the runs in the order in which they began. None if the order is unknown, for example because two runs
    began in the same second."""
    if not schema.samples.ordered:
        return None
    if schema.samples.start is None and schema.samples.end is None:
        return list(groups) if len(files) == 1 else None
    starts = {
        place: [request.began_ns for request in members if request.began_ns is not None]
        for place, members in groups.items()
    }
    first = {place: min(times) for place, times in starts.items() if times}
    if len(first) < len(groups) or len(set(first.values())) < len(first):
        return None
    return sorted(groups, key=first.__getitem__)


def _blocks(groups: Groups) -> dict[TrialLabels, int]:
    """Return block numbers from 1, in the order in which the labels first appear. Without labels, there is one
    block."""
    labels = list(dict.fromkeys(place.block for place in groups))
    return {place: labels.index(place.block) + 1 for place in groups}


def _only(schema: Schema, groups: Groups) -> dict[str, list[str]]:
    """Return, for each factor with levels that do not occur, the levels that do. Raises UserError if nothing is left to
    compare."""
    only = {}
    for index, (factor, levels) in enumerate(schema.study.factors.items()):
        levels_present = {place.levels[index] for place in groups}
        if levels_present != set(levels):
            only[factor] = [level for level in levels if level in levels_present]
    compare = schema.study.compare
    present = only.get(compare.factor, list(schema.study.factors[compare.factor]))
    if not any(set(pair.split("/")) <= set(present) for pair in compare.pairs):
        raise UserError(
            f"nothing to compare: the only {compare.factor} is {', '.join(present)}; "
            f"the schema compares {', '.join(compare.pairs)}",
            remedy="import the files of both sides together, or write other pairs into the schema",
        )
    return only


def _trial(
    folder: CampaignFolder,
    schema: Schema,
    place: TrialLabels,
    requests: list[ForeignRequest],
    block: int,
    number: int,
    ordered: bool,
) -> None:
    cell = dict(zip(schema.study.factors, place.levels, strict=True))
    words = "-".join(re.sub(r"[^a-z0-9._+]+", "-", level.lower()) for level in place.levels)
    name = f"b{block:02}-t{number:02}-{words}"
    values = schema.study.parameters(cell).model_dump(mode="json")
    parameters = {key: None if key in schema.unknown else value for key, value in values.items()}
    partial = folder.partial(name, 1)
    rows = Rows.of([request.sample for request in requests])
    if any(request.count > 1 for request in requests):
        rows = rows.taken(np.repeat(np.arange(len(requests)), [request.count for request in requests]))
    rows.write(partial / "samples.parquet")
    network = unrolled(schema.study.networks[values["network"]])
    link = Link.model_validate({"name": "access", **network.link()})
    # The schema's description of the path. No lab ran anything here.
    described = TrialFile(h123="trial/1", id=name, origin="imported", links=[link])
    write_document(partial / "trial.json", described)
    if connections := Counter(request.tls for request in requests if request.tls):
        kinds = [Tls(**kind._asdict(), requests=count) for kind, count in connections.items()]
        write_document(partial / "client.json", ClientFile(h123="client/1", tls=kinds))
    ends = [end for request in requests if (end := request.sample["end_ns"]) is not None]
    span = max(ends) - min(request.sample["start_ns"] for request in requests) if ends else None
    event: AttemptFacts = {
        "event": "trial",
        "trial": name,
        "attempt": 1,
        "block": block,
        "position": number if ordered else None,
        "cell": cell,
        "twin": False,
        "run": place.run,
        "parameters": parameters,
        "link_seed": None,
        "valid": True,
        "reasons": [],
        "seconds": round(span / 1e9, 4) if span is not None and all(request.timed for request in requests) else None,
    }
    seal.seal_attempt(partial, event)
    folder.append(event)


def _name(path: Path) -> str:
    """Return the file's name as text, even if it is not UTF-8."""
    return path.name.encode(errors="replace").decode()


def _digest(path: Path) -> str:
    with open_bounded(path, sizes.SAMPLES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
