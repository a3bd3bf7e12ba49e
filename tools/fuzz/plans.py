"""Fuzzes networks and studies as `h123 plan` reads them, and the files that the lab and clients then get."""

import functools
import json
import re
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lab import assert_taken
from reader import ROOT, Reader

from h123.campaign import check_campaign
from h123.catalogue import catalogue, check_supported, subject_names
from h123.execution import preparation
from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.files import SERVER_ADDRESS, write_trial_files
from h123.study import Parameters, find_network, list_networks, list_studies, load_network, load_study, make_plan
from h123.study import reader as study_reader
from h123.study.workload import DEFAULT, FORMAT

sys.path.append(str(ROOT / "subjects/python"))

from workload import Refusal, read_workload

from h123.base.errors import UserError

END = {"a": {"host": "client", "address": "10.1.0.1"}, "b": {"host": "server", "address": "10.1.0.2"}}
# Manifests and networks that a study names are read once: they have readers of their own.
preparation.catalogue = functools.cache(catalogue)
study_reader.subject_names = functools.cache(subject_names)
study_reader.load_network = functools.cache(load_network)


def _network(case: bytes, folder: Path) -> None:
    (folder / "network.yaml").write_bytes(case)
    (folder / "varying.trace").write_text("1\n1\n7\n")
    network = load_network(str(folder / "network.yaml"))
    network.describe()
    role = {"name": "client", "host": "client", "kind": "main"}
    link = {"name": "access", **END, **network.link()}
    hosts = ["client", "server"]
    assert_taken({"h123": "trial/1", "id": "t", "seed": 1, "hosts": hosts, "links": [link], "roles": [role]})


def _study(case: bytes, folder: Path) -> None:
    (folder / "study.yaml").write_bytes(case)
    study = load_study(folder / "study.yaml")
    plan = make_plan(study, blocks=min(study.blocks, 2))
    plan.estimates()
    subjects = check_campaign(plan)
    for trial in (plan.blocks[0][0], plan.blocks[-1][-1]):
        place = folder / "trial"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        write_trial_files(place, trial, study.networks, subjects, _certificate(folder), check=True)
        assert_taken(json.loads((place / "trial.json").read_text()))
        if _reads_in_python(trial.parameters):
            read_workload(str(place / "workload.json"))


def _reads_in_python(asked: Parameters) -> bool:
    """Return whether a client written in Python may get this workload."""
    for name in ("aioquic", "pycurl"):
        with suppress(UserError):
            check_supported(preparation.catalogue()[name], "client", asked)
            return True
    return False


def _files(paths: Iterable[Path]) -> list[bytes]:
    """Return the content of the files without comments, in which no fault can be found."""
    return [re.sub(rb"(?m)^ *#.*\n", b"", path.read_bytes()) for path in paths]


def _certificate(folder: Path) -> Certificate:
    return campaign_certificate(folder / "tls", [SERVER_ADDRESS])


def _workload(case: bytes, folder: Path) -> None:
    (folder / "workload.json").write_bytes(case)
    try:
        read_workload(str(folder / "workload.json"))
    # h123 alone writes these files, always an object and never nested: for what is not, a traceback will do.
    except (Refusal, RecursionError, AttributeError) as refusal:
        raise UserError(str(refusal)) from None


def _workloads() -> list[bytes]:
    base = {"protocol": "h3", "host": "h123.test", "address": "10.1.0.2", "port": 4443, "ca": "/ca.pem", "seed": 7}
    get = {"method": "GET", "path": "/bytes/100000", "upload_bytes": 0, "users": 4, "requests": 5, "rate": None}
    post = {"method": "POST", "path": "/upload", "upload_bytes": 1000, "users": 1, "requests": 9, "rate": 2.5}
    rest = {"cold": True, "warmup": 0, "timeout_ns": 30_000_000_000}
    kinds = ({**get, "connections": "shared"}, {**post, "connections": 3})
    form = {"h123": FORMAT, "kind": DEFAULT, "headers": []}
    return [json.dumps({**form, **base, **kind, **rest}).encode() for kind in kinds]


NETWORK_WORDS = (
    *("jitter", "spread", "keep_order", "reorder", "ahead", "trace", "queue", "blackouts", "duplicate", "changes"),
    *("udp", "reject", "unshaped", "both", "up", "down", "bad_after", "good_after", "loss_bad", "packets", "at"),
    *("100B", "1e30bit/s", "64p", "50ms", "1e18s", "5%%", "1e-9ns", "1ns", "0s", "1kbit/s", "1GB", "[[1s, 2s]]"),
    *("{at: 1s, delay: 1ms}", "{spread: 9ms}", "{share: 1%, ahead: 1ms}", "{packets: [18446744073709551616]}"),
)
STUDY_WORDS = (
    *("trial_timeout", "connections", "per-user", "warmup", "rate", "store", "gcs", "backend_network", "qlog"),
    *("clock", "virtual", "cold", "each", "margin", "alpha", "as_published", "1e999999B", "1e30s", "100GB", "168h"),
    *("satellite", "handover", "varying", "egress-poor", "{users: 1}", "[h1, h2]", "h2/h1", "&a", "*a", "!!int"),
)
NETWORKS = Reader("networks", _network, lambda: _files(find_network(name) for name in list_networks()), NETWORK_WORDS)
STUDIES = Reader("studies", _study, lambda: _files(list_studies()), STUDY_WORDS)
WORKLOADS = Reader("workloads", _workload, _workloads)
