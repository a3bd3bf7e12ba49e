"""Measures how fast downloads are on a path: HTTP/2 over the kernel's TCP and HTTP/3 over quic-go, both with CUBIC."""

import csv
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paths import Kind, Profile, lay, run

from h123.analysis.statistics.signedrank import IntervalEstimate, SignedRank
from h123.catalogue import Subject, catalogue, install
from h123.execution import installed_roots
from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.files import SERVER_ADDRESS, write_trial_files
from h123.study import PlannedTrial, Study, load_study, make_plan

MARGIN = 0.10
CONFIDENCE = 0.90
"""Two one-sided tests at 5 % each require that a 90 % interval is within the margin."""
_STUDY = Path(__file__).with_name("transfers.yaml")


class Transfers:
    """The downloads of transfers.yaml, one in each trial. The study's number of blocks is the number of downloads per
    protocol."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._study: Study = load_study(_STUDY)
        self._subjects: dict[str, Subject] = {"go": catalogue()["go"]}
        install(self._subjects["go"], print)
        self._certificate: Certificate = campaign_certificate(folder / "tls", [SERVER_ADDRESS])

    def goodputs_bps(self, protocol: str, path: str, kind: Kind, profile: Profile) -> list[float]:
        """Return the goodput of each of these downloads, each with a different link seed. Virtual kernels do not
        disturb each other, so as many run at once as there are processors."""
        wanted = {"protocol": protocol, "path": path}
        trials = [trial for trial in make_plan(self._study).trials() if trial.cell == wanted and not trial.twin]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(lambda trial: self._goodput_bps(trial, kind, profile), trials))

    def _goodput_bps(self, trial: PlannedTrial, kind: Kind, profile: Profile) -> float:
        """Return the bits per second of the body, from the request to its last byte. Raises RuntimeError if the
        download fails."""
        folder = self._folder / f"{trial.id}-{kind}"
        folder.mkdir()
        networks = self._study.networks
        write_trial_files(folder, trial, networks, self._subjects, self._certificate, check=False)
        planned = json.loads((folder / "trial.json").read_text(encoding="utf-8"))
        run(lay(planned, kind, profile), folder, {**installed_roots(), "tls": self._certificate.folder})
        with (folder / "samples.csv").open(encoding="utf-8") as lines:
            (sample,) = csv.DictReader(lines)
        if sample["error"]:
            raise RuntimeError(f"{folder.name}: the download failed: {sample['error']}")
        seconds = (int(sample["end_ns"]) - int(sample["start_ns"])) / 1e9
        return int(sample["bytes_down"]) * 8 / seconds


def ratio(link: list[float], netem: list[float]) -> IntervalEstimate:
    """Estimate the ratio of the goodput over the link to the goodput over netem, paired by download."""
    found = SignedRank([math.log(a / b) for a, b in zip(link, netem, strict=True)]).estimate(CONFIDENCE)
    return IntervalEstimate(*(math.exp(v) for v in (found.centre, found.low, found.high)), found.confidence)


def equivalent(found: IntervalEstimate) -> bool:
    """Return whether the interval is within the margin."""
    return found.low > 1 / (1 + MARGIN) and found.high < 1 + MARGIN
