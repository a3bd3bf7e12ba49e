"""Measures what each lost packet of a virtual trial costs: reruns the trial once for each packet, without that one
loss.

The link selects the packets that it loses by their number in their direction, so a list of these numbers repeats the
losses. If one loss is left out, the sender sends different packets afterwards, but the other losses still hit the same
numbers.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from h123.base.errors import UserError
from h123.base.files.scratch import scratch
from h123.campaign.determinism import Verifiable, prepare_again, require_valid, stored_attempt
from h123.documents import read_document, write_document
from h123.documents.trial_files import TrialFile
from h123.execution import Pool, PreparedTrial, SingleTrials
from h123.packets.capture import LOST, read_packets
from h123.store import read_samples
from h123.study import PlannedTrial
from h123.study.networks.network import Loss

WAYS = ("up", "down")
LostNumbers = Mapping[str, Sequence[int]]
"""The numbers of the lost packets in each direction, from 0."""


@dataclass(frozen=True)
class LostPacket:
    """One lost packet, and the mean request time without this loss."""

    way: str
    number: int
    """The packet's number in its direction, from 0."""
    at_ns: int
    """The time at which the packet reached the link, in ns after the first packet."""
    seconds: float


@dataclass(frozen=True)
class LossCosts:
    """The mean time of a warm request with all losses and with each left out in turn, the most expensive loss first."""

    seconds: float
    costs: Sequence[LostPacket]


def measure_losses(which: Verifiable, pool: Pool, jobs: int, report: Callable[[str], None]) -> LossCosts:
    """Rerun the trial once for each packet that the link lost, without that one loss. Raises UserError if the link lost
    none, or if the trial does not repeat exactly."""
    stored = stored_attempt(which)
    if stored is None or which.trial.parameters.kind != "requests":
        raise UserError(
            f"{which.trial.id} has no requests whose losses h123 can leave out",
            remedy="name a successful trial whose workload is of kind requests",
        )
    with scratch() as parent:
        runner = SingleTrials(pool, which.folder.roots, which.study.servers, seed=which.folder.seed)
        if read_document(stored / "trial.json", TrialFile).check:
            # The check of the link takes time that depends on how losses are configured.
            base = prepare_again(parent / "unchecked", which, lambda _: None, check=False)
            for _, attempt in runner.run([base], jobs):
                require_valid(attempt, which)
            stored = base.folder
        losses, times = _losses(stored)
        left_out = [(way, number) for way in WAYS for number in losses[way]]
        if not left_out:
            raise UserError(f"the link lost no packet of {which.trial.id}", remedy="name a trial over a lossy link")
        report(f"Running {which.trial.id} again, {len(left_out)} times: once without each lost packet")
        found = list[LostPacket]()
        prepared = dict[Path, tuple[str, int] | None]()
        trials = list[PreparedTrial]()
        for number, each in enumerate([None, *left_out]):
            trials.append(prepare_again(parent / str(number), which, lambda _: None, check=False))
            _lose(trials[-1].folder / "trial.json", _without(losses, each))
            prepared[trials[-1].folder] = each
        whole = _seconds(stored, which.trial)
        for trial, attempt in runner.run(trials, jobs):
            require_valid(attempt, which)
            seconds, packet = _seconds(trial.folder, which.trial), prepared[trial.folder]
            shutil.rmtree(trial.folder)
            if packet:
                found.append(LostPacket(*packet, at_ns=times[packet], seconds=seconds))
            elif seconds != whole:
                raise UserError(f"{which.trial.id} does not repeat with a list of its losses, so none can be left out")
    return LossCosts(whole, sorted(found, key=lambda cost: cost.seconds))


def _losses(folder: Path) -> tuple[LostNumbers, Mapping[tuple[str, int], int]]:
    """Return the packets that the link lost at random, and when each one reached it."""
    packets = read_packets(folder)
    losses, times = dict[str, list[int]](), dict[tuple[str, int], int]()
    for code, way in enumerate(WAYS):
        its = packets[packets["way"] == code]
        losses[way] = np.flatnonzero(its["fate"] == LOST).tolist()
        times |= {(way, n): int(its["at_ns"][n]) - int(packets["at_ns"][0]) for n in losses[way]}
    return losses, times


def _without(losses: LostNumbers, packet: tuple[str, int] | None) -> LostNumbers:
    return {way: [n for n in numbers if (way, n) != packet] for way, numbers in losses.items()}


def _lose(file: Path, losses: LostNumbers) -> None:
    """Make a trial's first link lose exactly these packets."""
    trial = read_document(file, TrialFile)
    for way, numbers in losses.items():
        direction = getattr(trial.links[0], way)
        loss = Loss(packets=list(numbers)) if numbers else None
        setattr(trial.links[0], way, direction.model_copy(update={"loss": loss}))
    write_document(file, trial)


def _seconds(folder: Path, trial: PlannedTrial) -> float:
    """Return the mean time of a warm request."""
    samples = read_samples(folder / "samples.parquet", trial.parameters.workload.statuses())
    return float(np.mean([s["end_ns"] - s["start_ns"] for s in samples if s["phase"] == "warm"])) / 1e9
