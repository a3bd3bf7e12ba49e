"""Compares two executions of a virtual trial on two machines. Defines what must be the same, and the error if it is
not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.errors import UserError
from h123.base.paths import typed
from h123.documents import read_document
from h123.documents.campaign_file import Seal
from h123.documents.events import AttemptFacts, machines, superseded
from h123.store import CampaignFolder

_OF_THE_MACHINE = ("event.json", "report.json", "trial.json")
"""Files that describe the machine, its processors and their time, and when the trial ran."""
_LOGS = "logs/"
"""Output of programs, which may contain the real time of day."""
_NAMED = 4


@dataclass(frozen=True)
class Execution:
    """An execution of a trial: the machine it ran on, and the digests of the files that record it."""

    campaign: CampaignFolder
    place: str
    files: Mapping[str, str]

    def machine(self) -> str:
        facts = machines(self.campaign.events()).get(self.place, self.campaign.machine)
        system = f"{self.place or 'an unnamed machine'}, Linux {facts.get('kernel')} on {facts.get('cpu')}"
        build = f"lab {facts.get('lab_build')} and virtual kernel {facts.get('virtual_kernel_build')}"
        return f"{self.campaign.path}: {system}, h123 {self.campaign.version} with {build}"


def executed(campaign: CampaignFolder, event: AttemptFacts) -> Execution:
    return Execution(campaign, event.get("place", ""), measured_files(campaign.attempt(event)))


def measured_files(attempt: Path) -> dict[str, str]:
    """Return the digests of those files in a sealed folder that record the trial."""
    files = read_document(attempt / "seal.json", Seal).files
    return {n: digest for n, digest in files.items() if n not in _OF_THE_MACHINE and not n.startswith(_LOGS)}


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """Return which files differ, in words. None if all are the same."""
    names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    if not names:
        return None
    return f"{', '.join(names[:_NAMED])}{', ...' if len(names) > _NAMED else ''} differ"


def unlike(what: str, trial: str, fault: str, runs: Sequence[Execution]) -> UserError:
    verify = "\n".join(dict.fromkeys(f"  h123 verify {typed(run.campaign.path)} {trial}" for run in runs))
    return UserError(
        f"{what} was run twice under the virtual clock, and {trial} did not do the same: {fault}"
        + "".join(f"\n  {run.machine()}" for run in runs),
        remedy="a virtual trial does the same on every machine. Find out which of the two repeats there:\n" + verify,
        status=1,
    )


def counted(attempts: Iterable[AttemptFacts]) -> AttemptFacts | None:
    """Return the attempt that the analysis uses: the last valid one, because nothing disturbs a virtual trial."""
    return next((event for event in reversed([*attempts]) if event["valid"] and not superseded(event)), None)
