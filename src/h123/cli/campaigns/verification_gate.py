"""Prints the verification status of a study's subjects before anything runs, and refuses subjects that failed."""

from collections.abc import Callable, Iterator, Mapping

from h123.base.errors import UserError
from h123.campaign import Cast
from h123.documents.campaign_file import Proof, VerifiedRole
from h123.verification import proof

Proofs = dict[str, dict[VerifiedRole, Proof]]
_NAMED = 3


def proofs_of(cast: Cast) -> Proofs:
    proofs: Proofs = {}
    for role, subject in cast:
        proofs.setdefault(subject.name, {})[role] = proof(subject, role)
    return proofs


def verification_gate(*, allow_unverified: bool) -> Callable[[Cast], Proofs]:
    """Return a function that looks up all verifications. The function raises UserError if a verification failed, unless
    `allow_unverified`."""

    def vouch(cast: Cast) -> Proofs:
        proofs = proofs_of(cast)
        if not allow_unverified:
            _refuse_failed(proofs)
        return proofs

    return vouch


def _refuse_failed(proofs: Proofs) -> None:
    for name, role, evidence in _each(proofs):
        if evidence["outcome"] == "failed":
            raise UserError(
                f"{name} failed its verification as a {role}: {_checks(evidence)}",
                remedy=f"`h123 list subjects {name}` shows what failed; fix it and run `h123 verify {name}`, or "
                "measure it anyway with --allow-unverified",
            )


def proof_lines(proofs: Proofs) -> Iterator[str]:
    """Yield a line for each verification status, with the subjects that have it."""
    names_by_sentence: dict[str, list[str]] = {}
    for name, role, evidence in _each(proofs):
        names_by_sentence.setdefault(_sentence(evidence), []).append(f"{name} ({role})")
    for words, names in names_by_sentence.items():
        yield f"{words}: {', '.join(names)}"


def _sentence(evidence: Proof) -> str:
    when = (evidence["time"] or "")[:10]
    by = f"by this project, {when}" if evidence["upstream"] else f"on this machine, {when}"
    return {
        "passed": f"Verified {by}",
        "changed": f"Changed since they were verified {by} (`h123 verify NAME`)",
        "own": "Defined by the study, which declares nothing to verify",
        "none": "Never verified (`h123 verify NAME`)",
        "failed": f"FAILED their verification {by}: {_checks(evidence)}; `run` refuses them without --allow-unverified",
    }[evidence["outcome"]]


def _checks(evidence: Proof) -> str:
    failed = evidence["failed"]
    names = ", ".join(failed[:_NAMED]) + (", ..." if len(failed) > _NAMED else "")
    return f"{len(failed)} check{'s' if len(failed) > 1 else ''} ({names})"


def _each(proofs: Mapping[str, Mapping[VerifiedRole, Proof]]) -> Iterator[tuple[str, VerifiedRole, Proof]]:
    for name, roles in proofs.items():
        for role, evidence in roles.items():
            yield name, role, evidence
