"""Manages the campaign folder. Writes are ordered so that a campaign can stop at any moment and be resumed."""

import hashlib
import json
import os
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from h123 import __version__
from h123.base.errors import UserError
from h123.base.files.durable import sync, write_atomically
from h123.base.files.journal import append_event, read_events
from h123.base.files.lock import sole_user
from h123.base.files.tree import check_tree
from h123.base.paths import real, typed
from h123.base.processes import each
from h123.base.terminal.redaction import PRIVATE, holds_secrets
from h123.documents.campaign_file import CampaignFile, ImportFacts, MachineFacts, Precision, SubjectFacts
from h123.documents.events import AttemptFacts, Event, EventFile, EventRange, Happening, TrialEvent, check_trials
from h123.documents.reading import read_content, read_document, validated
from h123.documents.shard import Shard
from h123.store import seal
from h123.store.new_folder import check_name, check_new, copy_uploads, make_folder, refuse_occupied
from h123.store.seal import ENTRY, PARTIAL
from h123.study import Study, networks_from_resolved, respelled_campaign
from h123.study.networks.network import Resolved


class CampaignFolder:
    """One campaign on disk (docs/contracts/campaign.md)."""

    def __init__(self, path: Path, content: Resolved) -> None:
        self.path = path
        self._content = content
        """The content of campaign.json with the names that this version uses, and with anything that another version
        has added."""
        self._damage: dict[tuple[str, int], str | None] = {}
        self._events: tuple[tuple[int, int], list[Event]] | None = None

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        study: Resolved,
        study_text: str,
        networks: dict[str, Resolved],
        seed: int,
        blocks: int,
        level_filter: dict[str, list[str]],
        looks: Sequence[int] = (),
        precision: Precision | None = None,
        shard: Shard | None = None,
        machine: MachineFacts,
        subjects: dict[str, SubjectFacts],
        uploads: Mapping[str, Path] | None = None,
        imported: ImportFacts | None = None,
        created: str | None = None,
    ) -> Self:
        """Create a new, empty campaign in `path`. The files in `uploads` are copied into it; the keys are the names of
        the copies. `created` is the start of the campaign; None means now.

        Raises UserError as `check_new` does, or if another process creates the folder first.
        """
        check_new(path)
        private = holds_secrets(study)
        make_folder(path, private=private)
        content = {
            "h123": CampaignFile.form(),
            "study": study,
            "networks": networks,
            "seed": seed,
            "blocks": blocks,
            "filter": level_filter,
            "looks": list(looks),
            "precision": precision,
            **({"shard": shard.text} if shard else {}),
            "version": __version__,
            "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine,
            "subjects": subjects,
            **({"origin": imported} if imported else {}),
        }
        folder = cls(path, content)
        with sole_user(path, f"a campaign in {path}"):
            refuse_occupied(path)  # by another process since the check
            make_folder(folder.trials, private=private)
            if private:
                (path / "journal.jsonl").touch(PRIVATE)
            if imported is None:
                folder.tls.mkdir(exist_ok=True)
            if uploads:
                copy_uploads(uploads, folder.uploads)
            write_atomically(path / "study.yaml", study_text, folder._mode)
            # Written last: a folder without this file is not a campaign, so a crash before this leaves no campaign.
            folder._save()
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the campaign in `path`. Raises UserError if there is none, or if campaign.json has a different format or
        has changed."""
        check_name(path)
        file = path / "campaign.json"
        if os.path.lexists(file):
            check_tree(path)
        if not file.is_file():
            no_folder = "it is a file" if path.exists() else "there is no folder"
            why = "it has no campaign.json" if path.is_dir() else no_folder
            inner = sorted(path.glob("*/campaign.json"))
            known = f"a campaign in it, such as {inner[0].parent}" if inner else "the folder that `h123 run` wrote"
            raise UserError(f"{path} is not a campaign: {why}", remedy=f"give {known}")
        content = read_content(file, CampaignFile.form())
        digest = content.pop("digest", None)
        current = respelled_campaign(content)
        validated(current, CampaignFile, file)
        if digest not in (None, _digest(content)):
            raise UserError(f"{file} has changed since h123 wrote it", remedy="restore the file from a copy")
        try:
            networks_from_resolved(current["networks"])
            Study.from_resolved(current["study"])
        except UserError as error:
            raise UserError(f"{file}: {error.message}", remedy=error.remedy) from None
        return cls(path, current)

    @property
    def name(self) -> str:
        return real(self.path).name

    @property
    def study(self) -> Resolved:
        return dict(self._content["study"])

    @property
    def networks(self) -> dict[str, Resolved]:
        return dict(self._content["networks"])

    @property
    def subjects(self) -> dict[str, SubjectFacts]:
        """Version, stack and language of each subject by name."""
        return dict(self._content["subjects"])

    @property
    def machine(self) -> MachineFacts:
        """The machine at the campaign's start (see `machine_facts`)."""
        machine: MachineFacts = self._content["machine"]
        return machine

    @property
    def imported(self) -> ImportFacts | None:
        """The origin of imported samples (docs/contracts/import.md). None for a campaign that h123 ran."""
        return self._content.get("origin")

    @property
    def level_filter(self) -> dict[str, list[str]]:
        """For each factor with a filter, the levels that the campaign runs."""
        return dict(self._content["filter"])

    @property
    def seed(self) -> int:
        return int(self._content["seed"])

    @property
    def blocks(self) -> int:
        return int(self._content["blocks"])

    @property
    def looks(self) -> list[int]:
        """The numbers of blocks after which interim analyses are planned. Empty without `--until-decided`."""
        return list(self._content.get("looks", []))

    @property
    def precision(self) -> Precision | None:
        """The width that intervals must reach (`wanted`), and the largest number of blocks (`at_most`). None without
        `--precision`."""
        return self._content.get("precision")

    @property
    def shard(self) -> Shard | None:
        """The blocks that this folder runs, or None if it runs all of them."""
        named: str | None = self._content.get("shard")
        return Shard(named) if named else None

    @property
    def version(self) -> str:
        return str(self._content["version"])

    @property
    def created(self) -> str:
        """The time at which the campaign began, in ISO 8601."""
        return str(self._content["created"])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder so that only this process can add to it. Raises UserError if another process holds the lock
        or has changed the plan since the folder was opened."""
        with sole_user(self.path, f"the campaign in {self.path}"):
            if self.open(self.path)._content != self._content:
                raise UserError(
                    f"another h123 process has changed the campaign in {self.path}",
                    remedy="run the same command again",
                    status=1,
                )
            yield

    def set_blocks(self, blocks: int) -> None:
        self._content = {**self._content, "blocks": blocks}
        self._save()

    def set_networks(self, networks: dict[str, Resolved]) -> None:
        self._content = {**self._content, "networks": networks}
        self._save()

    @property
    def tls(self) -> Path:
        """The folder of this campaign's certificate and keys, as an absolute path."""
        return self.path.absolute() / "tls"

    @property
    def uploads(self) -> Path:
        """The absolute path of the folder with the files that requests upload. Missing if there are none."""
        return self.path.absolute() / "uploads"

    @property
    def roots(self) -> dict[str, Path]:
        """The folders of the campaign to which trial files refer, by the names that they use there."""
        return {"tls": self.tls, "uploads": self.uploads}

    @property
    def trials(self) -> Path:
        """The absolute path of the trials' folder. In a relative path, readers of Parquet would interpret `~` and
        `:`."""
        return self.path.absolute() / "trials"

    @property
    def verdicts(self) -> Path:
        return self.path / "verdicts.json"

    def append(self, event: Happening) -> None:
        """Add `event` to the journal on disk, with the time and, for an attempt, the digest of its seal."""
        if event["event"] == "trial" and (sealed := seal.digest_of(self.attempt(event))):
            event = {**event, "seal": sealed}
        append_event(self.path / "journal.jsonl", event)

    def events(self) -> list[Event]:
        """Return the events in the journal, oldest first. Raises UserError."""
        path = self.path / "journal.jsonl"
        stamp = _stamp(path)
        if self._events is None or self._events[0] != stamp:
            self._events = stamp, check_trials(read_events(path), path, self._possible())
        return [event.copy() for event in self._events[1]]

    def _possible(self) -> EventRange:
        unknown = self.imported["unknown"] if self.imported else None
        return EventRange(self.study["factors"], self.networks, unknown)

    def attempt(self, event: AttemptFacts) -> Path:
        return self.trial(event["trial"], event["attempt"])

    def damage(self, event: AttemptFacts) -> str | None:
        """Describe how the attempt's files have changed since it was sealed. Return None if they have not.

        The files are read once, at the first call. Without a seal (earlier versions made none), only the folder and the
        samples are checked.
        """
        attempt = event["trial"], event["attempt"]
        if attempt not in self._damage:
            self._damage[attempt] = seal.damage(self.attempt(event), event)
        return self._damage[attempt]

    def examine(self) -> None:
        """Check all attempts as `damage` does, in several processes."""
        attempts = {(event["trial"], event["attempt"]): event for event in self.events() if event["event"] == "trial"}
        fresh = {attempt: event for attempt, event in attempts.items() if attempt not in self._damage}
        damages = each(_damage_of, [(self.attempt(event), event) for event in fresh.values()])
        self._damage |= zip(fresh, damages, strict=True)

    def damaged_trials(self) -> dict[str, str]:
        """Return the trials whose valid attempts are all damaged, each with the damage of the last one in words."""
        valid = [event for event in self.events() if event["event"] == "trial" and event["valid"]]
        whole = {event["trial"] for event in valid if not self.damage(event)}
        return {
            event["trial"]: f"{self.attempt(event).name}: {self.damage(event)}"
            for event in valid
            if event["trial"] not in whole
        }

    def trial(self, trial: str, attempt: int) -> Path:
        return self.trials / f"{trial}~{attempt}"

    def partial(self, trial: str, attempt: int) -> Path:
        """Make a new, empty folder for an attempt that is about to run, and return it."""
        finished = self.trial(trial, attempt)
        partial = finished.with_name(finished.name + PARTIAL)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        return partial

    @property
    def arrivals(self) -> Path:
        """The folder in which attempts run and are sealed before they join the campaign. It is deleted when the
        campaign resumes."""
        return self.trials / f"orders{PARTIAL}"

    def take_in(self, archive: Path, event: AttemptFacts, digest: str) -> Path:
        """Move an attempt that was sealed elsewhere into the campaign (`seal.accept`). Return its final path."""
        return seal.accept(archive, self.attempt(event), digest)

    def sealed(self) -> list[Path]:
        return sorted(p for p in self.trials.iterdir() if p.is_dir() and not p.name.endswith(PARTIAL))

    def unjournalled(self) -> list[Path]:
        """Return the finished attempts that the journal lacks because a crash or a person cut it short."""
        journalled = {self.attempt(event) for event in self.events() if event["event"] == "trial"}
        return [attempt for attempt in self.sealed() if attempt not in journalled] if self.trials.is_dir() else []

    def rejournal(self, planned: Container[str]) -> None:
        """Add the finished attempts that the journal lacks, based on their files. Raises UserError, and changes
        nothing, if an attempt has no journal entry in its folder, is incomplete, or belongs to an unplanned trial."""
        lacking = self.unjournalled()
        entries = sorted((self._entry(attempt, planned) for attempt in lacking), key=lambda event: event["time"])
        for entry in entries:
            self.append(entry)

    def _entry(self, attempt: Path, planned: Container[str]) -> TrialEvent:
        file = attempt / ENTRY
        digest = seal.digest_of(attempt) if file.is_file() else None
        fault = seal.broken(attempt, digest) if digest else f"it has no {ENTRY}"
        if not fault:
            event = read_document(file, EventFile).event
            check_trials([{**event}], file, self._possible())
            if self.attempt(event) == attempt and event["trial"] in planned:
                return event
            fault = f"{ENTRY} belongs to {event['trial']}"
        raise UserError(
            f"the journal of {self.path} lacks the finished trial {attempt.name}, which cannot be added again: {fault}",
            remedy=f"restore journal.jsonl from a copy; or move the trial out of {self.trials} to measure it again",
        )

    def require_journal(self) -> None:
        """Raise UserError if there are finished trials but no journal."""
        journal = self.path / "journal.jsonl"
        if journal.exists() or not (lacking := self.unjournalled()):
            return
        again = "import the samples again" if self.imported else f"`h123 run --out {typed(self.path)}` makes it again"
        raise UserError(
            f"{journal} is missing, but there are {len(lacking)} finished trials",
            remedy=f"restore it from a copy; {again}",
        )

    def discard_partials(self) -> None:
        """Delete the attempts that were running when the campaign stopped."""
        self.trials.mkdir(exist_ok=True)  # someone may have deleted it with its content
        for partial in self.trials.glob("*" + PARTIAL):
            shutil.rmtree(partial)
        sync(self.trials)

    def _save(self) -> None:
        content = {**self._content, "digest": _digest(self._content)}
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        write_atomically(self.path / "campaign.json", text, self._mode)

    @property
    def _mode(self) -> int:
        return PRIVATE if holds_secrets(self._content["study"]) else 0o666


def _stamp(path: Path) -> tuple[int, int]:
    """Return the file's size and modification time, which change whenever the file is written."""
    status = path.stat() if path.exists() else None
    return (status.st_size, status.st_mtime_ns) if status else (0, 0)


def _damage_of(attempt: tuple[Path, AttemptFacts]) -> str | None:
    return seal.damage(*attempt)


def _digest(content: Resolved) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
