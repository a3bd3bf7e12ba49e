"""Runs the trials of a profile, and reads their results."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

import numpy as np

from h123.base.errors import UserError
from h123.catalogue import DEFAULT_CONGESTION, Subject, catalogue, check_supported, default_controller, make_bodies
from h123.causes import CAUSES, explain
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool, PreparedTrial
from h123.packets.capture import read_packets
from h123.study import Parameters
from h123.verification.constants.experiment import SenderCase
from h123.verification.constants.findings import NotMeasurable
from h123.verification.constants.transfer import Transfer, download, upload
from h123.verification.profile.findings import SituationResult
from h123.verification.profile.situation import PACING, SITUATIONS, Situation
from h123.verification.trial import Trials, trials_with

_ROUND = 6
"""The number of decimal places to which seconds are rounded."""


def profile(subject: Subject, role: VerifiedRole, pool: Pool, moved: Callable[[str], None]) -> list[SituationResult]:
    """Profile each protocol of this role in each situation. `moved` receives a line about every finished trial.

    The subject, the built-in subjects and the virtual kernel must be installed. Raises UserError if this machine cannot
    execute trials.
    """
    make_bodies({situation.size for situation in SITUATIONS})
    with trials_with(subject, pool) as (trials, place):
        results = []
        for result in _measure_situations(_sender_cases(subject, role), trials, place):
            moved(f"{result.protocol} {result.situation}")
            results.append(result)
    order = [situation.name for situation in SITUATIONS]
    return sorted(results, key=lambda result: (result.protocol, order.index(result.situation)))


def _sender_cases(subject: Subject, role: VerifiedRole) -> list[SenderCase]:
    part = subject.server if role == "server" else subject.client
    assert part is not None
    return [SenderCase(subject, role, protocol, DEFAULT_CONGESTION) for protocol in part.protocols]


def _measure_situations(askings: list[SenderCase], trials: Trials, place: Path) -> Iterator[SituationResult]:
    """Yield the results as trials end. As many trials run at once as there are processors."""
    situation_by_folder, prepared = dict[Path, tuple[SenderCase, Situation]](), list[PreparedTrial]()
    for sender in askings:
        for situation in SITUATIONS:
            try:
                parameters = parameters_of(sender, situation)
                check_supported(sender.subject, sender.role, parameters)
            except UserError as error:
                yield _unmeasured_situation(sender, situation, error.message)
                continue
            folder = Path(tempfile.mkdtemp(dir=place)) / situation.name
            prepared.append(trials.prepare(folder, parameters, situation.network(parameters.method), lambda _: None))
            situation_by_folder[folder] = sender, situation
    for trial in trials.carry_out_each(prepared):
        sender, situation = situation_by_folder[trial.folder]
        if trial.faults:
            yield _unmeasured_situation(
                sender, situation, "; ".join(f"{fault['code']}: {fault['detail']}" for fault in trial.faults)
            )
        else:
            yield _situation_result(sender, situation, trial.folder)
        shutil.rmtree(trial.folder)


def parameters_of(sender: SenderCase, situation: Situation) -> Parameters:
    """Return the parameters of the trial of a situation."""
    values = {"network": "profile", "users": 1, "method": situation.method(sender), "size": situation.size}
    parameters = sender.parameters(**values, **situation.parameters)
    return parameters.model_copy(update={"qlog": _logs(sender, parameters.server)})


def _logs(sender: SenderCase, server: str) -> bool:
    """Return whether the server can write qlog files, which show when flow control limits a sender. Under the virtual
    clock, logging takes no time."""
    of = sender.subject if sender.role == "server" else catalogue()[server]
    return sender.protocol in of.features.qlog


def _situation_result(sender: SenderCase, situation: Situation, folder: Path) -> SituationResult:
    result = explain(folder, parameters_of(sender, situation).workload.statuses())
    rows = result.seconds[np.array(result.phases) == situation.phase]
    if not len(rows):
        return _unmeasured_situation(sender, situation, "no request succeeded")
    mean = rows.mean(axis=0)
    parts = {cause.name: round(float(s), _ROUND) for cause, s in zip(CAUSES, mean, strict=True) if s > 0}
    seconds = round(float(mean.sum()), _ROUND)
    read = download if situation.method(sender) == "GET" else upload
    of = read(read_packets(folder), situation.round_trip_ms * 1_000_000)
    own = situation.name == PACING and sender.protocol == "h3"
    facts = {"in_flight": _in_flight(of), "spread": spread(of, situation) if own else None}
    return _of(sender, situation).model_copy(update={"seconds": seconds, "parts": parts, **facts})


def _in_flight(of: Transfer) -> int | None:
    try:
        return max(of.windows, default=None)
    except NotMeasurable:
        return None


def spread(of: Transfer, situation: Situation) -> float | None:
    """Return the share of a round trip during which a flight was sent, or None if the packets do not show it. The
    flight is the last one before flights exceed an eighth of what the link carries in a round trip. Larger flights are
    spread out by the link itself, and so are later ones, because acknowledgements that arrive spread out trigger
    them."""
    little = situation.mbit * 1e6 / 8 * situation.round_trip_ms / 1e3 / 8
    try:
        early = list(takewhile(lambda packet: of.payload(packet) <= little, of.body[:-1]))
    except NotMeasurable:
        return None
    return of.spread(early[-1]) if early else None


def _unmeasured_situation(sender: SenderCase, situation: Situation, why: str) -> SituationResult:
    return _of(sender, situation).model_copy(update={"unknown": why})


def _of(sender: SenderCase, situation: Situation) -> SituationResult:
    return SituationResult(
        role=sender.role,
        protocol=sender.protocol,
        congestion=default_controller(sender.subject, sender.protocol),
        situation=situation.name,
        least=round(situation.least_s, _ROUND),
    )
