"""Prepares what trials need before the first one starts: subjects that can do what the trials require, and files to
serve."""

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import cast

from h123.base.errors import UserError
from h123.catalogue import (
    OwnSubject,
    Subject,
    catalogue,
    check_supported,
    clients_of_any_server,
    install,
    make_bodies,
    make_documents,
    server_uses,
    subjects_folder,
)
from h123.execution.cpu_affinity import check_affinity, require_processors
from h123.execution.files import trial_roles
from h123.study import Parameters
from h123.virtual import virtual_kernel


def prepare(
    trials: Sequence[Parameters], report: Callable[[str], None], own: Mapping[str, Subject] | None = None
) -> dict[str, Subject]:
    """Install the subjects of trials, and create the bodies that their servers serve as files. Return the subjects by
    name.

    `own`: subjects that are not in the catalogue. Raises UserError.
    """
    subjects = check_trials(trials, own)
    require_kernel(trials)  # refuse now rather than at the first such trial
    require_processors(trials)
    for subject in subjects.values():
        install(subject, report)
    files = {size for p in trials if server_uses(subjects[p.server], "files") for size in p.workload.served()}
    if files or any(server_uses(subjects[p.server], "block") for p in trials):
        make_bodies(files)
    for p in trials:
        if documents := p.workload.documents():
            make_documents(documents.folder, documents.contents)
    return subjects


def require_kernel(trials: Sequence[Parameters]) -> None:
    """Raise UserError if trials need the virtual kernel and it is missing."""
    if any(p.clock == "virtual" for p in trials):
        virtual_kernel()


def check_trials(trials: Sequence[Parameters], own: Mapping[str, Subject] | None = None) -> dict[str, Subject]:
    """Return the subjects of trials by name. `own`: subjects that are not in the catalogue. Raises UserError if one is
    missing, or cannot do what a trial requires."""
    available, subjects = (
        ChainMap(dict(own or {}), cast(MutableMapping[str, Subject], catalogue())),
        dict[str, Subject](),
    )
    for p in trials:
        _check_store(p)
        check_affinity(p)
        for role_name, name in p.roles().items():  # a campaign may name a subject that has been removed since
            _require(available, name, f"the study's {role_name} is")
        for role, name in trial_roles(p, available).items():
            _require(available, name, f"{p.server} forwards requests to")
            check_supported(available[name], role, p)
            subjects[name] = available[name]
        _check_own(p, available[p.server], available[p.client])
        if isinstance(server := available[p.server], OwnSubject) and (program := server.own.subject):
            _require(available, program, f"server {p.server} uses")
            subjects[program] = available[program]
    return subjects


def _check_own(p: Parameters, server: Subject, client: Subject) -> None:
    """Check that the client can reach the user's own server, which has its own certificate."""
    if not isinstance(server, OwnSubject):
        return
    if p.certificate:
        raise UserError(f"server {server.name} is the study's own and has its own certificate: leave out `certificate`")
    if p.workload.hosts():
        raise UserError(
            f"server {server.name} is the study's own, and has one name: {p.workload.label()} has resources of several"
            " hosts",
            remedy="leave out `host` in the site, or import the page with all hosts as one",
        )
    if not (client.client and client.client.any_server):
        raise UserError(
            f"client {client.name} works only with servers of the catalogue, but {server.name} is the study's own",
            remedy=f"choose another client: {', '.join(clients_of_any_server())}",
        )


def _check_store(p: Parameters) -> None:
    """Check that the trial needs only one object in the backend, because servers store one there before they listen."""
    if p.store != "memory" and len(set(p.workload.served())) > 1:
        raise UserError(
            f"a workload of {p.workload.label()} downloads bodies of several sizes, and with `store: {p.store}` the"
            " server has one",
            remedy="give its downloads one size, or leave `store` out",
        )


def _require(available: Mapping[str, Subject], name: str, why: str) -> None:
    if name not in available:
        raise UserError(
            f"{why} the subject {name}, which is missing in {subjects_folder()}",
            remedy="link it into that folder (docs/contracts/subject.md)",
        )
