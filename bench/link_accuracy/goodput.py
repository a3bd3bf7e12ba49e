"""How fast downloads are on a path: HTTP/2 over the kernel's TCP, HTTP/3 over quic-go, both under cubic."""

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
"""Two one-sided tests at 5 % each ask for a 90 % interval within the margin."""
_STUDY = Path(__file__).with_name("transfers.yaml")


class Transfers:
    """The downloads of transfers.yaml, one a trial: as many of each protocol as it has blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._study: Study = load_study(_STUDY)
        self._subjects: dict[str, Subject] = {"go": catalogue()["go"]}
        install(self._subjects["go"], print)
        self._certificate: Certificate = campaign_certificate(folder / "tls", [SERVER_ADDRESS])

    def goodputs_bps(self, protocol: str, path: str, kind: Kind, profile: Profile) -> list[float]:
        """Of each such download of the study, each with a link seed of its own. Virtual kernels do not disturb one
        another, so as many run at once as there are processors."""
        wanted = {"protocol": protocol, "path": path}
        trials = [trial for trial in make_plan(self._study).trials() if trial.cell == wanted and not trial.twin]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(lambda trial: self._goodput_bps(trial, kind, profile), trials))

    def _goodput_bps(self, trial: PlannedTrial, kind: Kind, profile: Profile) -> float:
        """Body bits a second, from the request to its last byte. Raises UserError if the download fails."""
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
    """Of the goodput over the link to that over netem, run by run."""
    found = SignedRank([math.log(a / b) for a, b in zip(link, netem, strict=True)]).estimate(CONFIDENCE)
    return IntervalEstimate(*(math.exp(v) for v in (found.centre, found.low, found.high)), found.confidence)


def equivalent(found: IntervalEstimate) -> bool:
    """Whether the interval lies within the margin."""
    return found.low > 1 / (1 + MARGIN) and found.high < 1 + MARGIN
