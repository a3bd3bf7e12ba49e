"""Reads claims/*.yaml, which list what published works claim, sentence by sentence, and what decides each claim."""

import re
from collections.abc import Collection
from pathlib import Path

import yaml
from pydantic import Field

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.files.textfile import read_text
from h123.base.strict import Strict
from h123.study.claims.claim import ALL_LEVELS, AnyClaim, MeasurableClaim
from h123.study.quantities import Levels
from h123.study.reader import load_study
from h123.study.registry import find_study, is_study, list_claims
from h123.study.study import Study
from h123.study.yaml_document import MOST_BYTES, Location, YamlDocument

FORMAT = "claims/1"


class Publication(Strict):
    """The work that a file of claims is about."""

    title: str
    where: str
    """Where and when the work was published: the journal or site, and the year."""


class Ledger(Strict):
    """The claims of one file."""

    source: Publication
    """The work, as `{title, where}`."""
    study: str | None = None
    """The study whose campaigns can decide these claims. A file gives the study's name or path. After loading, this is
    the name."""
    claims: list[AnyClaim] = Field(min_length=1)


def load_ledger(path: Path) -> Ledger:
    """Read a file of claims. Raises UserError with the file, the line and what is allowed there."""
    document = YamlDocument.read(path, FORMAT)
    ledger = document.validate(Ledger, document.data)
    names = [claim.id for claim in ledger.claims]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise document.error(["claims", index, "id"], f"two claims are named {name!r}")
    return _LedgerReader(document, ledger).checked()


class _LedgerReader:
    """A reader that checks measurable claims against the study that they are about."""

    def __init__(self, document: YamlDocument, ledger: Ledger) -> None:
        self.document = document
        self.ledger = ledger

    def checked(self) -> Ledger:
        """Check the claims and return the ledger with its study's name filled in."""
        measurable = [(i, claim) for i, claim in enumerate(self.ledger.claims) if isinstance(claim, MeasurableClaim)]
        if self.ledger.study is None:
            if measurable:
                raise self.document.error(
                    ["claims", measurable[0][0], "cells"], "a claim with `cells` needs the file to name its `study`"
                )
            return self.ledger
        study = self.study(self.ledger.study)
        for index, claim in measurable:
            self.check_claim(claim, study, ["claims", index])
        return self.ledger.model_copy(update={"study": study.name})

    def study(self, name: str) -> Study:
        try:
            return load_study(find_study(name, folder=self.document.path.parent))
        except UserError as error:
            raise self.document.error(["study"], error.message) from None

    def check_claim(self, claim: MeasurableClaim, study: Study, at: Location) -> None:
        compared = study.compare.factor
        for side, level in {"a": claim.a, **({"b": claim.b} if claim.b else {})}.items():
            self.check_level(level, compared, study.factors[compared], [*at, side])
        other_factors = {factor: list(levels) for factor, levels in study.factors.items() if factor != compared}
        self.check_levels(claim.cells, other_factors, [*at, "cells"])
        for factor, levels in other_factors.items():
            if factor not in claim.cells:
                message = (
                    f"factor {factor!r} is missing; write one of {', '.join(levels)}, a list of them, or {ALL_LEVELS}"
                )
                raise self.document.error([*at, "cells"], message)
        self.check_levels(claim.against or {}, other_factors, [*at, "against"])
        self.check_contrast(claim, other_factors, [*at, "against"])
        if claim.size is not None and abs(claim.size) <= study.compare.margin:
            message = f"the size is within the study's margin of {100 * study.compare.margin:g} %"
            raise self.document.error([*at, "size"], f"{message}: write `direction: equivalent` and a `margin`")

    def check_levels(self, levels_by_factor: dict[str, Levels], factors: dict[str, list[str]], at: Location) -> None:
        for factor, levels in levels_by_factor.items():
            if factor not in factors:
                message = f"{factor!r} is not a factor of the study or is the compared one; {choose(factor, factors)}"
                raise self.document.error([*at, factor], message)
            for level in levels if levels != [ALL_LEVELS] else ():
                self.check_level(level, factor, factors[factor], [*at, factor])

    def check_level(self, level: str, factor: str, levels: Collection[str], at: Location) -> None:
        if level not in levels:
            raise self.document.error(at, f"{level!r} is not a level of {factor!r}; {choose(level, levels)}")

    def check_contrast(self, claim: MeasurableClaim, factors: dict[str, list[str]], at: Location) -> None:
        for factor, levels in (claim.against or {}).items():
            here = factors[factor] if claim.cells[factor] == [ALL_LEVELS] else claim.cells[factor]
            if levels == [ALL_LEVELS] or len(levels) not in (1, len(claim.cells[factor])):
                message = f"write exactly one level of {factor!r} to compare with, or one for each level in `cells`"
                raise self.document.error([*at, factor], message)
            if double := [level for level in levels if level in here]:
                raise self.document.error([*at, factor], f"{double[0]!r} is already in `cells`")


def ledgers_of(study: str | None = None) -> list[Ledger]:
    """Return the ledgers that come with h123, or only those about `study`. Raises UserError."""
    return [load_ledger(path) for path in list_claims() if study is None or _about(path) == study]


def _about(path: Path) -> str | None:
    """Return the name of the study that a file of claims is about, or None if it names no study.

    Faults in files about other studies are ignored here, because they must not stop a campaign. `h123 claims` reports
    them.
    """
    try:
        if name := _line(path, "study"):
            return _line(find_study(name, folder=path.parent), "name")
    except UserError:
        pass
    return None


def _line(path: Path, key: str) -> str | None:
    """Return the value of a top-level key, if it is text. Only the key's own line is parsed, because reading all
    ledgers completely takes as long as the statistics of a large campaign."""
    match = re.search(rf"^{key}:.*$", read_text(path, MOST_BYTES), re.MULTILINE)
    try:
        value = yaml.safe_load(match[0])[key] if match else None
    except yaml.YAMLError:
        return None
    return value if isinstance(value, str) else None


def find_ledgers(name: str) -> list[Ledger]:
    """Return the ledgers about a study (given its name or file), or the ledger with this name or path. Raises
    UserError."""
    if is_study(name):
        study = load_study(find_study(name)).name
        if paths := ledgers_of(study):
            return paths
        raise UserError(f"no claims file is about study {study!r}", remedy="`h123 claims` lists all claims")
    path = Path(name)
    if "/" not in name and not name.endswith((".yaml", ".yml")):
        shipped = {path.stem: path for path in list_claims()}
        if name not in shipped:
            studies = {about for path in shipped.values() if (about := _about(path))}
            allowed = choose(name, sorted({*shipped, *studies}))
            raise UserError(
                f"there is no study or claims file {name!r}, nor is this the path of a YAML file; {allowed}"
            )
        path = shipped[name]
    return [load_ledger(path)]
